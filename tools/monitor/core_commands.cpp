// SPDX-License-Identifier: MIT
// The subcommands of monitor_core: what records a trace and prints the first answers from it. A third of the whole, so
// tools/quickstart builds it first.
#include "commands.h"

namespace monitor {

std::span<const AddCommand> commands()
{
	static constexpr AddCommand core[] = {add_record, add_report, add_list, add_info, add_check, add_doctor};
	return core;
}

} // namespace monitor
