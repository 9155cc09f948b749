// SPDX-License-Identifier: MIT
// The fold of a running recording (`monitor top`): from its blocks in memory to consecutive windows.
// drain.cpp -> take() -> LiveEvents -> ThreadFold -> on_window(): refresh.cpp
// All of it runs in the thread that drains the rings; describe() in any. Invariants: a window's figures are those of
// `monitor report` for a recording that ended there; windows are adjacent; memory does not grow with time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live_events.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"
#include "reading/cost/probe_cost.h"
#include "virtual_fold.h"

namespace monitor::live {

class LiveFold final : public record::BlockSink {
public:
	// `on_window`: called when a window has ended.
	LiveFold(std::uint64_t window_ns, std::function<void()> on_window);

	const analyze::ThreadFold &thread_fold() const { return *thread_fold_; }
	const trace::Clock &clock() const { return events_.description().clock; }
	const analyze::RecordingInfo &info() const { return events_.info(); }
	std::uint64_t begin_time() const { return begin_time_; }    // of the trace
	const std::string &directory() const { return directory_; } // of the trace
	// Called from start() on.
	void add(analyze::Observer &observer) { thread_fold_->add(observer); }
	// Null: neither events of programs nor functions are recorded.
	activities::Tracker *tracker() { return tracker_ ? &*tracker_ : nullptr; }

	// In the window that has ended: the number of events with this name, and of all but the recorder's own.
	std::uint64_t count(const std::string &name) const;
	std::uint64_t count() const;
	// By class id, without the recorder's own; classes that did not occur are left out.
	using Counts = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
	Counts counts() const { return by_id(class_counts_); }
	// Events in no window, before the first one or after the recording's end, since the last call.
	Counts take_outside();
	// Counters of the window that has ended; null: none were chosen.
	const analyze::CounterFold *counters() const { return counters_ ? &*counters_ : nullptr; }
	// Of the window that has ended; null: not requested.
	const VirtualFold *virtual_times() const { return virtual_ ? &*virtual_ : nullptr; }
	// From the calibration at the start; the cost of stacks is measured.
	cost::ProbeCost probe_cost() const;
	// Events were lost in the window: its figures are lower bounds, and some time is unknown.
	bool has_losses() const { return has_losses_; }
	// Events lost in the window, as far as known: the next block counts what was lost before it.
	std::uint64_t lost() const { return lost_; }
	// Since the start: events that arrived too late for the order of time.
	std::uint64_t late() const { return events_.late(); }

	void set_on_start(std::function<void()> call) { on_start_ = std::move(call); }
	void set_on_finish(std::function<void()> call) { on_finish_ = std::move(call); }
	// Windows end at multiples of their length in real time, by the clock at the start.
	void align() { is_aligned_ = true; }
	// Also computes times without probes (virtual_fold.h).
	void compensate() { compensates_ = true; }
	// Removes ended threads within a window, too: an observer keeps their usages.
	void forget_often() { forgets_often_ = true; }

	// As record::BlockSink:
	void start(const record::LiveStart &start) override;
	void describe(const std::string &description) override { events_.describe(description); }
	bool take(record::StreamNumber stream, const std::string &name, const std::byte *block) override
	{
		return events_.take(stream, name, block);
	}
	void lose(record::StreamNumber stream) override { events_.lose(stream); }
	bool advance(std::uint64_t time) override;
	void set_window_end(std::uint64_t time) override;
	record::LiveEnd finish() override;

private:
	struct Visitor;

	std::uint64_t aligned_end_after(std::uint64_t time) const;
	void add_classes();
	void note_loss();
	void end_window(std::uint64_t time);
	void begin_window();
	void forget_ended();
	Counts by_id(const std::vector<std::uint64_t> &of) const;

	const std::uint64_t window_ns_;
	const std::function<void()> on_window_;
	std::function<void()> on_start_, on_finish_;
	bool is_aligned_ = false, forgets_often_ = false, compensates_ = false;
	LiveEvents events_;
	std::optional<analyze::ThreadFold> thread_fold_;
	std::optional<analyze::CounterFold> counters_;
	std::optional<VirtualFold> virtual_;
	std::optional<activities::Tracker> tracker_;
	std::string directory_;
	std::function<std::uint64_t()> stacks_ns_;
	std::uint64_t stacks_ns_at_begin_ = 0,
		      stacks_ns_of_window_ = 0; // spent by the probes: so far when the window began, in it
	std::uint64_t begin_time_ = 0, window_ticks_ = 0;
	std::uint64_t next_end_ = 0;  // of the current window
	std::size_t clock_steps_ = 0; // steps of real time seen so far: after each, windows are aligned again
	std::uint64_t next_forget_ = ~std::uint64_t(0), forget_ticks_ = 0;
	unsigned forgets_ = 0;
	std::optional<std::uint64_t> end_;          // of the recording
	std::vector<std::uint64_t> class_counts_;   // in the window, by class index
	std::vector<std::uint64_t> outside_counts_; // outside of windows
	bool has_losses_ = false;
	std::uint64_t lost_ = 0;
};

} // namespace monitor::live
