// SPDX-License-Identifier: MIT
#include "plan_command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "common_options.h"
#include "problems.h"
#include "record_arguments.h"
#include "recording/pilot/pilot.h"

namespace monitor {
namespace {

constexpr double max_seconds = 3600;

} // namespace

void add_pilot_options(CLI::App &plan, PilotArguments &to)
{
	add_option(
	    plan, "-d,--duration", "SECONDS", to.seconds,
	    "run CMD, and say what recording it will cost: whole runs if it ends in this time, else for this long "
	    "(default: 5)")
	    ->check(CLI::Range(0.1, max_seconds))
	    ->check(nan_error);
	add_option(plan, "-e,--events", "FAMILY,...", to.families, "with CMD: event families, as of `record -e`");
	add_option(plan, "-p,--pid", "cmd", to.selection, "with CMD: record CMD and its tree only, as `record -p cmd`")
	    ->check(CLI::IsMember({"cmd"}));
}

int run_pilot(const PilotArguments &arguments, const std::vector<std::string> &command, bool json)
{
	RecordArguments record;
	record.families = arguments.families;
	record.selection = arguments.selection;
	record.options.command = command;
	parse_record_arguments(record);
	pilot::PilotOptions options{.record = record.options};
	options.seconds = arguments.seconds.value_or(options.seconds);
	options.on_note = [](const std::string &note) { print_note("monitor: {}\n", note); };
	const pilot::PilotResult result = pilot::pilot(options);
	if (json)
		fmt::print("{}\n", json_dump(pilot::json_of(result), 1));
	else
		fmt::print("{}\n", pilot::text_of(result));
	return 0;
}

} // namespace monitor
