// SPDX-License-Identifier: MIT
#include "flame_graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/build_suffixes.h"
#include "base/json.h"
#include "flame_graph_page.h"

namespace monitor::report {
namespace {

constexpr std::string_view mark = "/*data*/null";

// The functions of a page. For a comparison of two traces, names that differ only in compilers' suffixes are the same.
class Names {
public:
	explicit Names(bool is_comparison) : is_comparison_(is_comparison) {}

	// Adds the name if it is new. Shows it as it is in the shown trace, if it occurs there.
	std::size_t index_of(symbols::FrameName name, bool is_shown)
	{
		const std::pair shown(name.text(), name.is_kernel ? "kernel " + name.module : name.module);
		if (is_comparison_)
			name.function = without_build_suffixes(name.function);
		const auto [found, is_new] = numbers_.try_emplace({name.text(), shown.second}, names_.size());
		if (is_new)
			names_.push_back({shown, is_shown});
		else if (is_shown && !names_[found->second].is_shown)
			names_[found->second] = {shown, true};
		return found->second;
	}

	nlohmann::json json() const
	{
		nlohmann::json value = nlohmann::json::array();
		for (const Name &name : names_)
			value.push_back(nlohmann::json(name.text));
		return value;
	}

private:
	using Text = std::pair<std::string, std::string>; // function, module
	struct Name {
		Text text;
		bool is_shown = false;
	};
	bool is_comparison_;
	std::map<Text, std::size_t> numbers_;
	std::vector<Name> names_;
};

// The merged nodes of one or two trees, in the page's format: parents first; for each node its depth, its name and the
// amount in its subtree, then that of the trace before. Children of both trees are the same if they have the same name.
class Merged {
public:
	Merged(const FlameGraph &graph, Names &names) : graph_(graph), names_(names)
	{
		Both root;
		if (graph.tree)
			root.now.push_back(&graph.tree->nodes()[0]);
		if (graph.before)
			root.old.push_back(&graph.before->nodes()[0]);
		add(0, names.index_of({"all", "", "", false}, true), root);
	}

	nlohmann::json json() const
	{
		nlohmann::json value = {{"by", graph_.by},
					{"unit", graph_.is_time ? "ns" : "stacks"},
					{"depth", depth_},
					{"name", name_},
					{"total", total_}};
		if (graph_.before)
			value["before"] = before_;
		return value;
	}

private:
	using Nodes = std::vector<const CallNode *>;
	struct Both {
		Nodes now, old;
	};

	std::uint64_t amount(const Nodes &nodes, const trace::Clock *clock) const
	{
		std::uint64_t total = 0;
		for (const CallNode *node : nodes)
			total += node->total;
		return graph_.is_time && total ? clock->to_ns(total) : total;
	}

	void add(unsigned depth, std::size_t name, const Both &nodes)
	{
		depth_.push_back(depth);
		name_.push_back(name);
		total_.push_back(amount(nodes.now, graph_.clock));
		before_.push_back(amount(nodes.old, graph_.clock_before));

		std::vector<std::size_t> order;
		std::map<std::size_t, Both> children;
		const auto add_children = [&](const CallTree *tree, const Nodes &of, Nodes Both::*into, bool is_shown) {
			for (const CallNode *node : of)
				for (const std::uint32_t number : node->children) {
					const CallNode &child = tree->nodes()[number];
					const std::size_t child_name = names_.index_of(tree->name(child), is_shown);
					const auto [found, is_new] = children.try_emplace(child_name);
					if (is_new)
						order.push_back(child_name);
					(found->second.*into).push_back(&child);
				}
		};
		add_children(graph_.tree, nodes.now, &Both::now, true);
		add_children(graph_.before, nodes.old, &Both::old, false);
		for (const std::size_t child : order)
			add(depth + 1, child, children[child]);
	}

	const FlameGraph &graph_;
	Names &names_;
	std::vector<unsigned> depth_;
	std::vector<std::size_t> name_;
	std::vector<std::uint64_t> total_, before_;
};

// JSON for a script element, which must not contain `<`.
std::string for_script(const std::string &json)
{
	std::string text;
	text.reserve(json.size());
	for (const char c : json)
		if (c == '<')
			text += "\\u003c";
		else
			text += c;
	return text;
}

// The text between two marks, without these.
std::string_view between(std::string_view begin, std::string_view end)
{
	const std::string_view page = flame_graph_page;
	const std::size_t from = page.find(begin) + begin.size();
	return page.substr(from, page.find(end, from) - from);
}

constexpr std::string_view policy_begin = "<meta http-equiv=\"Content-Security-Policy\"";
// The marks in the page; the data is in another script element.
constexpr std::string_view style_begin = "<style>\n", style_end = "</style>", script_begin = "<script>\n",
			   script_end = "</script>";

void replace(std::string &text, std::string_view from, const std::string &to)
{
	text.replace(text.find(from), from.size(), to);
}

} // namespace

std::string_view flame_style()
{
	return between(style_begin, style_end);
}

std::string_view flame_script()
{
	return between(script_begin, script_end);
}

std::string linked_flame_page(const FlamePage &page)
{
	std::string text = flame_page(page);
	replace(text, fmt::format("{}{}\">\n", policy_begin, between(policy_begin, "\">\n")),
		""); // the server has a style of its own
	replace(text, fmt::format("{}{}{}", style_begin, flame_style(), style_end),
		"<link rel=\"stylesheet\" href=\"flame.css\">");
	replace(text, fmt::format("{}{}{}", script_begin, flame_script(), script_end),
		"<script src=\"flame.js\"></script>");
	return text;
}

std::string flame_page(const FlamePage &page)
{
	Names names(!page.before.empty());
	nlohmann::json data = {
	    {"title", page.title}, {"before", page.before}, {"notes", page.notes}, {"graphs", nlohmann::json::array()}};
	for (const FlameGraph &graph : page.graphs)
		data["graphs"].push_back(Merged(graph, names).json());
	data["names"] = names.json();
	std::string text(flame_graph_page);
	replace(text, mark, for_script(json_dump(data)));
	return text;
}

} // namespace monitor::report
