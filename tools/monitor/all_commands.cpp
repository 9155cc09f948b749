// SPDX-License-Identifier: MIT
// Every subcommand. What a build leaves out is there too, and says so: *left_out.cpp.
#include "commands.h"

namespace monitor {

std::span<const Command> commands()
{
	static constexpr Command all[] = {
	    {"record", add_record},   {"top", add_top},         {"serve", add_serve},   {"snapshot", add_snapshot},
	    {"trigger", add_trigger}, {"report", add_report},   {"diff", add_diff},     {"view", add_view},
	    {"play", add_play},       {"convert", add_convert}, {"list", add_list},     {"query", add_query},
	    {"info", add_info},       {"pack", add_pack},       {"stat", add_stat},     {"states", add_states},
	    {"archive", add_archive}, {"merge", add_merge},     {"check", add_check},   {"tdl", add_tdl},
	    {"doctor", add_doctor},   {"events", add_events},   {"filter", add_filter}, {"fleet", add_fleet},
	    {"agent", add_agent}};
	return all;
}

} // namespace monitor
