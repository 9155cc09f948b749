// SPDX-License-Identifier: MIT
#include "card_trials.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/this_boot.h"
#include "recording/calibration/machine_key.h"
#include "recording/calibration/preflight.h"
#include "recording_file.h"

namespace monitor::record {

using card::CostCheck;

namespace {

// Identifies the version of this program by its file.
std::string program_version()
{
	struct stat status {};
	::stat("/proc/self/exe", &status);
	return fmt::format("{}:{}:{}:{}", status.st_dev, status.st_ino, status.st_size, status.st_mtime);
}

std::uint64_t now_s()
{
	return static_cast<std::uint64_t>(std::time(nullptr));
}

} // namespace

std::string calibration_key(const card::CardOptions &options)
{
	if (std::getenv("MONITOR_FULL_PROBES") || options.module || options.matching || options.suspending ||
	    options.sample_every_ns || !options.counters_in_set.empty() || !options.resets.empty() ||
	    !options.functions.empty() || (options.stacks.any() && !options.stacks.of_command))
		return "";
	return fmt::format("{} {} {} cpus {} families {}{}{}{}{}", this_boot(), card::machine_and_card(),
			   program_version(), options.cpus, fmt::join(options.families, ","),
			   options.filtering ? " filtering" : "", options.overwriting ? " overwriting" : "",
			   options.counts_only ? " counting" : "", options.stacks.of_command ? " sampled" : "");
}

CardTrials::CardTrials(card::BpfCard &card, ClockSteering &clock, recording_file::Contents &file,
		       card::CalibrationFile kept_file, std::optional<card::KeptCalibration> kept)
    : card_(card), file_(file), options_{false, card.options().filtering, true, &clock},
      kept_file_(std::move(kept_file)), kept_(std::move(kept))
{
	if (!kept_) {
		const card::Preflight test = card::preflight(card);
		file.start_test = {test.calls, test.missing};
		kept_.emplace().tp = test.tp;
		kept_file_.write(*kept_);
	}
	options_.tp = kept_->tp;
	file.attach = kept_->tp ? "tp" : "tp_btf";
}

CostCheck CardTrials::check(recording_file::CalibratedCosts &costs)
{
	card::CalibrationOptions few = options_;
	few.check = true;
	costs = card::calibrate(card_, few).costs;
	const CostCheck result = card::compare_costs(kept_->measured.costs, costs);
	if (result == CostCheck::contradicts)
		kept_file_.forget_costs(options_.tp);
	return result;
}

void CardTrials::calibrate(RecordedFunctions &functions, bool check_kept)
{
	check_kept |= options_.tp; // at the end the privilege to attach may be gone
	recording_file::CalibratedCosts costs;
	const CostCheck result = kept_->measured.costs.empty() ? CostCheck::contradicts
				 : check_kept                  ? check(costs)
							       : CostCheck::undecided;
	if (result != CostCheck::contradicts) {
		add_calibration(file_, kept_->measured);
		file_.calibration->kept = {now_s() - std::min(now_s(), kept_->measured_s), result == CostCheck::agrees};
		return;
	}
	card::Calibration measured = card::calibrate(card_, options_);
	functions.add_costs(measured);
	add_calibration(file_, measured);
	if (file_.other_recorders.empty() && card::can_be_kept(measured))
		kept_file_.write({.tp = options_.tp, .measured_s = now_s(), .measured = measured});
}

std::string CardTrials::read_factors()
{
	const card::CardOptions &options = card_.options();
	std::string why_not;
	if (!calibration_key(options).empty() && !options.filtering && !options.counts_only)
		file_.calibration->factors = card::factors_of_this_machine().read(why_not);
	return why_not;
}

void CardTrials::calibrate_again()
{
	options_.probes = false; // attaching to functions needs the dropped privilege
	try {
		measure_end();
	} catch (const Error &error) { // tp programs need it, too
		file_.calibration->why_no_end = error.what();
	}
}

bool CardTrials::contradicts_kept()
{
	auto &calibration = *file_.calibration;
	if (calibration.kept->checked_at_start)
		return false;
	recording_file::CalibratedCosts costs;
	const CostCheck result = check(costs);
	if (result == CostCheck::agrees)
		calibration.end = std::move(costs);
	else if (result == CostCheck::undecided)
		calibration.why_no_end = "the loops without probes differed by more than the costs may";
	return result == CostCheck::contradicts;
}

void CardTrials::measure_end()
{
	auto &calibration = *file_.calibration;
	if (calibration.kept && !contradicts_kept())
		return;
	const card::Calibration measured = card::calibrate(card_, options_);
	if (calibration.kept) {
		add_calibration(file_, measured);
		calibration.start.clear();
	} else if (card::compare_costs(calibration.start, measured.costs) != CostCheck::agrees) {
		kept_file_.forget_costs(options_.tp);
	}
	calibration.end = measured.costs;
}

} // namespace monitor::record
