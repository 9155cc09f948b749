// SPDX-License-Identifier: MIT
// The subcommands of monitor_core: what records a trace and prints the first answers from it. Less than the whole, so
// tools/quickstart builds it first.
#include "commands.h"

namespace monitor {

std::span<const Command> commands()
{
	static constexpr Command core[] = {
	    {"record", add_record, purpose::record}, {"report", add_report, purpose::look},
	    {"list", add_list, purpose::look},       {"info", add_info, purpose::look},
	    {"check", add_check, purpose::check},    {"doctor", add_core_doctor, purpose::check},
	};
	return core;
}

} // namespace monitor
