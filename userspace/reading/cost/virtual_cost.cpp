// SPDX-License-Identifier: MIT
#include "virtual_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "monitor/card.h"
#include "monitor/token.h"
#include "probe_cost.h"

namespace monitor::cost {
namespace {

// The calibration's loops have the probes in the caches and their branches predicted. In other programs an event costs
// `loop_factor` times as much, `less` less or `more` more: from runs of tools/bench virtual on one machine, an AMD EPYC
// with 2 CPUs. The range includes find, cat and programs that fork, which paid 1.4, 2.1 and 3 times the loops' cost on
// an Intel Xeon.
constexpr double loop_factor = 1.1, less = 0.2, more = 1.8;
// After idling, a CPU's caches lack the probes for a while, and it may have halted: two threads that wake each other on
// two CPUs cost 2.3 times the loops' figure (same machine and bench).
constexpr double after_idle = 3;
constexpr double after_idle_ns = 20'000;
// Calibrated at one end only: the other end might have differed by this share.
constexpr double without_end = 0.05;
// Runs without probes differ by this share even on a quiet machine, and by the other one if processes of others, which
// share caches and cores, use all CPUs.
constexpr double noise = 0.03, noise_beside_others = 0.2;
// The part of a probe before it reads the clock: the call, and the decision whether to record.
constexpr double before_clock = 0.5;
constexpr double max_cost_ns = 1e6; // the file is untrusted

// Combines independent errors.
double combined_error(double one, double other, double third)
{
	return std::sqrt(one * one + other * other + third * third);
}

double largest_off_difference(const CalibratedCosts &costs)
{
	double largest = 0;
	for (const char *family : {"syscall", "sched", "fault"})
		if (const auto cost = costs.find(family); cost != costs.end())
			largest = std::max(largest, cost->second.off_difference);
	return largest;
}

// Factors on the calibrated cost of an event.
struct Uncertainty {
	double factor = 1;                           // the program's cost of an event by that of the loops
	double less = 0, more = 0, disagreement = 0; // of the calibrations
	double after_idle = 1;                       // on the upper bound, while idle
};

Uncertainty uncertainty_of(const Calibration &calibration, std::vector<std::string> &reasons)
{
	if (const auto &phases = calibration.phases; phases && phases->is_known()) {
		reasons.push_back(fmt::format("an event of the command costs {:.1f} to {:.1f} ns, measured in {} "
					      "phases without probes while it ran",
					      phases->low, phases->high, phases->used));
		return {};
	}
	double disagreement = largest_off_difference(calibration.start);
	if (calibration.end)
		disagreement = std::max(disagreement, largest_off_difference(*calibration.end));
	const bool is_checked_at_start = calibration.kept && calibration.kept->checked_at_start;
	const bool is_only_once = (!calibration.end && !is_checked_at_start) || calibration.start.empty();
	if (is_only_once)
		disagreement += without_end;
	if (are_possible(calibration.factors))
		reasons.push_back(fmt::format("an event costs {:.0f} % less than in the calibration, to as much as it "
					      "cost at most in the programs of monitor doctor --calibrate",
					      less * 100));
	else
		reasons.push_back(fmt::format("an event costs {:.0f} % less to {:.0f} % more, as it depends on the "
					      "code around it, besides the calibration's quartiles",
					      less * 100, more * 100));
	reasons.push_back(fmt::format("within {:.0f} us after its CPU was idle it may cost {:.0f} times as much",
				      after_idle_ns / 1000, after_idle));
	reasons.push_back(fmt::format("the calibration's loops without probes differ by {:.0f} %{}", disagreement * 100,
				      !is_only_once      ? ""
				      : !calibration.end ? " (at the start only)"
							 : " (at the end only)"));
	if (calibration.phases)
		reasons.push_back("in the command itself it could not be measured: " + calibration.phases->why_unknown);
	return {loop_factor, less, more, disagreement, after_idle};
}

// Reasons that are known only when the recording has ended.
std::string why_not_usable(const RecordingInfo &info)
{
	if (!info.present)
		return "times as if nobody had measured need a recording of monitor: of other traces it is not known "
		       "what an event cost";
	if (info.statistics)
		return "this recording has statistics instead of events, so it does not show which time the probes "
		       "had: record without --statistics";
	if (!info.complete())
		return "the recording was killed, so what its probes cost is unknown: record again and end it with "
		       "Ctrl-C or --duration";
	if (const std::uint64_t lost = info.lost())
		return fmt::format("{} events were lost, and what they cost with them: record with a larger --buffer "
				   "or fewer events (-e)",
				   lost);
	if (const std::uint64_t missed = info.missed())
		return fmt::format("{} times the kernel refused to run a probe, so events are missing: record again",
				   missed);
	return "";
}

std::string why_no_cost(const RecordingInfo &info)
{
	if (!info.recorder.pid)
		return "this recording is of an older monitor, which did not say which process it was: record again";
	if (!info.calibration)
		return "it is not known what an event cost: record without --no-calibration";
	if (info.flight || info.pauses.number)
		return "only of a whole recording it is known what it cost: record without --flight and triggers that "
		       "stop";
	if (!info.other_recorders.empty())
		return "another recording ran too, and what its probes cost is not known: record again without it";
	if (info.filtering() || !info.filter.expression.empty())
		return "what was filtered out cost time too and has no place in the trace: record without -p and "
		       "--filter";
	if (!info.stacks.of_command && (info.stacks.spent_ns() || !info.stacks.at.empty()))
		return "taking stacks took time that is known in total only: record without --stacks";
	if (!info.functions.chosen.empty())
		return "what a recorded call of a function cost depends on the function: record without --functions";
	return "";
}

// For the classes that occurred.
std::string why_cost_unknown(const RecordingInfo &info)
{
	for (const ClassCounts &counts : info.classes) {
		if (!counts.seen || counts.family == "counters" || counts.family == "stack")
			continue;
		if (const EventCost cost = event_cost(*info.calibration, counts.family); !cost.why_unknown.empty())
			return fmt::format("{}: record again, while less else runs on this machine", cost.why_unknown);
	}
	return "";
}

// The mean of all samples: with the interrupt, and with the description of the stack.
ProbeTime sample_cost(const recording_file::StackCounts &stacks, double ticks_per_ns)
{
	const double walk_ns =
	    static_cast<double>(stacks.spent_at_timer_ns) / static_cast<double>(stacks.taken_at_timer);
	const double interrupt_ns = std::clamp(stacks.timer_interrupt_ns, 0.0, max_cost_ns);
	return {interrupt_ns * before_clock * ticks_per_ns,
		(interrupt_ns * (1 - before_clock) + std::clamp(walk_ns, 0.0, max_cost_ns)) * ticks_per_ns};
}

} // namespace

VirtualCost virtual_cost(const RecordingInfo &info, const trace::Clock &clock)
{
	VirtualCost unusable;
	unusable.why_not = why_not_usable(info);
	return unusable.why_not.empty() ? live_virtual_cost(info, clock) : unusable;
}

VirtualCost live_virtual_cost(const RecordingInfo &info, const trace::Clock &clock)
{
	VirtualCost result;
	result.why_not = why_no_cost(info);
	if (result.why_not.empty())
		result.why_not = why_cost_unknown(info);
	if (!result.why_not.empty())
		return result;
	const Calibration &calibration = *info.calibration;
	const double ticks_per_ns = static_cast<double>(clock.frequency_hz) / 1e9;
	result.noise = noise;
	result.noise_beside_others = noise_beside_others;
	const Uncertainty uncertainty = uncertainty_of(calibration, result.reasons);
	result.after_idle = uncertainty.after_idle;
	result.after_idle_ticks = static_cast<std::uint64_t>(after_idle_ns * ticks_per_ns);
	result.by_class.resize(std::size_t{1} << EDC_ID_BITS);
	if (info.stacks.taken_at_timer)
		result.by_class[EDC_ID_STACK_SAMPLE].fill(sample_cost(info.stacks, ticks_per_ns));
	const std::map<unsigned, double> judgement_ns = info.judgement_ns();
	for (const ClassCounts &counts : info.classes) {
		// Counters are read in a switch's probe, and were calibrated with it.
		if (counts.id >= result.by_class.size() || counts.family == "counters" || counts.family == "stack")
			continue;
		const EventCost cost = event_cost(calibration, counts.family);
		const double low = cost.median - cost.low, high = cost.high - cost.median;
		const auto factor = code_factor(calibration, counts.family);
		const double more_here =
		    factor ? std::max(factor->high / uncertainty.factor - 1, 0.0) : uncertainty.more;
		const std::array<double, bounds> ns = {
		    cost.median -
			combined_error(low, cost.median * uncertainty.less, cost.median * uncertainty.disagreement),
		    cost.median,
		    cost.median +
			combined_error(high, cost.median * more_here, cost.median * uncertainty.disagreement)};
		const auto judged = judgement_ns.find(counts.id);
		const double judgement = judged == judgement_ns.end() ? 0 : judged->second;
		for (std::size_t i = 0; i < bounds; ++i) {
			const double cost_ticks =
			    std::clamp(ns[i] * uncertainty.factor + judgement, 0.0, max_cost_ns) * ticks_per_ns;
			result.by_class[counts.id][i] = {cost_ticks * before_clock, cost_ticks * (1 - before_clock)};
		}
	}
	return result;
}

} // namespace monitor::cost
