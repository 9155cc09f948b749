// SPDX-License-Identifier: MIT
// `monitor filter EXPRESSION`: what `record --filter` would decide of each class of the kernel's events, without
// recording; with --explain also by which values, and what deciding costs here. Exit code 1: it cannot be decided.
#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "answers/matcher/judgement_cost.h"
#include "answers/report/table.h"
#include "base/escape.h"
#include "base/json.h"
#include "commands.h"
#include "common_options.h"
#include "matching.h"
#include "recording/card/classes.h"
#include "recording/session/metadata.h"
#include "terminal.h"

namespace monitor {
namespace {

using Class = EventMatcher::Class;

struct FilterArguments {
	std::string expression;
	bool explains = false, json = false;
};

const char *decision_of(const Class &cls)
{
	return cls.is_always_kept               ? "always"
	       : cls.decision == EDC_MATCH_KEEP ? "all"
	       : cls.decision == EDC_MATCH_NONE ? "none"
						: "part";
}

std::vector<Class> kernel_classes(const EventMatcher &matcher)
{
	std::vector<Class> classes;
	std::ranges::copy_if(matcher.classes, std::back_inserter(classes),
			     [](const Class &cls) { return cls.id >= EDC_ID_KERNEL_FIRST; });
	return classes;
}

std::string family_of(const Class &cls)
{
	const auto rows = card::kernel_classes();
	const auto row = std::ranges::find(rows, cls.id, &card::ClassRow::id);
	return row == rows.end() ? "" : row->family;
}

void print_json(const FilterArguments &arguments, const EventMatcher &matcher)
{
	auto classes = nlohmann::ordered_json::array();
	for (const Class &cls : kernel_classes(matcher)) {
		classes.push_back({{"id", cls.id},
				   {"name", cls.name},
				   {"family", family_of(cls)},
				   {"decision", decision_of(cls)},
				   {"values", cls.values},
				   {"patterns", cls.patterns}});
		if (arguments.explains)
			classes.back()["cost_ns"] = cls.decision == EDC_MATCH_EVALUATE
							? nlohmann::ordered_json(matcher::judgement_ns(matcher, cls.id))
							: nlohmann::ordered_json(nullptr);
	}
	const nlohmann::ordered_json all = {{"expression", arguments.expression},
					    {"classes", std::move(classes)},
					    {"doubts", matcher.doubts},
					    {"hints", matcher.hints}};
	fmt::print("{}\n", json_dump(all, 1));
}

void print_decisions(const EventMatcher &matcher)
{
	// A name may have a short and a long form of the event, with different decisions.
	std::map<std::string, std::string> decisions;
	std::vector<std::string> order;
	for (const Class &cls : kernel_classes(matcher)) {
		const auto [known, added] = decisions.try_emplace(cls.name, decision_of(cls));
		if (added)
			order.push_back(cls.name);
		else if (known->second != decision_of(cls))
			known->second = "part";
	}
	std::map<std::string, std::string> names;
	for (const std::string &name : order) {
		std::string &list = names[decisions[name]];
		list += (list.empty() ? "" : ", ") + name;
	}
	constexpr std::pair<const char *, const char *> lines[] = {
	    {"part", "kept if the expression is true"},
	    {"all", "all kept: the expression is true for them"},
	    {"none", "none kept: the expression is false for them"},
	    {"always", "all kept: others cannot be understood without them"}};
	for (const auto &[decision, what] : lines)
		if (!names[decision].empty())
			fmt::print("{}:\n  {}\n", what, names[decision]);
	for (const std::string &hint : matcher.hints)
		fmt::print("\n{}\n", printable(hint));
	for (const std::string &doubt : matcher.doubts)
		fmt::print("\n{} It may be one of a program's events.\n", printable(doubt));
}

void print_costs(const EventMatcher &matcher)
{
	report::Table table;
	table.columns = {{"event", "event", report::Unit::text},
			 {"id", "id", report::Unit::count},
			 {"values", "decided by", report::Unit::text},
			 {"patterns", "patterns", report::Unit::count},
			 {"cost_ns", "ns per event", report::Unit::ratio}};
	for (const Class &cls : kernel_classes(matcher)) {
		if (cls.decision != EDC_MATCH_EVALUATE)
			continue;
		table.rows.push_back({cls.name, std::uint64_t(cls.id), fmt::format("{}", fmt::join(cls.values, ", ")),
				      std::uint64_t(cls.patterns), matcher::judgement_ns(matcher, cls.id)});
	}
	if (table.rows.empty())
		return fmt::print("\nEvery class is decided as a whole, which costs nothing that can be measured.\n");
	fmt::print("\n{}\nThe kernel's tables hold {} of {} values, {} of {} constants, {} of {} rows.\n",
		   report::to_text(table, terminal_width()), matcher.used.dimensions, EDC_MATCH_DIMENSIONS,
		   matcher.used.bounds, EDC_MATCH_BOUNDS, matcher.used.rows, EDC_MATCH_ROWS);
}

int run_filter(const FilterArguments &arguments)
{
	const auto matcher =
	    matching({arguments.expression, {}, {}, true, {}}).make(record::metadata({}, {}, {}, {}), 0, true);
	if (arguments.json) {
		print_json(arguments, *matcher);
		return 0;
	}
	print_decisions(*matcher);
	if (arguments.explains)
		print_costs(*matcher);
	return 0;
}

} // namespace

void add_filter(CLI::App &app, int &exit_code)
{
	CLI::App *filter = app.add_subcommand("filter", "what `record --filter` would keep, without recording");
	auto arguments = std::make_shared<FilterArguments>();
	add_option(*filter, "expression", "EXPRESSION", arguments->expression,
		   "as for `record --filter` and `list --filter`")
	    ->required();
	filter->add_flag("--explain", arguments->explains,
			 "also the values by which it is decided, and what that costs on this machine");
	filter->add_flag("--json", arguments->json, "as JSON");
	filter->footer("Examples:\n"
		       "  monitor filter 'id == \"fsync\"'\n"
		       "  monitor filter --explain 'thread ~ \"nginx*\" and (ret < 0 or name == \"sys_enter\")'");
	filter->callback([arguments, &exit_code] { exit_code = run_filter(*arguments); });
}

} // namespace monitor
