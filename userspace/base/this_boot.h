// SPDX-License-Identifier: MIT
// The kernel's identifier of this boot, as text; "" without /proc.
#pragma once

#include <string>

#include "fd.h"

namespace monitor {

inline std::string this_boot()
{
	return read_text("/proc/sys/kernel/random/boot_id", 36);
}

} // namespace monitor
