// SPDX-License-Identifier: MIT
// Which options of `monitor record` a command from the network may have, and their values: the allow-list.
//
// Used by the agent's privileged process, which alone starts recordings (fleet/agent/privileged_process.cpp), and by
// `monitor fleet`, to say at once what every host would refuse. What is not here cannot be asked for: not -o, --force,
// files
// (--triggers, --states), a command of a trigger (run, signal), nor what costs more than events (--stacks, --functions,
// -m). Values are untrusted until `monitor record` has parsed them; here they are bounded, and each becomes one word
// "--NAME=VALUE", which cannot be taken for another option.
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

// Every name there is: "events", "filter" ...
const std::vector<std::string> &all_options();

// Beside options, what an agent may permit: to take part in the snapshots of all hosts of a run
// (ControlMessage::snapshot_all).
inline constexpr const char *snapshot_all_permission = "snapshot-all";

struct RecordWords {
	std::string refusal; // the end of a sentence; "": allowed
	std::vector<std::string> words;
};

// An object of values by name: text, a number, true, or a list of texts.
RecordWords allowed_words(const nlohmann::json &untrusted_options, const Allowed &allowed);

} // namespace monitor::fleet
