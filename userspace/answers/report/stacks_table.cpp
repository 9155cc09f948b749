// SPDX-License-Identifier: MIT
#include "stacks_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/escape.h"

namespace monitor::report {
namespace {

constexpr std::size_t max_printed_depth = 128;
constexpr std::size_t max_printed_parts = 3; // of truncated stacks

double percent_of(std::uint64_t part, std::uint64_t whole)
{
	return whole ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Cell amount(std::uint64_t value, const trace::Clock &clock, StackBy by)
{
	return is_time(by) ? clock.to_ns(value) : value;
}

std::string amount_text(std::uint64_t value, const trace::Clock &clock, StackBy by)
{
	return is_time(by) ? duration_text(static_cast<double>(clock.to_ns(value))) : count_text(value);
}

// For the whole recording.
analyze::StacksAt counts_of(const analyze::RecordingInfo &info, StackBy by)
{
	analyze::StacksAt sum;
	const auto add = [&](const char *kind) {
		const auto found = info.stacks.at.find(kind);
		if (found == info.stacks.at.end())
			return;
		sum.taken += found->second.taken;
		sum.left_out += found->second.left_out;
	};
	if (is_time(by))
		add("switch");
	if (by == StackBy::fault)
		add("fault");
	if (by == StackBy::other)
		add("waking"), add("other");
	return sum;
}

// Code without a file, where callers are found by frame pointers only: the caller of a function without one is missing,
// unnoticed.
bool is_in_no_file(const symbols::FrameName &name)
{
	return name.module == "[jit]" || name.function == "[code in no file]";
}

bool is_without_table(const symbols::FrameName &name)
{
	return name.is_assumed;
}

std::uint64_t innermost_amount(const CallTree &tree, bool (*matches)(const symbols::FrameName &))
{
	std::uint64_t sum = 0;
	for (const CallNode &node : tree.nodes())
		if (&node != &tree.nodes().front() && matches(tree.name(node)))
			sum += node.self;
	return sum;
}

// The last of a chain of nodes of one recursive function that have no other children worth showing, and its length.
std::pair<std::uint32_t, std::size_t> end_of_recursion(const CallTree &tree, std::uint32_t number, double min_amount)
{
	for (std::size_t calls = 1;; ++calls) {
		const CallNode &node = tree.nodes()[number];
		std::uint32_t only = 0;
		for (const std::uint32_t child : node.children) {
			if (static_cast<double>(tree.nodes()[child].total) < min_amount)
				continue;
			if (only || tree.nodes()[child].name != node.name)
				return {number, calls};
			only = child;
		}
		if (!only)
			return {number, calls};
		number = only;
	}
}

} // namespace

Table stacks_table(const CallTree &tree, const trace::Clock &clock, StackBy by)
{
	const Unit unit = is_time(by) ? Unit::nanoseconds : Unit::count;
	Table table;
	const std::string what = is_time(by) ? "time blocked" : "stacks taken";
	table.columns = {{"self_percent", "self%", Unit::percent, 0, "of all, in the function itself"},
			 {"total_percent", "total%", Unit::percent, 0, "of all, also in what it called"},
			 {is_time(by) ? "self_ns" : "self", "self", unit, 2, what + " in the function itself"},
			 {is_time(by) ? "total_ns" : "total", "total", unit, 3, what + ", also in what it called"},
			 {"module", "module", Unit::text, 1, "the file that it is in"},
			 {"function", "function", Unit::text, 0, "its name, or where it begins in the file"}};
	table.figure = {table.columns[2].key, ""};
	if (tree.has_lines())
		table.columns.push_back({"line", "line", Unit::text, 0, "of the source"});
	for (const CallTree::Function &function : tree.functions()) {
		const symbols::FrameName &name = tree.name(function.name);
		table.rows.push_back({percent_of(function.self, tree.total()), percent_of(function.total, tree.total()),
				      amount(function.self, clock, by), amount(function.total, clock, by),
				      cell_of(name.module), name.function});
		if (tree.has_lines())
			table.rows.back().push_back(cell_of(name.line));
	}
	return table;
}

std::string calls_text(const CallTree &tree, const trace::Clock &clock, StackBy by, double min_share,
		       std::size_t max_width)
{
	std::string text;
	const double min_amount = min_share * static_cast<double>(tree.total());
	const auto print_children = [&](const auto &self, std::uint32_t parent, std::size_t depth) -> void {
		for (const std::uint32_t number : tree.nodes()[parent].children) {
			const CallNode &node = tree.nodes()[number];
			if (static_cast<double>(node.total) < min_amount || depth > max_printed_depth)
				continue;
			const auto [last, calls] = end_of_recursion(tree, number, min_amount);
			const std::string line = fmt::format(
			    "{:6.1f} %  {:>10}  {:{}}{}{}", percent_of(node.total, tree.total()),
			    amount_text(node.total, clock, by), "", depth, printable(tree.name(node).text()),
			    calls > 1 ? fmt::format("  ({} recursive calls)", calls - 1) : "");
			text += cut_text(line, max_width) + "\n";
			self(self, last, depth + 1);
		}
	};
	print_children(print_children, 0, 0);
	return text;
}

std::string stacks_text(const CallTree &tree, const analyze::RecordingInfo &info, StackBy by)
{
	std::string text;
	if (by == StackBy::cpu && info.stacks.timer_hz)
		text += fmt::format("self and total are samples{}, taken {} times a second on each CPU {}\n",
				    info.stacks.of_command ? " of the command" : "", info.stacks.timer_hz,
				    info.stacks.of_command ? "where it runs; record --stacks also says what it does "
							     "in the kernel"
							   : "that is not idle");
	if (const auto [taken, left_out] = counts_of(info, by); left_out && !is_time(by))
		text += fmt::format("self and total are of the stacks that were taken: in the whole recording the "
				    "budget left out {} of {}\n",
				    count_text(left_out), count_text(taken + left_out));
	if (tree.truncated()) {
		text += fmt::format("{:.1f} % of it has stacks that do not reach the start of their program:",
				    percent_of(tree.truncated(), tree.total()));
		const std::vector<CallTree::Truncated> parts = tree.truncated_by();
		for (std::size_t i = 0; i < std::min(parts.size(), max_printed_parts); ++i)
			text += fmt::format(" {} {:.1f} %", printable(parts[i].why),
					    percent_of(parts[i].amount, tree.total()));
		text += parts.size() > max_printed_parts ? " ...\n" : "\n";
	}
	if (const std::uint64_t sum = innermost_amount(tree, is_in_no_file))
		text += fmt::format("{:.1f} % of it is in code that is in no file: the caller of a function there that "
				    "sets no frame pointer is missing\n",
				    percent_of(sum, tree.total()));
	if (const std::uint64_t sum = innermost_amount(tree, is_without_table))
		text += fmt::format("{:.1f} % of it is in code of files that no table describes: the caller of a "
				    "function there that sets no frame pointer may be missing\n",
				    percent_of(sum, tree.total()));
	if (tree.since_before())
		text += fmt::format("{:.1f} % of it is of threads that were blocked since before stacks were taken\n",
				    percent_of(tree.since_before(), tree.total()));
	if (tree.without_stack())
		text += fmt::format("{:.1f} % of it has no stack: left out by the budget, or lost\n",
				    percent_of(tree.without_stack(), tree.total()));
	return text;
}

std::string stacks_json(const CallTree &tree, const trace::Clock &clock, const analyze::RecordingInfo &info, StackBy by)
{
	nlohmann::ordered_json parts = nlohmann::ordered_json::array();
	for (const CallTree::Truncated &part : tree.truncated_by())
		parts.push_back({{"why", printable(part.why)}, {"percent", percent_of(part.amount, tree.total())}});
	return nlohmann::ordered_json{
	    {is_time(by) ? "total_ns" : "total", is_time(by) ? clock.to_ns(tree.total()) : tree.total()},
	    {"left_out_by_budget", counts_of(info, by).left_out},
	    {"truncated_percent", percent_of(tree.truncated(), tree.total())},
	    {"truncated_by", parts},
	    {"in_no_file_percent", percent_of(innermost_amount(tree, is_in_no_file), tree.total())},
	    {"without_table_percent", percent_of(innermost_amount(tree, is_without_table), tree.total())},
	    {"without_stack_percent", percent_of(tree.without_stack(), tree.total())},
	    {"blocked_since_before_percent", percent_of(tree.since_before(), tree.total())}}
	    .dump();
}

} // namespace monitor::report
