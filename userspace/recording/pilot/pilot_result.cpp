// SPDX-License-Identifier: MIT
#include "pilot_result.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "recording/calibration/factor_fit.h"
#include "recording/card/rounds.h"

namespace monitor::pilot {
namespace {

constexpr const char *too_little_time = "CMD takes less CPU time than can be measured";

// Counts those that are left out.
template <class AnyPair> std::vector<AnyPair> without_loss(const std::vector<AnyPair> &pairs, PilotResult &result)
{
	std::vector<AnyPair> whole;
	std::ranges::copy_if(pairs, std::back_inserter(whole), [](const AnyPair &pair) { return pair.lost == 0; });
	result.pairs = whole.size();
	result.lossy_pairs = pairs.size() - whole.size();
	return whole;
}

void take_share(PilotResult &result, const record::Median &share)
{
	result.low = share.low;
	result.median = share.median;
	result.high = share.high;
}

// Of an event; none: its loops gave no usable figure.
std::optional<double> ns_in_loops(const recording_file::CalibratedCosts &loops, const std::string &family)
{
	const double ns = recording_file::median_in_loops(loops, family);
	return ns > 0 ? std::optional(ns) : std::nullopt;
}

// In ns, for all events; none: the cost of one is not known.
std::optional<recording_file::CodeFactor> added_by(const CountedEvents &counted,
						   const recording_file::CalibratedCosts &loops,
						   const recording_file::CodeFactors &factors)
{
	recording_file::CodeFactor added;
	for (const auto &[family, number] : counted.by_family) {
		const auto of_event = ns_in_loops(loops, family);
		if (!of_event)
			return {};
		const double ns = static_cast<double>(number) * *of_event;
		const auto of_family = factors.find(card::factor_group(family));
		const auto factor = of_family != factors.end() ? of_family : factors.find("other");
		added.low += ns * (factor == factors.end() ? 1 : factor->second.low);
		added.high += ns * (factor == factors.end() ? 1 : factor->second.high);
	}
	return added;
}

std::string left_out_text(const PilotResult &result)
{
	return result.lossy_pairs ? fmt::format("; {} in which events were lost left out", result.lossy_pairs) : "";
}

} // namespace

PilotResult result_of_runs(const std::vector<Pair> &pairs)
{
	PilotResult result{.how = PilotResult::How::runs};
	const std::vector<Pair> whole = without_loss(pairs, result);
	if (result.lossy_pairs && result.pairs < min_pairs) {
		result.why_unknown = fmt::format("events were lost in {} of {} pairs, and a probe costs less with a "
						 "full ring: choose fewer events by -e, or -p cmd",
						 result.lossy_pairs, pairs.size());
		return result;
	}
	std::vector<double> without;
	std::ranges::transform(whole, std::back_inserter(without), &Pair::without);
	if (!without.empty())
		result.cpu_ns = card::quantile(without, 0.5);
	if (const auto share = share_of_pairs(whole))
		take_share(result, *share);
	else
		result.why_unknown = too_little_time;
	return result;
}

PilotResult result_of_phases(const std::vector<PhasePair> &pairs)
{
	PilotResult result{.how = PilotResult::How::phases};
	const std::vector<PhasePair> whole = without_loss(pairs, result);
	for (const PhasePair &pair : whole)
		result.cpu_ns = result.cpu_ns.value_or(0) + pair.without.cpu_ns;
	if (const auto share = share_of_phases(whole))
		take_share(result, *share);
	return result;
}

void use_cost_in_loops(PilotResult &result, const CountedEvents &counted, const recording_file::CalibratedCosts &loops,
		       const recording_file::CodeFactors &factors)
{
	result.how = PilotResult::How::loops;
	result.cpu_ns = counted.cpu_ns;
	result.low = result.median = result.high = std::nullopt;
	const auto added = added_by(counted, loops, factors);
	if (counted.lost)
		result.why_unknown = "events were lost while they were counted, and a probe costs less with a full "
				     "ring: choose fewer events by -e, or -p cmd";
	else if (!counted.cpu_ns)
		result.why_unknown = "the kernel does not report CMD's CPU time";
	else if (!added)
		result.why_unknown = "the cost of an event could not be measured in loops";
	else if (*counted.cpu_ns <= added->high)
		result.why_unknown = too_little_time;
	else
		result.low = added->low / (*counted.cpu_ns - added->low);
	if (result.low && !factors.empty())
		result.high = added->high / (*counted.cpu_ns - added->high);
}

std::string text_of(const PilotResult &result)
{
	if (!result.low)
		return fmt::format("probes: unknown ({})", result.why_unknown);
	const auto percent = [](double share) { return std::max(share, 0.0) * 100; };
	const double low = percent(*result.low);
	const int digits = low < 9.95 ? 1 : 0;
	if (!result.high)
		return fmt::format("probes at least {:.{}f} % of CMD's CPU time (loops{})", low, digits,
				   left_out_text(result));
	const std::string how =
	    result.how == PilotResult::How::loops ? "from its events" : fmt::format("A/B, {} pairs", result.pairs);
	return fmt::format("probes {:.{}f} to {:.{}f} % of CMD's CPU time ({}{})", low, digits, percent(*result.high),
			   digits, how, left_out_text(result));
}

nlohmann::ordered_json json_of(const PilotResult &result)
{
	constexpr const char *how[] = {"runs", "phases", "loops"};
	const auto times = [](const std::optional<double> &value, double factor) {
		return value ? nlohmann::ordered_json(*value * factor) : nlohmann::ordered_json(nullptr);
	};
	nlohmann::ordered_json json = {{"how", how[static_cast<std::size_t>(result.how)]},
				       {"pairs", result.pairs},
				       {"lossy_pairs", result.lossy_pairs},
				       {"low_percent", times(result.low, 100)},
				       {"percent", times(result.median, 100)},
				       {"high_percent", times(result.high, 100)},
				       {"cpu_ns", times(result.cpu_ns, 1)}};
	if (!result.why_unknown.empty())
		json["unknown"] = result.why_unknown;
	return json;
}

} // namespace monitor::pilot
