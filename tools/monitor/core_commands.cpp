// SPDX-License-Identifier: MIT
// The subcommands of monitor_core: what records a trace and prints the first answers from it. Less than the whole, so
// tools/quickstart builds it first.
#include "commands.h"

namespace monitor {

std::span<const Command> commands()
{
	static constexpr Command core[] = {{"record", add_record}, {"report", add_report}, {"list", add_list},
					   {"info", add_info},     {"check", add_check},   {"doctor", add_doctor}};
	return core;
}

} // namespace monitor
