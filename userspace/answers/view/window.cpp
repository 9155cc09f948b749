// SPDX-License-Identifier: MIT
#include "window.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/memory_bound.h"
#include "groups.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::view {
namespace {

constexpr std::uint64_t events_between_checks = 1 << 16;

} // namespace

bool has_no_memory(const trace::Problems &problems)
{
	return std::ranges::any_of(problems.kept(), [](const trace::Problem &problem) {
		return problem.message.ends_with(memory_used_up_text());
	});
}

Window::Window(const trace::Trace &trace, const analyze::RecordingInfo &info, const Timeline &whole, unsigned level,
	       std::uint64_t from_bin, std::uint64_t to_bin, std::size_t max_bytes, bool of_threads,
	       const IsOver &is_over)
    : whole_(whole), level_(level), from_bin_(from_bin),
      to_bin_(std::min(to_bin, whole.ticks() / (whole.base_ticks() << 2 * level) + 1)),
      timeline_(whole, level, max_bytes, of_threads)
{
	const std::uint64_t bin_ticks = whole.base_ticks() << 2 * level;
	const std::uint64_t kept_ticks = whole.base_ticks() << 2 * whole.threads_level();
	const std::uint64_t from = whole.begin() + from_bin_ * bin_ticks;
	analyze::Scope scope;
	scope.range = {from - std::min(from, kept_ticks), whole.begin() + to_bin_ * bin_ticks - 1};
	if (from_bin_ >= to_bin_)
		return;
	analyze::ThreadFold fold(trace, info, scope);
	fold.add(timeline_);
	for (const std::int32_t tid : whole.hidden())
		fold.hide(tid);
	trace::Problems problems; // reported when the whole trace was read
	std::uint64_t events = 0;
	bool is_stopped = false, is_in_lead = true;
	const auto on_event = [&](const trace::Event &event) {
		if (std::exchange(is_in_lead, false))
			fold.forget_others();
		fold.event(event);
		is_stopped = ++events % events_between_checks == 0 && ((is_over && is_over()) || is_too_much());
		return !is_stopped;
	};
	// Events before the part show which threads run. A wait that began earlier is found if it is shorter than a bin
	// that the picture keeps; longer ones are exact there.
	const auto on_lead = [&](const trace::Event &event) {
		if (event.stream->level == 0 && !event.stream->is_recorder()) // its list of threads may be older, too
			fold.event(event);
	};
	trace::merge_from(trace, scope.range, problems, on_lead, on_event,
			  [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
				  fold.gap(stream, from, to);
			  });
	for (const auto &stream : trace.streams()) // limits the memory used by parts all over the trace
		stream->release_bytes(stream->bytes(), stream->bytes() + stream->whole_bytes());
	if (has_no_memory(problems) || is_too_much())
		throw TooMuch();
	if (trace.problems().empty() && !problems.empty())
		throw Error("the trace has changed since this picture was made: start monitor view again");
	if (is_stopped)
		throw Error("this is not wanted any more");
	if (is_in_lead)
		fold.forget_others();
	fold.end_at(scope.range.to + 1);
	fold.finish();
	timeline_.finish(fold);
	if (is_too_much()) // what was still open
		throw TooMuch();
	for (const ThreadLanes &thread : timeline_.threads()) {
		const std::uint32_t index = whole.find(thread.tid, thread.cpu, thread.first);
		local_indices_.emplace(index, static_cast<std::uint32_t>(picture_indices_.size()));
		picture_indices_.push_back(index);
	}
}

const Lane *Window::cpu(std::size_t index) const
{
	for (const CpuLane &cpu : timeline_.cpus())
		if (cpu.number == whole_.cpus()[index].number)
			return &cpu.threads;
	return nullptr;
}

const ThreadLanes *Window::thread(std::size_t index) const
{
	const auto found = local_indices_.find(static_cast<std::uint32_t>(index));
	return found == local_indices_.end() ? nullptr : &timeline_.threads()[found->second];
}

// The stays of a part are later ones of the picture.
std::vector<Slice> Window::runs(std::uint32_t index, const Group *group) const
{
	const ThreadLanes *found = thread(index);
	std::vector<Slice> runs;
	const std::vector<Stay> &stays = whole_.threads()[index].stays;
	for (std::size_t i = 0, stay = 0; found && i < found->stays.size(); ++i) {
		while (stay + 1 < stays.size() && stays[stay + 1].first <= found->stays[i].first)
			++stay;
		if (group && (stays.empty() || !group->has(stays[stay])))
			continue;
		const std::vector<Slice> own = found->stays[i].runs.slices(level_, from_bin_, to_bin_);
		runs.insert(runs.end(), own.begin(), own.end());
	}
	return runs;
}

std::vector<Slice> Window::waits(std::size_t index) const
{
	std::vector<Slice> waits;
	const ThreadLanes *found = thread(index);
	// The thread's first event shows that the wait was over; the picture's bins are too wide for that.
	std::uint64_t until = to_bin_;
	if (found)
		for (const std::vector<Slice> &slices :
		     {found->runs(level_, 0, ~std::uint64_t(0)), found->waits.slices(level_)})
			if (!slices.empty())
				until = std::min<std::uint64_t>(until, slices.front().bin);
	const unsigned kept = whole_.threads_level();
	const std::uint64_t bin_ticks = whole_.base_ticks() << 2 * level_, kept_ticks = whole_.base_ticks() << 2 * kept;
	const std::uint64_t from = from_bin_ * bin_ticks, at = from / kept_ticks;
	// A slice longer than a bin ends within the bin after its last one.
	for (const Slice &slice :
	     whole_.threads()[index].waits.slices(kept, at - std::min<std::uint64_t>(at, 1), at + 1)) {
		const std::uint64_t begin = slice.bin * kept_ticks,
				    after = begin + (slice.bins + std::uint64_t{1}) * kept_ticks;
		const std::uint64_t end = std::min((after + bin_ticks - 1) / bin_ticks, until);
		if (slice.count != 1 || slice.busy < kept_ticks || begin + kept_ticks > from || end <= from_bin_)
			continue;
		waits.push_back({static_cast<std::uint32_t>(from_bin_), static_cast<std::uint32_t>(end - from_bin_), 0,
				 1, (end - from_bin_) * bin_ticks});
		break;
	}
	if (found) {
		const auto own = found->waits.slices(level_, from_bin_, to_bin_);
		waits.insert(waits.end(), own.begin(), own.end());
	}
	return waits;
}

} // namespace monitor::view
