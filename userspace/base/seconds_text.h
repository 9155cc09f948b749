// SPDX-License-Identifier: MIT
// A time in seconds with all digits of its nanoseconds.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace monitor {

inline std::string seconds_text(std::uint64_t ns)
{
	constexpr std::uint64_t second = 1'000'000'000;
	return fmt::format("{}.{:09}", ns / second, ns % second);
}

} // namespace monitor
