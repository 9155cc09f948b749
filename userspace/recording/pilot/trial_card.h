// SPDX-License-Identifier: MIT
// A card whose probes are attached and detached again and again beside a program, to compare it with itself: what they
// record is copied, as a recorder does, and dropped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include <sys/types.h>

#include "recording/calibration/calibration.h"
#include "recording/calibration/tree_progress.h"
#include "recording/card/bpf_card.h"
#include "recording/rings/clock.h"

namespace monitor::pilot {

using EventCounts = std::map<std::string, std::uint64_t>; // by family

class TrialCard {
public:
	// Loads the probes. Throws Error with the remedy.
	explicit TrialCard(const card::CardOptions &options);
	~TrialCard();

	// What an event costs in loops.
	card::Calibration calibrate();
	// Counts start from 0. With CardOptions::filtering only those of `process` and its descendants are counted.
	void attach(pid_t process = 0);
	void detach();
	EventCounts events() const; // since attach()
	std::uint64_t lost() const; // of these and all others
	// How far a process and its descendants have come; with CardOptions::suspending.
	record::TreeProgress progress(pid_t root) const;

private:
	void empty_rings();

	card::BpfCard card_;
	record::ClockSteering steering_;
	bool tp_ = false; // how probes are attached
	std::jthread reader_;
};

} // namespace monitor::pilot
