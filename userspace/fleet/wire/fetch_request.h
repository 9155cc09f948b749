// SPDX-License-Identifier: MIT
// What an agent's privileged process tells its network process after a command was verified: which part of a trace to
// send, or to report which traces there are.
//
// From fleet/agent/privileged_process.cpp over the link to network_process.cpp; fleet/forward/ obeys. Times are ns
// since 1970 by the host's clock. A request without an end asks for what was recorded until it came. Invariant: parsing
// any bytes gives a window that is not reversed and names that are names, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monitor::fleet {

struct FetchRequest {
	std::string run, nonce;
	std::uint64_t store = 0; // of the collector's directory; 0: whichever answers
	std::uint64_t from_ns = 0, to_ns = ~std::uint64_t(0);
	bool is_list = false; // nothing is to be sent but the list of traces
	// When it came, by the clock of this host's traces; 0: not known. The network process sets it.
	std::uint64_t received_ticks = 0;
};

std::string fetch_request_text(const FetchRequest &request);
std::optional<FetchRequest> parse_fetch_request(std::string_view untrusted_text);

// 16 hexadecimal digits; nullopt: none. "" is 0.
std::optional<std::uint64_t> parse_store(std::string_view untrusted_text);

} // namespace monitor::fleet
