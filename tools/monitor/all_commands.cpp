// SPDX-License-Identifier: MIT
// Every subcommand. What a build leaves out is there too, and says so: *left_out.cpp.
#include "commands.h"

namespace monitor {

std::span<const AddCommand> commands()
{
	static constexpr AddCommand all[] = {add_record, add_top,     add_serve,  add_snapshot, add_trigger,
					     add_report, add_diff,    add_view,   add_play,     add_convert,
					     add_list,   add_query,   add_info,   add_pack,     add_stat,
					     add_states, add_archive, add_merge,  add_check,    add_tdl,
					     add_doctor, add_events,  add_filter, add_fleet,    add_agent};
	return all;
}

} // namespace monitor
