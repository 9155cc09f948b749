// SPDX-License-Identifier: MIT
// All subcommands, including stubs for those that the build leaves out: *left_out.cpp.
#include "commands.h"

namespace monitor {

std::span<const Command> commands()
{
	static constexpr Command all[] = {
	    {"record", add_record, purpose::record},   {"snapshot", add_snapshot, purpose::record},
	    {"trigger", add_trigger, purpose::record}, {"filter", add_filter, purpose::record},
	    {"events", add_events, purpose::record},   {"plan", add_plan, purpose::record},
	    {"fleet", add_fleet, purpose::record},     {"agent", add_agent, purpose::record},
	    {"report", add_report, purpose::look},     {"explain", add_explain, purpose::look},
	    {"diff", add_diff, purpose::look},         {"top", add_top, purpose::look},
	    {"view", add_view, purpose::look},         {"play", add_play, purpose::look},
	    {"list", add_list, purpose::look},         {"stat", add_stat, purpose::look},
	    {"states", add_states, purpose::look},     {"query", add_query, purpose::look},
	    {"info", add_info, purpose::look},         {"model", add_model, purpose::look},
	    {"predict", add_predict, purpose::look},   {"archive", add_archive, purpose::keep},
	    {"merge", add_merge, purpose::keep},       {"convert", add_convert, purpose::share},
	    {"pack", add_pack, purpose::share},        {"serve", add_serve, purpose::share},
	    {"check", add_check, purpose::check},      {"doctor", add_doctor, purpose::check},
	    {"tdl", add_tdl, purpose::check},
	};
	return all;
}

std::span<const reports::Report *const> all_reports()
{
	using namespace reports;
	static constexpr const Report *all[] = {
	    &cpu_report,      &syscalls_report, &offcpu_report,  &critical_path_report, &activities_report,
	    &ratios_report,   &segments_report, &samples_report, &stacks_report,        &counts_report,
	    &triggers_report, &requests_report, &help_report};
	return all;
}

} // namespace monitor
