// SPDX-License-Identifier: MIT
#include "tree.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/data_files.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/scanner.h"
#include "base/suggestions.h"
#include "base/text.h"

namespace monitor::states {
namespace {

constexpr std::array<std::pair<std::string_view, Subject>, 3> subjects = {
    {{"machine", Subject::machine}, {"cpu", Subject::cpu}, {"thread", Subject::thread}}};

constexpr const char *line_example = "idle: state == \"idle\"";

} // namespace

class TreeParser {
public:
	TreeParser(std::string_view text, const std::string &name) : text_(text)
	{
		tree_.name_ = name;
		if (text.size() > Tree::max_text_bytes)
			throw Error("{} has more than {} bytes", readable(name), Tree::max_text_bytes);
		tree_.text_ = text;
	}

	Tree parse()
	{
		while (!text_.empty())
			line(take_until(text_, '\n'));
		if (!has_subject_)
			throw Error("{} does not begin with `of cpu`, `of thread` or `of machine`",
				    readable(tree_.name_));
		if (tree_.nodes_.empty())
			throw Error("{} has no state: a line such as {} makes one", readable(tree_.name_),
				    line_example);
		add_rests();
		return std::move(tree_);
	}

private:
	[[noreturn]] void fail(const std::string &sentence) const
	{
		throw Error("{}, line {}: {}", readable(tree_.name_), number_, sentence);
	}

	void line(std::string_view text)
	{
		++number_;
		const std::string content = trimmed(text);
		if (content.empty() || content.front() == '#')
			return;
		if (!std::exchange(has_subject_, true))
			return subject(content);
		const std::string_view indentation = text.substr(0, text.find_first_not_of(" \t"));
		const std::size_t colon = content.find(':');
		if (colon == std::string::npos)
			fail(fmt::format("a colon is missing: a state is written {}", line_example));
		add(indentation, trimmed(content.substr(0, colon)), trimmed(content.substr(colon + 1)));
	}

	void subject(const std::string &content)
	{
		const std::string word = content.starts_with("of ") ? trimmed(content.substr(3)) : "";
		const auto *found =
		    std::ranges::find_if(subjects, [&](const auto &each) { return each.first == word; });
		if (found == subjects.end())
			fail(fmt::format("a tree begins with `of cpu`, `of thread` or `of machine`, not with {}",
					 readable(content)));
		tree_.subject_ = found->second;
	}

	// The nearest line above that is indented less. All children of one parent are indented alike.
	std::uint32_t parent_of(std::string_view indentation)
	{
		while (!open_.empty() && open_.back().indentation.size() > indentation.size())
			open_.pop_back();
		if (open_.empty()) {
			if (!indentation.empty())
				fail("the first state is not indented");
			return Node::none;
		}
		if (open_.back().indentation == indentation) {
			open_.pop_back();
			return open_.empty() ? Node::none : open_.back().node;
		}
		if (!indentation.starts_with(open_.back().indentation) ||
		    indentation.size() == open_.back().indentation.size())
			fail("tabs and spaces are mixed: a child is indented like its parent, and further");
		if (!tree_.nodes_[open_.back().node].children.empty())
			fail("no state above is indented like this one");
		return open_.back().node;
	}

	void add(std::string_view indentation, const std::string &name, const std::string &condition)
	{
		if (!is_name(name, "-"))
			fail(fmt::format(
			    "{} is not the name of a state: it has letters, digits, _ and -, and begins with a letter",
			    readable(name)));
		if (name == rest_name || name == pause_name || name == unknown_name)
			fail(fmt::format("{} is always there: it cannot be the name of a state", name));
		if (condition.empty())
			fail(fmt::format("a condition is missing after {}:", name));
		if (tree_.nodes_.size() == Tree::max_nodes)
			fail(fmt::format("a tree has at most {} states", Tree::max_nodes));
		const std::uint32_t parent = parent_of(indentation);
		auto &siblings = parent == Node::none ? tree_.roots_ : tree_.nodes_[parent].children;
		for (const std::uint32_t sibling : siblings)
			if (tree_.nodes_[sibling].name == name)
				fail(fmt::format("the name {} was given in line {} already", name,
						 tree_.nodes_[sibling].line));
		if (open_.size() == Tree::max_depth)
			fail(fmt::format("a tree has at most {} levels", Tree::max_depth));
		const auto index = static_cast<std::uint32_t>(tree_.nodes_.size());
		siblings.push_back(index);
		Node node;
		node.name = name;
		node.condition = condition;
		node.line = number_;
		node.parent = parent;
		node.depth = static_cast<std::uint32_t>(open_.size());
		tree_.nodes_.push_back(std::move(node));
		open_.push_back({indentation, index});
	}

	// Copies the nodes in depth-first order, adds a REST after the last child of each, and numbers the states.
	void add_rests()
	{
		const std::vector<Node> written = std::exchange(tree_.nodes_, {});
		const std::vector<std::uint32_t> roots = std::exchange(tree_.roots_, {});
		tree_.leaves_.push_back(0); // of the topmost REST, set below
		add_children(written, roots, Node::none, 0);
		tree_.leaves_[Tree::rest] = tree_.roots_.back();
	}

	void add_children(const std::vector<Node> &written, const std::vector<std::uint32_t> &children,
			  std::uint32_t parent, std::uint32_t line)
	{
		for (const std::uint32_t child : children) {
			Node copy = written[child];
			const std::vector<std::uint32_t> below = std::exchange(copy.children, {});
			const std::uint32_t index = append(std::move(copy), parent);
			if (below.empty())
				assign_state(index);
			else
				add_children(written, below, index, written[child].line);
		}
		Node rest;
		rest.name = rest_name;
		rest.line = line;
		const std::uint32_t index = append(std::move(rest), parent);
		if (parent != Node::none)
			assign_state(index);
	}

	std::uint32_t append(Node node, std::uint32_t parent)
	{
		const auto index = static_cast<std::uint32_t>(tree_.nodes_.size());
		node.parent = parent;
		node.depth = parent == Node::none ? 0 : tree_.nodes_[parent].depth + 1;
		tree_.nodes_.push_back(std::move(node));
		(parent == Node::none ? tree_.roots_ : tree_.nodes_[parent].children).push_back(index);
		return index;
	}

	void assign_state(std::uint32_t node)
	{
		tree_.nodes_[node].state = static_cast<State>(tree_.leaves_.size());
		tree_.leaves_.push_back(node);
	}

	struct Open {
		std::string_view indentation;
		std::uint32_t node;
	};

	std::string_view text_;
	std::uint32_t number_ = 0; // of the line
	bool has_subject_ = false;
	std::vector<Open> open_; // the last node and its ancestors
	Tree tree_;
};

const std::string &Tree::name(State state) const
{
	static const std::string pause(pause_name), unknown(unknown_name);
	return is_of_tree(state) ? nodes_[leaves_[state]].name : state == this->pause() ? pause : unknown;
}

std::string Tree::path(State state) const
{
	return is_of_tree(state) ? path_of_node(leaves_[state]) : name(state);
}

std::string Tree::path_of_node(std::uint32_t node) const
{
	const Node &current = nodes_[node];
	return current.parent == Node::none ? current.name : path_of_node(current.parent) + '/' + current.name;
}

std::vector<State> Tree::states_of(std::string_view path) const
{
	std::vector<State> found;
	for (const State special : {pause(), unknown()})
		if (path == name(special))
			found.push_back(special);
	for (State state = 0; is_of_tree(state); ++state)
		for (std::uint32_t node = leaves_[state]; node != Node::none; node = nodes_[node].parent)
			if (is_end_of(node, path)) {
				found.push_back(state);
				break;
			}
	return found;
}

// Whether the path to the node ends with this one.
bool Tree::is_end_of(std::uint32_t node, std::string_view path) const
{
	for (; node != Node::none; node = nodes_[node].parent) {
		const std::size_t slash = path.rfind('/');
		if (path.substr(slash + 1) != nodes_[node].name) // without a slash, npos + 1 is 0
			return false;
		if (slash == std::string_view::npos)
			return true;
		path.remove_suffix(path.size() - slash);
	}
	return false;
}

std::string_view subject_name(Subject subject)
{
	return subjects[static_cast<std::size_t>(subject)].first;
}

Tree parse_tree(std::string_view untrusted_text, const std::string &name)
{
	return TreeParser(untrusted_text, name).parse();
}

Tree load_tree(const std::string &name_or_file)
{
	const std::string path = file_or_share(name_or_file, "states", "tree");
	const std::vector<std::string> shipped = share_names("states", "tree");
	if (path.empty())
		throw Error("unknown tree {}; expected a file, or one of: {}.{}", readable(name_or_file),
			    fmt::join(shipped, ", "), suggestions(name_or_file, shipped));
	return parse_tree(read_text(path, Tree::max_text_bytes + 1), name_or_file);
}

} // namespace monitor::states
