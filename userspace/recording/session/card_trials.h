// SPDX-License-Identifier: MIT
// What is tried with the kernel's card before and after a recording, while nothing is recorded: whether it loses system
// calls, what an event costs, and whether the probes see calls of a known number (recording/calibration/witness.h).
#pragma once

#include "base/recording_file/contents.h"
#include "recorded_functions.h"
#include "recording/calibration/calibration.h"
#include "recording/calibration/witness.h"
#include "recording/card/bpf_card.h"

namespace monitor::record {

class CardTrials {
public:
	// Decides how probes are attached. Writes to `file` what was found, as the others do.
	CardTrials(card::BpfCard &card, double frequency_hz, recording_file::Contents &file);

	bool tp() const { return options_.tp; } // as BpfCard::attach()
	void calibrate(RecordedFunctions &functions);
	void witness() { file_.witness.start = card::witness_calls(card_, options_.tp, options_.filtering); }
	// When the tokens and counts of the recording have been read: the rings are free.
	void calibrate_again();
	void witness_again() { file_.witness.end = card::witness_calls(card_, options_.tp, options_.filtering); }

private:
	card::BpfCard &card_;
	recording_file::Contents &file_;
	card::CalibrationOptions options_;
};

} // namespace monitor::record
