// SPDX-License-Identifier: MIT
#include "window.h"

#include <algorithm>

#include "base/error.h"
#include "reading/analyze/machine.h"

namespace monitor::view {
namespace {

constexpr std::uint64_t events_between_questions = 1 << 16;

} // namespace

Window::Window(const trace::Trace &trace, const analyze::RecordingInfo &info, const Timeline &whole, unsigned level,
	       std::uint64_t from_bin, std::uint64_t to_bin, std::size_t max_bytes, const IsOver &is_over)
    : whole_(whole), level_(level), from_bin_(from_bin),
      to_bin_(std::min(to_bin, whole.ticks() / (whole.base_ticks() << 2 * level) + 1)),
      timeline_(whole, level, max_bytes)
{
	const std::uint64_t bin_ticks = whole.base_ticks() << 2 * level;
	analyze::Scope scope;
	scope.range = {whole.begin() + from_bin_ * bin_ticks, whole.begin() + to_bin_ * bin_ticks - 1};
	if (from_bin_ >= to_bin_)
		return;
	analyze::Machine machine(trace, info, scope);
	machine.add(timeline_);
	trace::Problems problems; // were told when the whole was read
	std::uint64_t events = 0;
	bool is_given_up = false;
	const auto on_event = [&](const trace::Event &event) {
		machine.event(event);
		is_given_up = ++events % events_between_questions == 0 && is_over && is_over();
		return !is_given_up;
	};
	// A wait that began before is found if it is shorter than a bin that the picture keeps; others it has exactly.
	const std::uint64_t kept_ticks = whole.base_ticks() << 2 * whole.first_level();
	const trace::TimeRange read = {scope.range.from - std::min(scope.range.from, kept_ticks), scope.range.to};
	trace::merge_from(
	    trace, read, problems, [&](const trace::Event &event) { machine.event(event); }, on_event,
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    machine.gap(stream, from, to);
	    });
	for (const auto &stream : trace.streams()) // parts all over the trace must not have all of it in memory
		stream->release_bytes(stream->bytes(), stream->bytes() + stream->whole_bytes());
	if (is_given_up)
		throw Error("this is not wanted any more");
	machine.finish();
	timeline_.finish(machine);
	if (timeline_.first_level() > level)
		throw Error("this is too much at once: ask for a part of it");
	for (const ThreadLanes &thread : timeline_.threads()) {
		const std::uint32_t place = whole.find(thread.tid, thread.cpu, thread.first);
		there_.emplace(place, static_cast<std::uint32_t>(places_.size()));
		places_.push_back(place);
	}
}

const Lane *Window::cpu(std::size_t place) const
{
	for (const CpuLane &cpu : timeline_.cpus())
		if (cpu.number == whole_.cpus()[place].number)
			return &cpu.threads;
	return nullptr;
}

const ThreadLanes *Window::thread(std::size_t place) const
{
	const auto found = there_.find(static_cast<std::uint32_t>(place));
	return found == there_.end() ? nullptr : &timeline_.threads()[found->second];
}

const Lane *Window::runs(std::size_t place) const
{
	const ThreadLanes *found = thread(place);
	return found ? &found->runs : nullptr;
}

std::vector<Slice> Window::waits(std::size_t place) const
{
	std::vector<Slice> waits;
	const ThreadLanes *found = thread(place);
	// Where it ran first the wait was over; the picture's bins are too wide for that.
	std::uint64_t until = to_bin_;
	if (found && !found->runs.slices(level_).empty())
		until = found->runs.slices(level_).front().bin;
	if (found && !found->waits.slices(level_).empty())
		until = std::min<std::uint64_t>(until, found->waits.slices(level_).front().bin);
	const unsigned kept = whole_.first_level();
	const std::uint64_t bin_ticks = whole_.base_ticks() << 2 * level_, kept_ticks = whole_.base_ticks() << 2 * kept;
	const std::uint64_t at = from_bin_ * bin_ticks / kept_ticks;
	for (const Slice &slice : whole_.threads()[place].waits.slices(kept, at, at + 1)) {
		const std::uint64_t end =
		    std::min((std::uint64_t(slice.bin) + slice.bins) * kept_ticks / bin_ticks + 1, until);
		if (slice.count != 1 || slice.busy < kept_ticks ||
		    (slice.bin + std::uint64_t{1}) * kept_ticks > from_bin_ * bin_ticks || end <= from_bin_)
			continue;
		waits.push_back({static_cast<std::uint32_t>(from_bin_), static_cast<std::uint32_t>(end - from_bin_), 0,
				 1, (end - from_bin_) * bin_ticks});
	}
	if (found) {
		const auto own = found->waits.slices(level_, from_bin_, to_bin_);
		waits.insert(waits.end(), own.begin(), own.end());
	}
	return waits;
}

} // namespace monitor::view
