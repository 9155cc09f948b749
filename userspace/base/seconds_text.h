// SPDX-License-Identifier: MIT
// A time in seconds with all digits of its nanoseconds.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace monitor {

inline std::string seconds_text(std::int64_t ns)
{
	constexpr std::uint64_t second = 1'000'000'000;
	const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
	return fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", size / second, size % second);
}

} // namespace monitor
