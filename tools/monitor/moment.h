// SPDX-License-Identifier: MIT
// A moment in real time as users write it, without a trace that it could be relative to. Used by cmd_fleet_fetch.cpp.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "reading/events/time_text.h"

namespace monitor {

// "30s ago", HH:MM[:SS[.FRACTION]] of the last 24 hours or "YYYY-MM-DD HH:MM[:SS[.FRACTION]]" in local time: ns since
// 1970; with `last`, the last one of it. Throws Error naming `option`.
inline std::uint64_t parse_moment(const std::string &text, const char *option, std::uint64_t now_ns, bool last)
{
	constexpr std::uint64_t almost_a_day_ns = 86'399'999'999'999;
	const std::string ago = " ago";
	if (text.ends_with(ago))
		return now_ns - parse_duration(text.substr(0, text.size() - ago.size()), option);
	const trace::Clock since_1970;
	if (text.find(':') != std::string::npos)
		try {
			return trace::parse_time(text, option, {since_1970, now_ns - almost_a_day_ns, now_ns}, last);
		} catch (const trace::TwiceShown &) {
			throw;
		} catch (const Error &) { // its sentence is about a trace
		}
	throw Error(fmt::format("{} {} is not a time, such as HH:MM[:SS], \"YYYY-MM-DD HH:MM[:SS]\" or '30s ago'",
				option, printable(text)));
}

} // namespace monitor
