// SPDX-License-Identifier: MIT
#include "slow_activities.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "answers/path/chosen_activities.h"
#include "answers/path/chosen_requests.h"
#include "answers/path/path_fold.h"
#include "answers/path/subject.h"
#include "base/error.h"
#include "base/ranges.h"
#include "base/text.h"
#include "path_part.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/fold_input.h"

namespace monitor::explain {
namespace {

using path::ChosenActivities;

// With fewer there is nothing that could be called ordinary.
constexpr std::size_t min_activities = 20;
// Of those between the quartiles, evenly spread: their range no longer grows much with more.
constexpr std::size_t max_ordinary = 64;

// The time ranges of an activity or a request, each with its thread.
using Ranges = std::vector<ChosenActivities::ThreadRange>;

std::uint64_t length(const Ranges &ranges)
{
	return sum_of_all<std::uint64_t>(
	    ranges, [](const ChosenActivities::ThreadRange &one) { return one.range.to - one.range.from; });
}

// The quickest first.
std::vector<Ranges> sorted(std::vector<Ranges> all, const std::string &name)
{
	if (all.size() < min_activities)
		throw Error("there are only {} of {}: what is slow among fewer than {} cannot be told from chance",
			    all.size(), readable(name), min_activities);
	std::ranges::stable_sort(all, {}, length);
	return all;
}

std::vector<Ranges> between_quartiles(const std::vector<Ranges> &sorted)
{
	const std::size_t first = sorted.size() / 4, number = sorted.size() / 2, kept = std::min(number, max_ordinary);
	std::vector<Ranges> ordinary;
	for (std::size_t i = 0; i < kept; ++i)
		ordinary.push_back(sorted[first + i * number / kept]);
	return ordinary;
}

// Each under a root of its own, by which its parts are found.
void add(path::Paths &paths, const std::vector<Ranges> &all)
{
	for (const Ranges &ranges : all) {
		const std::uint32_t root = paths.add_root();
		for (const ChosenActivities::ThreadRange &one : ranges)
			paths.add_bounded(one.thread, one.range, one.range.to, root);
	}
}

std::vector<Profile> profiles(const path::Parts &parts, const path::Paths &paths, const path::Stretches &stretches,
			      const analyze::EventKinds &kinds, const trace::Clock &clock)
{
	std::map<std::uint32_t, Profile> by_root;
	std::map<std::uint32_t, std::uint64_t> ticks_of;
	const auto root_of = [&](std::uint32_t sleep) {
		while (paths.sleeps()[sleep].outer != 0)
			sleep = paths.sleeps()[sleep].outer;
		return sleep;
	};
	for (const auto &[part, ticks] : parts.ticks())
		ticks_of[root_of(part.sleep)] += ticks;
	for (const auto &[part, ticks] : parts.ticks()) {
		const std::uint32_t root = root_of(part.sleep);
		PathPart made = path_part(part, stretches, kinds);
		made.share = static_cast<double>(ticks) / static_cast<double>(ticks_of[root]);
		by_root[root].ns = clock.to_ns(ticks_of[root]);
		by_root[root].parts.push_back(std::move(made));
	}
	std::vector<Profile> all;
	for (auto &[root, profile] : by_root) // in the order in which they were added
		all.push_back(std::move(profile));
	return all;
}

// Finds what is asked for while the trace is read.
class Chosen {
public:
	Chosen(const trace::Trace &trace, const analyze::RecordingInfo &info, const SlowQuestion &question,
	       analyze::ThreadFold &fold)
	    : of_command_(path::records_command(info) && question.selection.threads.is_all())
	{
		if (!question.key.empty())
			requests_.emplace(trace, fold, question.key);
		else if (!question.call.empty())
			activities_.emplace(analyze::input_of(trace, info), fold, ChosenActivities::Of::calls,
					    question.call);
		else
			activities_.emplace(analyze::input_of(trace, info), fold, ChosenActivities::Of::programs,
					    question.activity);
	}

	std::vector<Ranges> finish(const path::Stretches &stretches)
	{
		if (requests_)
			return requests_->finish(stretches);
		std::vector<Ranges> all;
		for (const ChosenActivities::ThreadRange &one : activities_->finish(stretches, of_command_))
			all.push_back({one});
		return all;
	}

private:
	const bool of_command_;
	std::optional<path::ChosenRequests> requests_;
	std::optional<ChosenActivities> activities_;
};

} // namespace

SlowActivities slow_activities(trace::Trace &trace, const SlowQuestion &question, const Thresholds &thresholds)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	const trace::Clock &clock = trace.description().clock;
	analyze::ThreadFold fold(trace, info, question.selection.scope(trace, info));
	path::expect_switches(info, fold.kinds());
	path::PathFold path_fold(trace, info, fold, false);
	path::Stretches &stretches = path_fold.stretches();
	Chosen chosen(trace, info, question, fold);
	SlowActivities found;
	found.of = !question.key.empty()    ? SlowActivities::Of::requests
		   : !question.call.empty() ? SlowActivities::Of::calls
					    : SlowActivities::Of::activities;
	found.activity = question.key + question.call + question.activity;
	found.options = question.selection.thread_words();
	std::ranges::copy(question.selection.time_words(), std::back_inserter(found.options));
	analyze::feed(trace, fold, [&](const trace::Event &event) { path_fold.event(event); });
	const std::vector<Ranges> all = sorted(chosen.finish(stretches), found.activity);
	const std::vector<Ranges> ordinary = between_quartiles(all);
	found.count = all.size();
	found.slow = std::clamp<std::size_t>(question.slowest, 1, all.size() / 4);
	const std::vector<Ranges> slow(all.end() - static_cast<std::ptrdiff_t>(found.slow), all.end());
	found.median_ns = clock.to_ns(length(all[all.size() / 2]));
	found.slow_low_ns = clock.to_ns(length(slow.front()));
	found.slow_high_ns = clock.to_ns(length(slow.back()));
	path::Paths paths(stretches);
	add(paths, slow);
	add(paths, ordinary);
	const auto long_wait = clock.to_ticks(static_cast<std::uint64_t>(thresholds.long_idle_wait_ms * 1e6));
	path::Parts parts(stretches, paths, path::Parts::Who::thread, long_wait);
	path::fill(parts, trace, info, fold.scope().range);
	const std::vector<Profile> made = profiles(parts, paths, stretches, fold.kinds(), clock);
	const auto middle = made.begin() + static_cast<std::ptrdiff_t>(found.slow);
	found.parts = compare({made.begin(), middle}, {middle, made.end()}, found.median_ns, thresholds.path);
	return found;
}

} // namespace monitor::explain
