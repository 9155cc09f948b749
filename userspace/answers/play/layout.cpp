// SPDX-License-Identifier: MIT
#include "layout.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/data_files.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/keyed_lines.h"
#include "base/ranges.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "reading/filter/text_match.h"

namespace monitor::play {
namespace {

const std::vector<std::string> words = {"box", "thread", "process", "at", "arrow"};

class Parser {
public:
	Parser(std::string_view text, const std::string &name) : name_(name), lines_(text, name, "box: producer") {}

	Layout parse()
	{
		while (lines_.next())
			read_line(lines_.word(), lines_.value());
		if (layout_.boxes.empty())
			throw Error("{}: it has no box; add one, such as `box: producer` and below it `process: cat`",
				    name_);
		check_overlaps();
		for (const Box &box : layout_.boxes)
			if (box.threads.empty() && box.processes.empty())
				throw Error("{}: the box {} has no threads: add `thread:` or `process:` and a pattern "
					    "of names below it",
					    name_, readable(box.name));
		for (std::size_t i = 0; i < arrow_texts_.size(); ++i)
			layout_.arrows.push_back(arrow(arrow_texts_[i].text, arrow_texts_[i].where));
		return std::move(layout_);
	}

private:
	struct ArrowText {
		std::string text, where;
	};

	[[noreturn]] void refuse(const std::string &sentence) const { throw Error(lines_.where() + ": " + sentence); }

	void read_line(const std::string &word, const std::string &value)
	{
		if (std::ranges::find(words, word) == words.end())
			refuse(fmt::format("{} is not a keyword of layouts; these are {}.{}", readable(word),
					   fmt::join(words, ", "), suggestions(word, words)));
		if (value.empty())
			refuse(fmt::format("nothing follows `{}:`", word));
		if (word == "box")
			return start_box(value);
		if (word == "arrow") { // resolved at the end, as its boxes may follow
			if (arrow_texts_.size() == Layout::max_arrows)
				refuse(fmt::format("more than {} arrows are not supported", Layout::max_arrows));
			arrow_texts_.push_back({value, lines_.where()});
			return;
		}
		if (layout_.boxes.empty())
			refuse(fmt::format("`{}:` belongs below a `box:`", word));
		if (word == "at")
			return set_position(value);
		(word == "thread" ? layout_.boxes.back().threads : layout_.boxes.back().processes).push_back(value);
	}

	// Placed to the right of the last box, unless an `at:` follows.
	void start_box(const std::string &name)
	{
		if (layout_.boxes.size() == Layout::max_boxes)
			refuse(fmt::format("more than {} boxes are not supported", Layout::max_boxes));
		if (find(name))
			refuse(fmt::format("there are two boxes {}: give one of them another name", readable(name)));
		Box box;
		box.name = name;
		box.row = layout_.boxes.empty() ? 1 : layout_.boxes.back().row;
		box.column = layout_.boxes.empty() ? 1 : layout_.boxes.back().column + 1;
		layout_.boxes.push_back(std::move(box));
		position_lines_.push_back(lines_.where());
	}

	void set_position(const std::string &value)
	{
		Box &box = layout_.boxes.back();
		const char *at = value.data(), *const end = at + value.size();
		const auto row = std::from_chars(at, end, box.row);
		at = row.ptr;
		while (at != end && (*at == ' ' || *at == '\t'))
			++at;
		const auto column = std::from_chars(at, end, box.column);
		if (row.ec != std::errc() || column.ec != std::errc() || column.ptr != end)
			refuse(fmt::format("{} is not a row and a column, such as `at: 1 2`", readable(value)));
		position_lines_.back() = lines_.where();
	}

	// Checks overlaps when all boxes are placed, as `at:` moves boxes.
	void check_overlaps() const
	{
		std::map<std::pair<unsigned, unsigned>, const Box *> taken;
		for (std::size_t i = 0; i < layout_.boxes.size(); ++i) {
			const Box &box = layout_.boxes[i];
			if (box.row < 1 || box.column < 1 || box.row > Layout::max_row ||
			    box.column > Layout::max_column)
				throw Error("{}: rows are from 1 to {}, and columns from 1 to {}", position_lines_[i],
					    Layout::max_row, Layout::max_column);
			const auto [other, is_free] = taken.try_emplace({box.row, box.column}, &box);
			if (!is_free)
				throw Error("{}: row {}, column {} has the box {} already; write `at:` with another "
					    "row or column",
					    position_lines_[i], box.row, box.column, readable(other->second->name));
		}
	}

	std::optional<std::size_t> find(std::string_view name) const
	{
		const auto found = std::ranges::find(layout_.boxes, name, &Box::name);
		if (found == layout_.boxes.end())
			return {};
		return static_cast<std::size_t>(found - layout_.boxes.begin());
	}

	std::size_t box_named(const std::string &name, const std::string &where) const
	{
		if (const auto found = find(name))
			return *found;
		const auto names =
		    list_of<std::string>(layout_.boxes, [](const Box &box) { return readable(box.name); });
		throw Error("{}: there is no box {}; the boxes are {}.{}", where, readable(name),
			    fmt::join(names, ", "), suggestions(name, names));
	}

	// "FROM -> TO", "FROM -> TO by EVENT"
	Arrow arrow(const std::string &text, const std::string &where) const
	{
		const std::string_view all = text;
		const std::size_t arrow_at = all.find("->");
		if (arrow_at == std::string_view::npos)
			throw Error("{}: {} is not an arrow such as `producer -> filter`", where, readable(text));
		std::string_view to = all.substr(arrow_at + 2);
		Arrow made;
		made.from = box_named(trimmed(all.substr(0, arrow_at)), where);
		if (const std::size_t by = to.rfind(" by "); by != std::string_view::npos && !find(trimmed(to))) {
			made.event = trimmed(to.substr(by + 4));
			to = to.substr(0, by);
		}
		made.to = box_named(trimmed(to), where);
		if (made.from == made.to)
			throw Error("{}: an arrow goes from one box to another one", where);
		return made;
	}

	const std::string &name_;
	KeyedLines lines_;
	Layout layout_;
	std::vector<ArrowText> arrow_texts_;
	std::vector<std::string> position_lines_; // for each box, the line that places it
};

} // namespace

bool Box::has(const std::string &thread, const std::string &process) const
{
	const auto matches = [](const std::vector<std::string> &patterns, const std::string &name) {
		return std::ranges::any_of(
		    patterns, [&](const std::string &pattern) { return filter::matches_glob(pattern, name); });
	};
	return matches(threads, thread) || matches(processes, process);
}

std::optional<std::size_t> Layout::box_of(const std::string &thread, const std::string &process) const
{
	for (std::size_t i = 0; i < boxes.size(); ++i)
		if (boxes[i].has(thread, process))
			return i;
	return {};
}

unsigned Layout::rows() const
{
	return boxes.empty() ? 0 : std::ranges::max(boxes, {}, &Box::row).row;
}

unsigned Layout::columns() const
{
	return boxes.empty() ? 0 : std::ranges::max(boxes, {}, &Box::column).column;
}

Layout parse_layout(const std::string &untrusted_text, const std::string &name)
{
	return Parser(untrusted_text, name).parse();
}

Layout load_layout(const std::string &name_or_file)
{
	const std::string path = file_or_share(name_or_file, "layouts", "layout");
	if (path.empty()) {
		const std::vector<std::string> shipped = share_names("layouts", "layout");
		throw Error("there is no layout {}; {}", readable(name_or_file),
			    shipped.empty() ? fmt::format("no layouts are installed in {} (MONITOR_SHARE): name a file",
							  printable(share_path("layouts")))
					    : fmt::format("name a file, or one of: {}", fmt::join(shipped, ", ")));
	}
	return parse_layout(read_text(path, KeyedLines::max_text_bytes + 1), name_or_file);
}

} // namespace monitor::play
