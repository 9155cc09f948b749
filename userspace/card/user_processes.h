// SPDX-License-Identifier: MIT
// Programs with a user card that run already: found by a note in their ELF files, as USDT semaphores are, and told to
// look for a recorder again. Called by recording.cpp for `record --user`, while it still has its privileges.
#pragma once

namespace monitor::card {

// Sets the enable word of every card that looked and found nobody from `off` to `not looked yet`. Returns of how many.
unsigned wake_user_cards();

} // namespace monitor::card
