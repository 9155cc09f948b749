// SPDX-License-Identifier: MIT
// Where an expression meets the cards: the recording knows the description of its events, answers/matcher reads
// expressions. Used by cmd_record.cpp and cmd_filter.cpp.
#pragma once

#include <string>

#include "recording/record/event_filter.h"

namespace monitor {

record::EventFilter event_filter(const std::string &expression);

} // namespace monitor
