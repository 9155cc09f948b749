// SPDX-License-Identifier: MIT
// When a trace is sent from its host to the collector: the policies of Paradyn's model, or on demand. An agent has one
// (--forward), and the signed command of a recording may name another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace monitor::fleet {

enum class Forward : std::uint8_t {
	batch,     // as it is recorded, up to 64 blocks in a message
	each,      // as it is recorded, each block by itself
	on_demand, // it stays on the host until it is fetched
};

inline constexpr const char *forward_names[] = {"batch", "each", "on-demand"};

inline const char *forward_text(Forward forward)
{
	return forward_names[static_cast<unsigned>(forward)];
}

inline std::optional<Forward> parse_forward(std::string_view untrusted_text)
{
	for (const Forward each : {Forward::batch, Forward::each, Forward::on_demand})
		if (untrusted_text == forward_text(each))
			return each;
	return {};
}

} // namespace monitor::fleet
