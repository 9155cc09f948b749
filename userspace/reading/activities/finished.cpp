// SPDX-License-Identifier: MIT
#include "finished.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace monitor::activities {

Span &Span::operator-=(const Span &other)
{
	for (const auto &[from, less] : {std::pair(&ticks, other.ticks), std::pair(&cpu, other.cpu),
					 std::pair(&waiting, other.waiting), std::pair(&blocked, other.blocked)})
		*from -= std::min(*from, less);
	return *this;
}

Span &Span::operator+=(const Span &other)
{
	ticks += other.ticks;
	cpu += other.cpu;
	waiting += other.waiting;
	blocked += other.blocked;
	return *this;
}

std::string Argument::text() const
{
	if (label)
		return *label;
	return is_hex ? fmt::format("{:#x}", number) : is_signed ? fmt::format("{}", signed_number) : "";
}

} // namespace monitor::activities
