// SPDX-License-Identifier: MIT
#include "durations.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace monitor::simulation {
namespace {

constexpr double usual_latency = 25'000; // if none was recorded
constexpr Nanoseconds max_spent = 3'000'000'000'000'000'000;
constexpr double max_drawn = 1e19;

double median(std::vector<std::uint64_t> values)
{
	const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
	std::ranges::nth_element(values, middle);
	return static_cast<double>(*middle);
}

} // namespace

Durations::Durations(const model::Model &model, const model::SampleSet *samples, std::uint64_t seed)
    : model_(model), samples_(samples), random_(seed),
      median_latency_(model.latency_ns.empty() ? usual_latency : median(model.latency_ns))
{
}

std::uint64_t Durations::value_of(const model::Operation &operation, std::size_t role, std::size_t row)
{
	if (operation.ns)
		return *operation.ns;
	if (operation.distribution != model::Operation::no_index)
		return drawn_of(model_.distributions[operation.distribution]);
	return samples_->roles[role].columns[operation.column][row];
}

bool Durations::takes(const model::Operation &branch, std::size_t role, std::size_t row)
{
	return branch.probability ? drawn() < *branch.probability : value_of(branch, role, row) != 0;
}

std::uint64_t Durations::drawn_of(const model::Distribution &distribution)
{
	switch (distribution.shape) {
	case model::Distribution::Shape::values:
		return distribution.ns[drawn(distribution.ns.size())];
	case model::Distribution::Shape::uniform:
		return distribution.ns[0] + drawn(distribution.ns[1] - distribution.ns[0] + 1);
	case model::Distribution::Shape::exponential:
		return static_cast<std::uint64_t>(
		    std::min(-std::log1p(-drawn()) * static_cast<double>(distribution.ns[0]), max_drawn));
	}
	return 0;
}

double Durations::wake_latency()
{
	const std::vector<std::uint64_t> &recorded = model_.latency_ns;
	return recorded.empty() ? 0 : static_cast<double>(recorded[drawn(recorded.size())]);
}

Nanoseconds Durations::spend(double ns)
{
	if (!(ns <= static_cast<double>(max_spent - spent_)))
		throw Error(
		    "The threads of this model compute and sleep for more than 90 years: give it shorter times.");
	const auto time = static_cast<Nanoseconds>(std::llround(ns));
	spent_ += time;
	return time;
}

} // namespace monitor::simulation
