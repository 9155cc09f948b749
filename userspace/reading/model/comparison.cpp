// SPDX-License-Identifier: MIT
#include "comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/ranges.h"
#include "base/sample_mean.h"

namespace monitor::model {
namespace {

constexpr std::size_t clearly_more = 3; // than min_instances, in each recording of the model

// The largest one between two sample sets, or between the halves of the only one.
double own_distance(std::vector<std::vector<double>> sets)
{
	if (sets.size() == 1) {
		const auto half = static_cast<std::ptrdiff_t>(sets[0].size() / 2);
		sets.emplace_back(sets[0].begin() + half, sets[0].end());
		sets[0].resize(static_cast<std::size_t>(half));
	}
	double largest = 0;
	for (std::size_t i = 0; i < sets.size(); ++i)
		for (std::size_t other = 0; other < i; ++other)
			largest = std::max(largest, ks_distance(sets[i], sets[other]));
	return largest;
}

// By thread: when its iterations begin, each with the activity that the thread does first.
using Begins = std::map<std::uint32_t, std::vector<std::uint64_t>>;

Begins iteration_begins(const Instances &instances)
{
	std::map<std::uint32_t, std::pair<std::uint64_t, std::string>> first;
	for (const auto &[name, all] : instances)
		for (const Instance &instance : all) {
			const std::pair earliest(instance.begin, name);
			const auto [known, is_new] = first.try_emplace(instance.thread, earliest);
			known->second = std::min(known->second, earliest);
		}
	Begins begins;
	for (const auto &[name, all] : instances)
		for (const Instance &instance : all)
			if (first.at(instance.thread).second == name)
				begins[instance.thread].push_back(instance.begin);
	return begins;
}

// As times_in(): of each iteration that does the activity, the sum of its instances.
std::vector<double> recorded_times(const Instances &instances, const Begins &begins, const std::string &activity)
{
	std::map<std::pair<std::uint32_t, std::ptrdiff_t>, double> sums; // by thread and iteration
	if (const auto found = instances.find(activity); found != instances.end())
		for (const Instance &instance : found->second) {
			const std::vector<std::uint64_t> &of_thread = begins.at(instance.thread);
			const auto iteration = std::ranges::upper_bound(of_thread, instance.begin) - of_thread.begin();
			sums[{instance.thread, iteration}] += static_cast<double>(instance.cpu_ns);
		}
	return list_of<double>(sums, [](const auto &each) { return each.second; });
}

TimesResult compare_times(const Model &model, const Recording &recording, const Begins &begins,
			  const std::string &activity, double max_probability)
{
	TimesResult result;
	result.activity = activity;
	std::vector<std::vector<double>> sets;
	std::vector<double> model_times;
	for (const SampleSet &set : model.sets) {
		sets.push_back(times_in(model, set, activity));
		model_times.insert(model_times.end(), sets.back().begin(), sets.back().end());
	}
	const std::vector<double> recorded = recorded_times(recording.found.instances, begins, activity);
	result.in_model = model_times.size();
	result.in_recording = recorded.size();
	result.model_ns = sample_mean(model_times);
	result.recording_ns = sample_mean(recorded);
	if (model_times.empty())
		return result;
	if (recorded.empty()) { // instances has no activities with fewer than min_instances
		result.differs = model_times.size() >= clearly_more * min_instances * model.sets.size();
		return result;
	}
	result.distance = ks_distance(model_times, recorded);
	result.probability = ks_probability(*result.distance, model_times.size(), recorded.size());
	result.own_distance = own_distance(std::move(sets));
	result.differs =
	    max_probability > *result.probability && *result.distance > std::max(result.own_distance, min_distance);
	return result;
}

} // namespace

double ks_distance(std::vector<double> one, std::vector<double> other)
{
	if (one.empty() || other.empty())
		return 0;
	std::ranges::sort(one);
	std::ranges::sort(other);
	double largest = 0;
	for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
		const double value = std::min(one[i], other[j]);
		while (i < one.size() && one[i] <= value)
			++i;
		while (j < other.size() && other[j] <= value)
			++j;
		const double difference = static_cast<double>(i) / static_cast<double>(one.size()) -
					  static_cast<double>(j) / static_cast<double>(other.size());
		largest = std::max(largest, std::abs(difference));
	}
	return largest;
}

// The asymptotic distribution, with Stephens' correction for small samples.
double ks_probability(double distance, std::size_t one, std::size_t other)
{
	if (one == 0 || other == 0)
		return 1;
	const double product = static_cast<double>(one) * static_cast<double>(other);
	const double root = std::sqrt(product / static_cast<double>(one + other));
	const double lambda = (root + 0.12 + 0.11 / root) * distance;
	if (lambda < 0.2) // the series converges slowly, and its sum is nearly 1
		return 1;
	double sum = 0;
	for (int k = 1; k <= 100; ++k)
		sum += (k % 2 ? 2 : -2) * std::exp(-2. * k * k * lambda * lambda);
	return std::clamp(sum, 0., 1.);
}

std::size_t Comparison::violations() const
{
	return static_cast<std::size_t>(
	    std::ranges::count_if(claims, [](const ClaimResult &result) { return !result.holds(); }) +
	    std::ranges::count_if(times, &TimesResult::differs));
}

Comparison compare(const Model &model, const Recording &recording)
{
	Comparison comparison;
	for (const Relation &relation : claims_of(model))
		comparison.claims.push_back({relation, count(relation, recording.found.instances)});
	const std::vector<std::string> activities = activities_of(model);
	comparison.significance_of_each =
	    significance / static_cast<double>(std::max<std::size_t>(activities.size(), 1));
	const Begins begins = iteration_begins(recording.found.instances);
	for (const std::string &activity : activities)
		comparison.times.push_back(
		    compare_times(model, recording, begins, activity, comparison.significance_of_each));
	return comparison;
}

} // namespace monitor::model
