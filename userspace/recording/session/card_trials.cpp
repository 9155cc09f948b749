// SPDX-License-Identifier: MIT
#include "card_trials.h"

#include "base/error.h"
#include "recording/calibration/preflight.h"
#include "recording_file.h"

namespace monitor::record {

CardTrials::CardTrials(card::BpfCard &card, double frequency_hz, recording_file::Contents &file)
    : card_(card), file_(file)
{
	const card::Preflight test = card::preflight(card);
	file.attach = test.tp ? "tp" : "tp_btf";
	file.start_test = {test.calls, test.missing};
	options_ = {test.tp, card.options().filtering, true, frequency_hz / 1e9};
}

void CardTrials::calibrate(RecordedFunctions &functions)
{
	card::Calibration measured = card::calibrate(card_, options_);
	functions.calibrated(measured);
	add_calibration(file_, measured);
}

void CardTrials::calibrate_again()
{
	options_.probes = false; // attaching to a function needs a privilege that was given up
	try {
		file_.calibration->end = card::calibrate(card_, options_).costs;
	} catch (const Error &error) { // so does attaching tp tracepoints
		file_.calibration->why_no_end = error.what();
	}
}
} // namespace monitor::record
