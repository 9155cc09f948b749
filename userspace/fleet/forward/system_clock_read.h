// SPDX-License-Identifier: MIT
// Reads the kernel's state of the system clock, and its PTP hardware clocks, without privilege and without changing
// anything.
#pragma once

#include <optional>

#include <linux/ptp_clock.h>

#include "fleet/wire/system_clock.h"

namespace monitor::fleet {

// nullopt: the kernel does not report it.
std::optional<SystemClock> read_system_clock();

// Uses the narrowest pair of system clock reads around a read of the PTP clock.
void set_ptp_offset(const ptp_sys_offset &read, SystemClock::Ptp &ptp);

} // namespace monitor::fleet
