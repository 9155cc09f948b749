// SPDX-License-Identifier: MIT
// Control messages: what the operator asks hosts to do, signed.
//
//     {"message": "TEXT", "signature": "BASE64"}           the envelope: Ed25519 over the bytes of TEXT
//     {"version": 1, "kind": "record", "hosts": ["web1", "web2"], "nonce": "32 hexadecimal digits",
//      "issued_ns": N, "expires_ns": N, "run": "NAME", "start_ns": N, "options": {...}, "command": ["CMD", ...],
//      "snapshot_all": true, "why": "TEXT"}
//
// The hub carries them from the operator to m.ctl.HOST or m.ctl.all; the agent's privileged process verifies each, and
// accepts a nonce once (fleet/agent/nonces.h). The hub can withhold a message, or delay it until it expires, nothing
// else. Times are ns since 1970 by the real-time clock. Unknown fields are ignored. A message of a later `version` is
// refused; only `hosts`, `nonce` and `run` are read, to address the refusal.
// Invariant: check_control() reads nothing of TEXT before the signature is verified, and throws for no input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "keys.h"

namespace monitor::fleet {

inline constexpr unsigned control_version = 1;
inline constexpr std::size_t max_envelope_bytes = 128 << 10, max_addressed_hosts = 1024, nonce_digits = 32;
// The longest validity of a command, and how far ahead the operator's clock may be.
inline constexpr std::uint64_t max_validity_ns = 3600'000'000'000, max_early_ns = 30'000'000'000;
// How far ahead a start may be planned.
inline constexpr std::uint64_t max_lead_ns = 600'000'000'000;

struct ControlMessage {
	std::string kind; // "record", "stop", "snapshot", "fetch", "list"; the privileged process refuses others
	std::vector<std::string> hosts;
	std::string nonce, run;
	std::uint64_t issued_ns = 0, expires_ns = 0;
	std::uint64_t start_ns = 0; // for a recording; 0: at once
	nlohmann::json options;     // for a recording: an object; allowed_options.h
	std::vector<std::string> command;
	// For a recording: its flight recorder takes part in coordinated snapshots.
	bool snapshot_all = false;
	std::string why;     // for a snapshot: its reason
	std::string forward; // for a recording: forwarding policy, forward.h; "": the agent's default
	std::string store;   // for a fetch: id of the collector's directory, 16 hexadecimal digits; "": any
	std::uint64_t from_ns = 0, to_ns = 0; // for a fetch, by the host's clock; to_ns 0: to the end
};

// The envelope. Throws Error if it is larger than max_envelope_bytes.
std::string signed_control(const ControlMessage &message, const SigningKey &key);

struct CheckedControl {
	std::string refusal;        // reason, as the end of a message; "": may be executed if its nonce is new
	bool is_authentic = false;  // signed by the operator, though it may be refused
	bool is_for_others = false; // authentic, but not for this host: not to be answered
	ControlMessage message;
};

// Checks an envelope for the host of this name at this time.
CheckedControl check_control(std::string_view untrusted_envelope, const PublicKey &key, std::string_view host,
			     std::uint64_t now_ns);

// The delay until the start, in ns: until start_ns by this clock. As the clock may be wrong and the command has just
// arrived, the delay is at most start_ns - issued_ns, and shorter by no more than the longest transit.
std::uint64_t start_delay_ns(const ControlMessage &message, std::uint64_t now_ns);

} // namespace monitor::fleet
