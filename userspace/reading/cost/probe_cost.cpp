// SPDX-License-Identifier: MIT
#include "probe_cost.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace monitor::cost {
namespace {

constexpr double max_judgement_ns = 1e6; // the file is untrusted
// How far the calibration may contradict itself: between its loops without probes, and between its start and end.
// Overlapping quartiles also count as agreement: the printed range then covers both.
struct Tolerance {
	double max_off_difference, max_difference;
};
constexpr Tolerance figure_tolerance = {recording_file::max_difference, recording_file::max_difference};
constexpr Tolerance range_tolerance = {0.2, 0.2}; // for whole ranges, which are wider
constexpr const char *at_start_only = "at the start only";
constexpr const char *workloads[] = {"syscall", "sched", "fault"};

// The cost measured at one end of the recording. nullptr: too few rounds, treated like no measurement.
const CalibratedCost *find(const CalibratedCosts &costs, const std::string &what,
			   std::uint64_t min_rounds = recording_file::min_rounds)
{
	const auto cost = costs.find(what);
	return cost != costs.end() && cost->second.rounds >= min_rounds ? &cost->second : nullptr;
}

std::string why_not(const CalibratedCost &cost, const Tolerance &tolerance)
{
	if (cost.off_difference > tolerance.max_off_difference)
		return fmt::format("the calibration's loops without probes differ by {:.0f} %",
				   cost.off_difference * 100);
	if (cost.median < 0)
		return fmt::format("the calibration's result was negative ({:.1f} ns per event)", cost.median);
	return "";
}

std::string why_not(const CalibratedCost &start, const CalibratedCost &end, const Tolerance &tolerance)
{
	if (!agree(start, end, tolerance.max_difference))
		return fmt::format(
		    "the calibrations at the start and at the end differ: {:.1f} and {:.1f} ns per event", start.median,
		    end.median);
	return "";
}

class Costs {
public:
	Costs(const Calibration &calibration, const Tolerance &tolerance)
	    : calibration_(calibration), tolerance_(tolerance)
	{
		for (const char *family : workloads) {
			const auto cost = measured(family);
			if (cost && (!lowest_ || cost->low < *lowest_))
				lowest_ = cost->low;
			if (cost && cost->why_unknown.empty())
				note_expensive(cost->low, cost->median, cost->high);
		}
		if (!calibration.phases || !calibration.phases->is_known())
			return;
		in_command_ = &*calibration.phases;
		loops_mean_ = mean_in_loops(in_command_->events);
	}

	// A family that was not measured is assumed to cost as much as the most expensive one.
	EventCost cost_of(const std::string &what) const
	{
		if (in_command_)
			return in_command(what);
		return in_loops(what);
	}

	bool knows(const std::string &what) const { return measured(what).has_value(); }

	// The lower bound of an event's cost, also if the loops contradict themselves; empty: there were no loops.
	std::optional<double> lower_bound_of(const std::string &what) const
	{
		if (in_command_)
			return cost_of(what).low;
		const auto cost = measured(what);
		return cost ? cost->low : lowest_;
	}

private:
	EventCost in_loops(const std::string &what) const
	{
		if (const auto cost = measured(what))
			return *cost;
		if (!most_expensive_)
			return {0, 0, 0, "there was no time to calibrate"};
		return *most_expensive_;
	}

	// The loops, if they are consistent, only give the ratio between the families' costs.
	EventCost in_command(const std::string &what) const
	{
		const PhaseCost &phases = *in_command_;
		const double share = loops_mean_ > 0 ? in_loops(what).median / loops_mean_ : 1;
		return {share * phases.low, share * phases.median, share * phases.high, ""};
	}

	// The mean cost in loops of the command's events; 0: the loops contradict themselves.
	double mean_in_loops(const std::map<std::string, std::uint64_t> &events) const
	{
		double sum = 0, number = 0;
		for (const auto &[family, event_count] : events) {
			const EventCost cost = in_loops(family);
			if (!cost.why_unknown.empty() || cost.median <= 0)
				return 0;
			sum += cost.median * static_cast<double>(event_count);
			number += static_cast<double>(event_count);
		}
		return number > 0 ? sum / number : 0;
	}

	std::optional<EventCost> measured(const std::string &what) const
	{
		const CalibratedCost *start = find(calibration_.start, what), *end = find_at_end(what);
		if (!start)
			std::swap(start, end);
		if (!start)
			return {};
		EventCost cost{start->low, start->median, start->high, why_not(*start, tolerance_)};
		if (!end)
			return cost;
		if (cost.why_unknown.empty())
			cost.why_unknown = why_not(*end, tolerance_);
		if (cost.why_unknown.empty())
			cost.why_unknown = why_not(*start, *end, tolerance_);
		cost.low = std::min(cost.low, end->low);
		cost.median = (cost.median + end->median) / 2;
		cost.high = std::max(cost.high, end->high);
		return cost;
	}

	const CalibratedCost *find_at_end(const std::string &what) const
	{
		if (!calibration_.end)
			return nullptr;
		return calibration_.kept ? find(*calibration_.end, what, recording_file::min_rounds_of_check)
					 : find(*calibration_.end, what);
	}

	void note_expensive(double low, double median, double high)
	{
		if (!most_expensive_ || median > most_expensive_->median)
			most_expensive_ = EventCost{low, median, high, ""};
	}

	const Calibration &calibration_;
	const Tolerance tolerance_;
	std::optional<EventCost> most_expensive_;
	std::optional<double> lowest_;
	const PhaseCost *in_command_ = nullptr;
	double loops_mean_ = 0;
};

std::string when_calibrated(const Calibration &calibration)
{
	if (const auto &kept = calibration.kept)
		return kept->checked_at_start ? "kept, checked at the start"
		       : calibration.end      ? "kept, checked at the end"
					      : "kept, not checked";
	const auto has_any = [](const CalibratedCosts &costs) {
		return std::ranges::any_of(workloads, [&](const char *family) { return find(costs, family); });
	};
	if (!calibration.end || !has_any(*calibration.end))
		return at_start_only;
	return has_any(calibration.start) ? "" : "at the end only";
}

// For recorders that calibrated once and stored no quartiles.
ProbeCost once_calibrated(const RecordingInfo &info)
{
	const auto measured = [&](const std::string &what) {
		const auto cost = info.cost_ns.find(what);
		return cost == info.cost_ns.end() ? 0.0 : cost->second;
	};
	const double max_cost = std::max({measured("syscall"), measured("sched"), measured("fault")});
	ProbeCost result;
	if (max_cost <= 0) {
		result.why_unknown = "it was not calibrated";
		return result;
	}
	const auto cost = [&](const std::string &what) { return measured(what) > 0 ? measured(what) : max_cost; };
	double sum = 0;
	for (const ClassCounts &counts : info.classes)
		if (counts.family != "counters")
			sum += static_cast<double>(counts.seen - counts.filtered) * cost(counts.family) +
			       static_cast<double>(counts.filtered) * cost("rejected");
	result.low_ns = result.median_ns = result.high_ns = sum;
	result.when = at_start_only;
	return result;
}

} // namespace

EventCost event_cost(const Calibration &calibration, const std::string &what)
{
	return Costs(calibration, range_tolerance).cost_of(what);
}

std::optional<CodeFactor> code_factor(const Calibration &calibration, const std::string &family)
{
	const bool is_in_command = calibration.phases && calibration.phases->is_known();
	if (is_in_command || !are_possible(calibration.factors))
		return {};
	const auto found = calibration.factors.find(family);
	return found == calibration.factors.end() ? calibration.factors.at("other") : found->second;
}

ProbeCost probe_cost(const RecordingInfo &info)
{
	if (!info.calibration)
		return once_calibrated(info);
	const Costs costs(*info.calibration, figure_tolerance);
	ProbeCost result;
	double median = static_cast<double>(info.stacks.spent_ns()) + info.stacks.interrupts_ns(), high = median;
	std::optional<double> low = median;
	CodeFactor real_code{median, median};
	const auto add = [&](const std::string &what, const std::string &family, std::uint64_t events) {
		if (!events)
			return;
		const EventCost cost = costs.cost_of(what);
		if (!cost.why_unknown.empty() && result.why_unknown.empty())
			result.why_unknown = what + ": " + cost.why_unknown;
		const auto count = static_cast<double>(events);
		const std::optional<double> lower_bound = costs.lower_bound_of(what);
		low = low && lower_bound ? std::optional(*low + count * std::max(*lower_bound, 0.0)) : std::nullopt;
		median += count * cost.median;
		high += count * cost.high;
		if (const auto factor = code_factor(*info.calibration, family)) {
			real_code.low += count * cost.median * factor->low;
			real_code.high += count * cost.median * factor->high;
			result.is_of_real_code = true;
		}
	};
	const std::map<unsigned, double> judgement_ns = info.judgement_ns();
	const bool knows_discarded = costs.knows("discarded"); // else it is taken to cost as much as a stored event
	for (const ClassCounts &counts : info.classes) {
		if (counts.family == "stack")
			continue; // measured in each recording
		if (counts.family == "counters")
			continue; // read in a switch's probe, or at a reset: part of what was calibrated there
		// A sample costs its interrupt, kept or not.
		const std::uint64_t rejected = counts.family == "sample" ? 0 : counts.filtered;
		const std::uint64_t stored_or_not = counts.seen - rejected;
		const std::uint64_t discarded = knows_discarded ? std::min(counts.discarded, stored_or_not) : 0;
		add(counts.family, counts.family, stored_or_not - discarded);
		add("rejected", counts.family, rejected);
		add("discarded", counts.family, discarded);
		const auto judged = judgement_ns.find(counts.id);
		if (judged == judgement_ns.end())
			continue;
		const double ns = static_cast<double>(counts.seen) * std::clamp(judged->second, 0.0, max_judgement_ns);
		if (low)
			*low += ns;
		median += ns;
		high += ns;
		real_code.low += ns;
		real_code.high += ns;
	}
	result.when = when_calibrated(*info.calibration);
	if (const std::optional<PhaseCost> &phases = info.calibration->phases) {
		result.phases = phases->is_known() ? phases->used : 0;
		result.why_not_in_command = phases->why_unknown;
	}
	const bool has_bound = result.why_unknown.empty() || low.value_or(0) > 0;
	result.low_ns = has_bound ? low : std::nullopt; // of loops that contradict themselves 0 says nothing
	result.is_of_real_code &= result.why_unknown.empty();
	if (!result.why_unknown.empty())
		return result;
	result.median_ns = median;
	result.high_ns = high;
	if (result.is_of_real_code) {
		result.low_ns = real_code.low;
		result.high_ns = real_code.high;
	}
	return result;
}

std::optional<double> min_cost(RecordingInfo info, std::span<const std::uint64_t> stored)
{
	for (ClassCounts &counts : info.classes) {
		counts.seen = counts.id < stored.size() ? stored[counts.id] : 0;
		counts.filtered = counts.discarded = 0;
	}
	info.stacks = {};
	return probe_cost(info).low_ns;
}

} // namespace monitor::cost
