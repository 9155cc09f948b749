// SPDX-License-Identifier: MIT
// The allow-list: which options of `monitor record` a command from the network may have, and their values.
//
// Not on it: -o, --force, files (--triggers, --states), a trigger's commands (run, signal), and what costs more than
// events (--stacks, --functions, -m). Values are untrusted: they are bounded here, and parsed by `monitor record`. Each
// becomes one word "--NAME=VALUE", which cannot be taken for another option.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace monitor::fleet {

struct Allowed {
	std::set<std::string> options; // by name, of all_options()
	std::uint64_t max_bytes = 0;   // of a trace, and of all snapshots of a flight recorder
	bool user_only = false;        // this agent cannot record the kernel
};

// All names: "events", "filter" ...
const std::vector<std::string> &all_options();

// A permission besides the options: to take part in coordinated snapshots (ControlMessage::snapshot_all).
inline constexpr const char *snapshot_all_permission = "snapshot-all";

struct RecordWords {
	std::string refusal; // reason, as the end of a message; "": allowed
	std::vector<std::string> words;
};

// An object of values by name: text, a number, true, or a list of texts.
RecordWords allowed_words(const nlohmann::json &untrusted_options, const Allowed &allowed);

} // namespace monitor::fleet
