// SPDX-License-Identifier: MIT
// Reads what the kernel says of the system clock, and its PTP hardware clocks, without any privilege and without
// changing anything.
//
// Called each minute by the agent's network process (fleet/agent/network_process.cpp).
#pragma once

#include <optional>

#include <linux/ptp_clock.h>

#include "fleet/wire/system_clock.h"

namespace monitor::fleet {

// nullopt: the kernel does not say.
std::optional<SystemClock> read_system_clock();

// From the reads of the system clock around each one of a PTP clock: the narrowest pair says most.
void take_ptp_offset(const ptp_sys_offset &read, SystemClock::Ptp &ptp);

} // namespace monitor::fleet
