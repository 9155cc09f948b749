// SPDX-License-Identifier: MIT
// A card for A/B measurements, whose probes are attached and detached repeatedly while a program runs. Events are
// copied, as in a recorder, and dropped.
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

	// Measures the cost of events in loops.
	card::Calibration calibrate();
	// Counts start from 0. With CardOptions::filtering only those of `process` and its descendants are counted.
	void attach(pid_t process = 0);
	void detach();
	EventCounts events() const; // since attach()
	std::uint64_t lost() const; // discarded events of all processes
	// Progress of a process and its descendants; with CardOptions::suspending.
	record::TreeProgress progress(pid_t root) const;

private:
	void empty_rings();

	card::BpfCard card_;
	record::ClockSteering steering_;
	bool tp_ = false; // how probes are attached
	std::jthread reader_;
};

} // namespace monitor::pilot
