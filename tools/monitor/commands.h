// SPDX-License-Identifier: MIT
// The subcommands of `monitor`, one cmd_NAME.cpp each. add_NAME() registers options and a callback with the parser; the
// callback sets the exit code or throws Error.
#pragma once

#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

#include "answers/reports/report.h"

namespace monitor {

using AddCommand = void(CLI::App &app, int &exit_code);
AddCommand add_agent, add_archive, add_check, add_convert, add_core_doctor, add_diff, add_doctor, add_events,
    add_explain, add_filter, add_fleet, add_info, add_list, add_merge, add_model, add_pack, add_plan, add_play,
    add_predict, add_query, add_record, add_report, add_serve, add_snapshot, add_stat, add_states, add_tdl, add_top,
    add_trigger, add_view;

// Headings of `monitor --help`.
namespace purpose {
inline constexpr char record[] = "Record", look[] = "Look", keep[] = "Keep", share[] = "Share", check[] = "Check";
} // namespace purpose

// Exit code if a recording does not suffice for a model or a plan.
inline constexpr int refused = 3;

struct Command {
	std::string_view name;
	AddCommand *add;
	const char *purpose;
};

// The commands of this build, in the order of the help: all_commands.cpp or core_commands.cpp.
std::span<const Command> commands();
// Likewise, in the order of `report DIR help`.
std::span<const reports::Report *const> all_reports();

} // namespace monitor
