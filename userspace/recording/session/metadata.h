// SPDX-License-Identifier: MIT
// The trace's description in TSDL (CTF 1.8, https://diamon.org/ctf/), generated from the class table of
// include/monitor/card.h. Written at a recording's start (so that a killed recording is readable) and again at its end
// with the measured clock frequency. Next in the flow: any CTF reader.
#pragma once

#include <string>
#include <vector>

#include "base/encoding.h"
#include "recording/counting/counter_classes.h"
#include "recording/rings/clock.h"
#include "recording/user_card/user_classes.h"

namespace monitor::record {

// Returns the whole text of `metadata`. `uuid` are the 16 bytes that every block carries.
std::string metadata(const Uuid &uuid, const ClockDescription &clock, const std::vector<CounterClass> &counter_classes,
		     const std::vector<card::UserClass> &user_classes, const std::vector<std::string> &functions = {},
		     const std::vector<std::string> &counts = {}, const std::vector<std::string> &times = {},
		     const std::vector<std::string> &triggers = {}, const std::vector<std::string> &states = {});

} // namespace monitor::record
