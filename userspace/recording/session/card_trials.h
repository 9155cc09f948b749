// SPDX-License-Identifier: MIT
// Trials of the kernel's card before and after a recording: preflight (lost system calls), calibration (cost of an
// event) and witness (recording/calibration/witness.h). The first two use cached results of this boot if available.
#pragma once

#include <optional>

#include "base/recording_file/contents.h"
#include "recorded_functions.h"
#include "recording/calibration/calibration.h"
#include "recording/calibration/kept_calibration.h"
#include "recording/calibration/witness.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

// Key of a cached calibration: same boot, kernel, CPU, preemption mode, version, card, families and kind of rings. "":
// no caching, because of additional probes.
std::string calibration_key(const card::CardOptions &options);

class CardTrials {
public:
	// Decides how probes are attached. Results go to `file`, here and below.
	CardTrials(card::BpfCard &card, ClockSteering &clock, recording_file::Contents &file,
		   card::CalibrationFile kept_file, std::optional<card::KeptCalibration> kept);

	bool tp() const { return options_.tp; } // as BpfCard::attach()
	// `check_kept`: check cached costs now, because they are used before the end, or nothing is measured there.
	void calibrate(RecordedFunctions &functions, bool check_kept);
	// Reads the cached factors for real code, after calibrate(). Returns a message if they cannot be used.
	std::string read_factors();
	void witness() { file_.witness.start = card::witness_calls(card_, options_.tp, options_.filtering); }
	// Call after the recording's tokens and counts were read, when the rings are free.
	void calibrate_again();
	void witness_again() { file_.witness.end = card::witness_calls(card_, options_.tp, options_.filtering); }

private:
	// Compares a few rounds with the cached costs.
	card::CostCheck check(recording_file::CalibratedCosts &costs);
	// At the end: whether the cached costs must be measured again.
	bool contradicts_kept();
	void measure_end();

	card::BpfCard &card_;
	recording_file::Contents &file_;
	card::CalibrationOptions options_;
	card::CalibrationFile kept_file_;
	std::optional<card::KeptCalibration> kept_;
};

} // namespace monitor::record
