// SPDX-License-Identifier: MIT
// The text of triggers:
//
//     [NAME:] WHEN => DO[, DO...]
//
//     WHEN   PAIR | every T | at start
//     DO     snapshot [before T] [after T] | mark [TEXT] | start | stop | sample | stack | end
//            run 'CMD' [N per minute] | signal SIG
//
// A PAIR is that of reading/filter/pair_text.h: an event, two events, or N times the same, with a number in common. The
// conditions themselves are read by answers/matcher/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/trigger.h"

namespace monitor::trigger {

struct TriggerText {
	TriggerText(std::string trigger_text, std::string position = "")
	    : text(std::move(trigger_text)), where(std::move(position))
	{
	}

	std::string text;
	std::string where; // "FILE:LINE"; "": not from a file
};

// Triggers without a name are called trigger1, trigger2, ... by position. Throws Error.
std::vector<NamedTrigger> parse_triggers(const std::vector<TriggerText> &untrusted_texts);

// The texts in a file: a trigger begins in the first column, and is continued by indented lines; # begins a comment.
std::vector<TriggerText> texts_in(const std::string &untrusted_file, const std::string &file_name = "");

} // namespace monitor::trigger
