// SPDX-License-Identifier: MIT
// What is tried with the kernel's card before and after a recording, while nothing is recorded: whether it loses system
// calls, what an event costs, and whether the probes see calls of a known number (recording/calibration/witness.h). The
// first two are what an earlier recording of this boot has found, if it is known.
#pragma once

#include <optional>

#include "base/recording_file/contents.h"
#include "recorded_functions.h"
#include "recording/calibration/calibration.h"
#include "recording/calibration/kept_calibration.h"
#include "recording/calibration/witness.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

// For which recordings a kept calibration holds: those of the same boot, kernel, CPU, mode of preemption, version and
// card, with the same families and kind of rings. "": for this one none, as it has other probes besides.
std::string calibration_key(const card::CardOptions &options);

class CardTrials {
public:
	// Decides how probes are attached. Writes to `file` what was found, as the others do.
	CardTrials(card::BpfCard &card, ClockSteering &clock, recording_file::Contents &file,
		   card::CalibrationFile kept_file, std::optional<card::KeptCalibration> kept);

	bool tp() const { return options_.tp; } // as BpfCard::attach()
	// `check_kept`: what was kept is used before the end of the recording, or there is nothing at the end.
	void calibrate(RecordedFunctions &functions, bool check_kept);
	// After calibrate(): what other code pays, if it was measured with probes like these. Returns a sentence if
	// what was kept of it cannot be used.
	std::string read_factors();
	void witness() { file_.witness.start = card::witness_calls(card_, options_.tp, options_.filtering); }
	// When the tokens and counts of the recording have been read: the rings are free.
	void calibrate_again();
	void witness_again() { file_.witness.end = card::witness_calls(card_, options_.tp, options_.filtering); }

private:
	// A few rounds, against what was kept.
	card::CostCheck check(recording_file::CalibratedCosts &costs);
	void measure_end();

	card::BpfCard &card_;
	recording_file::Contents &file_;
	card::CalibrationOptions options_;
	card::CalibrationFile kept_file_;
	std::optional<card::KeptCalibration> kept_;
};

} // namespace monitor::record
