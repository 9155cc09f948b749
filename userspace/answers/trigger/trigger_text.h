// SPDX-License-Identifier: MIT
// The text of triggers:
//
//     [NAME:] WHEN => DO[, DO...]
//
//     WHEN   CONDITION                                    each event for which it is true
//            CONDITION then CONDITION [within T]          [per KEY]
//            CONDITION not followed by CONDITION within T [per KEY]
//            CONDITION N times within T                   [per KEY]
//            every T | at start
//     DO     snapshot [before T] [after T] | mark [TEXT] | start | stop | sample | stack | end
//            run 'CMD' [N per minute] | signal SIG
//
// A CONDITION is an expression as for `list --filter` (FDL). KEY is a number that the events have in common: tid, cpu,
// or a field; A=B if it has two names. Instead of it: `CONDITION as a then CONDITION and pid == a.next_pid`.
// Called by tools/monitor for --trigger and `monitor trigger`. The conditions themselves are read by answers/matcher/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/trigger.h"

namespace monitor::trigger {

struct TriggerText {
	TriggerText(std::string its_text, std::string its_place = "")
	    : text(std::move(its_text)), where(std::move(its_place))
	{
	}

	std::string text;
	std::string where; // "FILE:LINE"; "": it is of no file
};

// Triggers without a name are called trigger1, trigger2, ... by their place. Throws Error.
std::vector<NamedTrigger> parse_triggers(const std::vector<TriggerText> &untrusted_texts);

// The texts in a file: a trigger begins in the first column and goes on in lines that do not; # begins a comment.
std::vector<TriggerText> texts_in(const std::string &untrusted_file, const std::string &file_name = "");

} // namespace monitor::trigger
