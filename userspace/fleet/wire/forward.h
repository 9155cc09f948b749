// SPDX-License-Identifier: MIT
// The forwarding policy: when a trace is sent from its host to the collector. An agent has a default (--forward), which
// the signed command of a recording may override.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace monitor::fleet {

enum class Forward : std::uint8_t {
	batch,     // while recording, up to 64 blocks in a message
	each,      // while recording, each block in a message
	on_demand, // stays on the host until it is fetched
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
