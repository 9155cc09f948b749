// SPDX-License-Identifier: MIT
#include "prediction.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/sample_mean.h"
#include "change_text.h"
#include "reading/simulation/series_parallel.h"
#include "refusals.h"

namespace monitor::predict {
namespace {

using simulation::Change;
using simulation::Replayed;

constexpr std::size_t max_draws = 100, min_draws = 3;
constexpr double coverage = 0.9, large_bias = 0.25;

// As a share of the mean.
double relative_deviation(const std::vector<double> &values)
{
	return sample_deviation(values) / sample_mean(values);
}

// The two-sided 90 % quantile of Student's t, from that of the normal distribution: within 1.5 % for 2 degrees of
// freedom and more.
double t_quantile(std::size_t degrees)
{
	constexpr double z = 1.6449, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	const auto n = static_cast<double>(degrees);
	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

// Contains one more draw with the probability `coverage`: by rank, or by Student's t if there are too few draws.
std::pair<double, double> interval_of(std::vector<double> draws)
{
	const std::size_t number = draws.size();
	const auto rank = static_cast<std::size_t>((1 - coverage) / 2 * static_cast<double>(number + 1));
	if (rank == 0) {
		const double mean = sample_mean(draws), half = t_quantile(number - 1) * sample_deviation(draws) *
							       std::sqrt(1 + 1 / static_cast<double>(number));
		return {std::max(mean - half, 0.0), mean + half};
	}
	std::ranges::sort(draws);
	return {draws[rank - 1], draws[number - rank]};
}

// Throws Error if a role has samples, but none of a thread that it has.
void expect_samples_of_threads(const model::Model &model, const Change &change)
{
	using Mode = model::Role::Mode;
	for (const model::SampleSet &set : model.sets)
		for (std::size_t i = 0; i < std::min(set.roles.size(), model.roles.size()); ++i) {
			const model::Role &role = model.roles[i];
			const std::vector<std::uint32_t> &numbers = set.roles[i].threads;
			const bool is_shared = role.mode == Mode::pool || role.mode == Mode::split || role.in_order;
			if (is_shared || numbers.empty())
				continue;
			const std::uint32_t threads = simulation::threads_of(role, change);
			if (const std::uint32_t first = *std::ranges::min_element(numbers); first >= threads)
				throw Error("This model takes no time (change: {}): the role {} has {} only, but its "
					    "samples are of thread {}{}.",
					    printable(text_of(change)), printable(role.name),
					    threads == 1 ? "thread 0" : fmt::format("threads 0 to {}", threads - 1),
					    first, *std::ranges::max_element(numbers) > first ? " and above" : "");
		}
}

// Speed-up and interval are relative to it, so 0 is an error.
double expect_positive(double ns, const model::Model &model, const Change &change)
{
	if (ns > 0)
		return ns;
	expect_samples_of_threads(model, change);
	throw Error("This model takes no time (change: {}): give it durations, such as `cpu work 120us`.",
		    printable(text_of(change)));
}

// The longest time that is printed is a number of ns.
Estimate expect_countable(Estimate made)
{
	constexpr double max_ns = 9e18;
	if (std::max(made.elapsed_ns, made.high_ns.value_or(0)) < max_ns)
		return made;
	throw Error("This model may take more than 285 years (change: {}): give it shorter times, or recordings that "
		    "differ less.",
		    printable(made.change));
}

// Whether a replay draws anything at random.
bool has_draws(const model::Model &model)
{
	bool draws = model.latency_ns.size() > 1;
	for (const model::Role &role : model.roles)
		model::for_each_operation(role.body, [&](const model::Operation &operation) {
			draws |=
			    operation.distribution != model::Operation::no_index || operation.probability.has_value();
		});
	return draws;
}

class Predictor {
public:
	Predictor(const model::Model &model, const Settings &settings) : model_(model), settings_(settings)
	{
		for (const model::SampleSet &set : model.sets)
			recorded_.push_back(static_cast<double>(set.elapsed_ns));
	}

	Prediction predict(const std::vector<Change> &changes)
	{
		Prediction made;
		// A quarter of the effort is for what may be less: more draws than are necessary.
		enough_events_ = std::min(settings_.enough_events, settings_.max_effort / 4 / (changes.size() + 1));
		std::vector<Replayed> base = runs({}, false);
		if (!recorded_.empty() && !changes.empty())
			refuse_unknown(model_, changes, base);
		if (settings_.resamples)
			base = runs({}, true);
		base_ = elapsed_of(base);
		made.base = settings_.is_numeric ? numeric({}) : estimate({}, base);
		for (const Change &change : changes) {
			Estimate &changed = made.changes.emplace_back(
			    settings_.is_numeric ? numeric(change)
						 : estimate(change, runs(change, settings_.resamples)));
			changed.speed_up = made.base.elapsed_ns / changed.elapsed_ns;
		}
		made.notes = notes(changes);
		return made;
	}

private:
	// A replay of each recording, or of a model without recordings one; many of each if something is drawn at
	// random.
	std::vector<Replayed> runs(const Change &change, bool resamples)
	{
		std::vector<Replayed> made;
		const bool repeats = resamples || (model_.sets.empty() && has_draws(model_));
		std::uint64_t events = 0;
		for (std::size_t draw = 0; draw < (repeats ? max_draws : 1); ++draw) {
			if (draw >= min_draws && events > enough_events_)
				break;
			if (effort_ > settings_.max_effort)
				throw Error("These replays take minutes (change: {}): ask for fewer changes, or give "
					    "the model shorter times, or fewer iterations, threads or CPUs.",
					    printable(text_of(change)));
			simulation::ReplaySettings settings;
			settings.policy = simulation::policy_of(model_);
			settings.resamples = resamples;
			settings.seed = settings_.seed + draw;
			for (Replayed &replayed : simulation::replay_all(model_, change, settings)) {
				events += replayed.events;
				effort_ += replayed.events + replayed.operations;
				made.push_back(std::move(replayed));
			}
		}
		return made;
	}

	Estimate new_estimate(const Change &change) const
	{
		Estimate made;
		made.change = text_of(change);
		made.is_lower_bound = !model_.sets.empty() && change.cpus > model_.cpus;
		return made;
	}

	Estimate numeric(const Change &change) const
	{
		Estimate made = new_estimate(change);
		const auto distribution = simulation::elapsed_distribution(model_, change);
		made.elapsed_ns = expect_positive(distribution.mean(), model_, change);
		made.low_ns = distribution.quantile((1 - coverage) / 2);
		made.high_ns = distribution.quantile((1 + coverage) / 2);
		return expect_countable(std::move(made));
	}

	Estimate estimate(const Change &change, const std::vector<Replayed> &replayed) const
	{
		Estimate made = new_estimate(change);
		const std::vector<double> elapsed = elapsed_of(replayed);
		made.elapsed_ns = expect_positive(sample_mean(elapsed), model_, change);
		made.limit = replayed.front().limit;
		if (recorded_.size() >= min_recordings) {
			const double half = made.elapsed_ns * half_width(elapsed);
			made.low_ns = std::max(made.elapsed_ns - half, 0.0);
			made.high_ns = made.elapsed_ns + half;
		} else if (recorded_.empty() && elapsed.size() > 1) {
			std::tie(made.low_ns, made.high_ns) = interval_of(elapsed);
		}
		return expect_countable(std::move(made));
	}

	// Half of the interval, as a share of the estimate.
	double half_width(const std::vector<double> &elapsed) const
	{
		const std::size_t recordings = recorded_.size();
		const double deviation = std::max(relative_deviation(elapsed), relative_deviation(recorded_));
		const double of_runs =
		    t_quantile(recordings - 1) * deviation * std::sqrt(1 + 1 / static_cast<double>(recordings));
		return std::max(min_half_width, std::hypot(of_runs, bias()));
	}

	double bias() const { return sample_mean(base_) / sample_mean(recorded_) - 1; }

	std::vector<std::string> notes(const std::vector<Change> &changes) const
	{
		std::vector<std::string> notes;
		if (settings_.is_numeric)
			notes.push_back(
			    "interval: 90 % of the distribution, computed; times independent, a CPU for each thread");
		else if (recorded_.size() >= min_recordings)
			notes.push_back(
			    fmt::format("interval: {} recordings, replay bias {:.0f} %; structure assumed unchanged",
					recorded_.size(), 100 * std::abs(bias())));
		else if (!recorded_.empty())
			notes.push_back(
			    fmt::format("without interval: {} recording{}, {} or more give one; replay bias {:.0f} %; "
					"structure assumed unchanged",
					recorded_.size(), recorded_.size() == 1 ? "" : "s", min_recordings,
					100 * std::abs(bias())));
		else if (base_.size() > 1)
			notes.push_back(fmt::format("interval: 90 % of {} draws", base_.size()));
		if (!recorded_.empty() && std::abs(bias()) > large_bias)
			notes.push_back(fmt::format(
			    "The replay takes {:.0f} % {} time than was recorded: other programs had the CPUs, or "
			    "something is not in the model",
			    100 * std::abs(bias()), bias() < 0 ? "less" : "more"));
		if (!model_.sets.empty() &&
		    std::ranges::any_of(changes, [this](const Change &change) { return change.cpus > model_.cpus; }))
			notes.emplace_back(
			    "More CPUs than recorded: contention for memory and caches is not in this recording");
		return notes;
	}

	const model::Model &model_;
	const Settings &settings_;
	std::vector<double> recorded_, base_;
	std::uint64_t enough_events_ = 0; // of a change
	std::uint64_t effort_ = 0;        // so far
};

} // namespace

Prediction predict(const model::Model &model, const std::vector<Change> &changes, const Settings &settings)
{
	return Predictor(model, settings).predict(changes);
}

} // namespace monitor::predict
