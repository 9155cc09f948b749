// SPDX-License-Identifier: MIT
#include "poet/faults.hpp"

#include "base/mapped_file.h"

namespace poet {

void leave_sigbus()
{
	monitor::leave_sigbus();
}

bool survive_fault(const void *address) noexcept
{
	return monitor::survive_fault(address);
}

} // namespace poet
