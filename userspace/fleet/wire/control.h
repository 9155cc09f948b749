// SPDX-License-Identifier: MIT
// Control messages: what the operator asks hosts to do, signed.
//
//     {"message": "TEXT", "signature": "BASE64"}           the envelope: Ed25519 over the bytes of TEXT
//     {"version": 1, "kind": "record", "hosts": ["web1", "web2"], "nonce": "32 hexadecimal digits",
//      "issued_ns": N, "expires_ns": N, "run": "NAME", "start_ns": N, "options": {...}, "command": ["CMD", ...],
//      "snapshot_all": true, "why": "TEXT"}
//
// Written by fleet/operator/, carried by the hub to m.ctl.HOST or m.ctl.all, verified by the agent's privileged process
// (fleet/agent/privileged_process.cpp), which also sees to it that a nonce is used once. The hub can withhold messages,
// delay them until they expire, and nothing else. Times are of the real-time clock, ns since 1970. Fields of later
// versions are ignored; a later `version` is one that an older agent must not try to understand, but for `hosts`,
// `nonce` and `run`, which tell it whom to refuse what. Invariant: check_control() looks at nothing in TEXT before the
// signature holds, and never throws for any bytes.
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
// A command holds for this long at most, and may be from an operator whose clock is ahead by this much.
inline constexpr std::uint64_t max_validity_ns = 3600'000'000'000, max_early_ns = 30'000'000'000;
// How far ahead a start may be planned.
inline constexpr std::uint64_t max_lead_ns = 600'000'000'000;

struct ControlMessage {
	std::string kind; // "record", "stop", "snapshot", "fetch", "list"; the privileged process refuses others
	std::vector<std::string> hosts;
	std::string nonce, run;
	std::uint64_t issued_ns = 0, expires_ns = 0;
	std::uint64_t start_ns = 0; // of a recording; 0: at once
	nlohmann::json options;     // of a recording: an object; allowed_options.h
	std::vector<std::string> command;
	// Of a recording: its flight recorder takes a snapshot when a trigger of any host of the run fires, and says
	// when one of its own does.
	bool snapshot_all = false;
	std::string why;     // of a snapshot: what for
	std::string forward; // of a recording: forward.h; "": as the agent was started
	std::string store;   // of a fetch: the number of the collector's directory, 16 hexadecimal digits; "": any
	std::uint64_t from_ns = 0, to_ns = 0; // of a fetch, by the host's clock; to_ns 0: to the end
};

// The envelope. Throws Error if it is larger than max_envelope_bytes.
std::string signed_control(const ControlMessage &message, const SigningKey &key);

struct CheckedControl {
	std::string refusal;        // the end of a sentence; "": it may be obeyed, if its nonce is new
	bool is_authentic = false;  // `message` is the operator's, though it may be refused
	bool is_for_others = false; // it is authentic, and does not name this host: nothing to answer
	ControlMessage message;
};

// For the host of this name at this time.
CheckedControl check_control(std::string_view untrusted_envelope, const PublicKey &key, std::string_view host,
			     std::uint64_t now_ns);

// When to start, in ns from now: at start_ns if this clock is right. The command came just now, so at the latest as
// long after now as the start was after the issue; at the earliest so if the command had taken a longest time.
std::uint64_t start_delay_ns(const ControlMessage &message, std::uint64_t now_ns);

} // namespace monitor::fleet
