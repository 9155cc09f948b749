// SPDX-License-Identifier: MIT
// What /proc tells of instrumented programs: their names (user_card.cpp), and which run already: found by a note in
// their ELF files, as USDT semaphores are, and told to look for a recorder again (recording.cpp, for `record --user`,
// while it still has its privileges).
#pragma once

#include <sys/types.h>

#include "monitor/card.h"

namespace monitor::card {

// A process's name and its parent; empty if it is gone.
edc_task describe_process(pid_t pid);

// Whether its threads bear other numbers for themselves than for us: it runs in another pid namespace.
bool has_other_numbers(pid_t pid);

// Sets the enable word of every card that looked and found nobody from `off` to `not looked yet`. Returns of how many.
unsigned wake_user_cards();

} // namespace monitor::card
