// SPDX-License-Identifier: MIT
// The subcommands of `monitor`, one cmd_NAME.cpp each. add_NAME() registers options and a callback with the parser; the
// callback sets the exit code or throws Error. Called only by main.cpp.
#pragma once

#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

namespace monitor {

void add_record(CLI::App &app, int &exit_code);
void add_top(CLI::App &app, int &exit_code);
void add_serve(CLI::App &app, int &exit_code);
void add_report(CLI::App &app, int &exit_code);
void add_list(CLI::App &app, int &exit_code);
void add_query(CLI::App &app, int &exit_code);
void add_pack(CLI::App &app, int &exit_code);
void add_info(CLI::App &app, int &exit_code);
void add_merge(CLI::App &app, int &exit_code);
void add_tdl(CLI::App &app, int &exit_code);
void add_stat(CLI::App &app, int &exit_code);
void add_states(CLI::App &app, int &exit_code);
void add_convert(CLI::App &app, int &exit_code);
void add_check(CLI::App &app, int &exit_code);
void add_doctor(CLI::App &app, int &exit_code);
void add_events(CLI::App &app, int &exit_code);
void add_filter(CLI::App &app, int &exit_code);
void add_snapshot(CLI::App &app, int &exit_code);
void add_trigger(CLI::App &app, int &exit_code);
void add_play(CLI::App &app, int &exit_code);
void add_agent(CLI::App &app, int &exit_code);
void add_fleet(CLI::App &app, int &exit_code);
void add_archive(CLI::App &app, int &exit_code);
void add_view(CLI::App &app, int &exit_code);
void add_diff(CLI::App &app, int &exit_code);

// What a command is for: a heading of `monitor --help`.
namespace purpose {
inline constexpr char record[] = "Record", look[] = "Look", keep[] = "Keep", share[] = "Share", check[] = "Check";
} // namespace purpose

struct Command {
	std::string_view name;
	void (*add)(CLI::App &app, int &exit_code);
	const char *purpose;
};

// Those of this program, in the order of its help: all_commands.cpp, or core_commands.cpp.
std::span<const Command> commands();

} // namespace monitor
