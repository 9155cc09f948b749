// SPDX-License-Identifier: MIT
// A request for a part of a trace, or for the list of traces: a verified command, passed from the agent's privileged
// process to the network process and fleet/forward.
// Times are ns since 1970 by the host's clock. A request without an end is for what was recorded until it arrived.
// Invariant: parsing any bytes gives an ordered window and valid names, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monitor::fleet {

struct FetchRequest {
	std::string run, nonce;
	std::uint64_t store = 0; // id of the collector's directory; 0: any
	std::uint64_t from_ns = 0, to_ns = ~std::uint64_t(0);
	bool is_list = false; // send only the list of traces
	// Time of arrival by the trace clock; 0: unknown. Set by the network process.
	std::uint64_t received_ticks = 0;
};

std::string fetch_request_text(const FetchRequest &request);
std::optional<FetchRequest> parse_fetch_request(std::string_view untrusted_text);

// 16 hexadecimal digits, such as a store's; nullopt: malformed. "" is 0.
std::optional<std::uint64_t> parse_hex64(std::string_view untrusted_text);

} // namespace monitor::fleet
