// SPDX-License-Identifier: MIT
// A table of activities, as a small file: what `monitor stat --table` and the reports `syscalls` and `offcpu` measure.
// Documentation/statistics.md describes its format.
//
//     title: how long threads wait for a CPU
//     activity: run queue
//         start: name == "sched_waking"
//         end: name == "sched_switch"
//         key: pid = next_pid
//         by: thread
//     ratio: share = run queue / on CPU
//
// The text is untrusted: it is bounded, and every line that cannot be parsed is an Error with its number.
#pragma once

#include <string>
#include <vector>

#include "definition.h"

namespace monitor::activities {

// Total time in one activity divided by that in another.
struct RatioText {
	std::string name, numerator, denominator; // names of activities
	std::string where;
};

struct Table {
	std::string title;
	std::vector<DefinitionText> activities;

	bool has_states() const;
	std::vector<RatioText> ratios;
};

// `name` is for messages. Throws Error.
Table parse_table(const std::string &untrusted_text, const std::string &name);
// The file, or share/tables/NAME.table. Throws Error naming the available tables.
Table load_table(const std::string &name_or_file);
// share/tables/NAME.table, whatever the current directory has. Throws Error.
Table load_shipped_table(const std::string &name);

} // namespace monitor::activities
