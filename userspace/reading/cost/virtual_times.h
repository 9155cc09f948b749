// SPDX-License-Identifier: MIT
// Times of threads as if nothing had been measured: feeds a recording's events to three virtual clocks
// (virtual_clock.h), with the lower, middle and upper cost of an event, and computes what to subtract from the fold's
// times.
// event() is called after the fold has taken the event; the fold reports exchanged TIDs and gaps by the observer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reading/analyze/thread_fold.h"
#include "reading/events/event.h"
#include "virtual_clock.h"
#include "virtual_cost.h"

namespace monitor::cost {

// From when the command first had a CPU to its end, in ticks.
struct VirtualElapsed {
	double measured = 0;
	std::array<double, bounds> compensated{};
};

class VirtualTimes final : public analyze::Observer {
public:
	VirtualTimes(const ThreadFold &fold, const RecordingInfo &info, const VirtualCost &cost);

	void event(const trace::Event &event);
	// With ThreadFold::begin_window(): drops what belongs to the window that has ended.
	void begin_window();
	void exchanged(const Thread &one, const Thread &other) override;
	void lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to) override;

	// What to subtract from a thread's times. Zero for a thread without an event.
	RemovedTimes removed(const Thread &thread, Bound bound) const;
	// How long it waited for a CPU that threads outside of its tree had.
	double waited_for_others(const Thread &thread) const;
	// A thread of the recorder, which would not exist without the measurement.
	bool is_recorder(const Thread &thread) const;
	// Empty: there was no command, or it had not ended.
	std::optional<VirtualElapsed> elapsed() const;

private:
	VirtualClock::Thread clock_thread(const Thread &thread);
	VirtualClock::Thread clock_thread_of(std::int32_t tid);
	std::uint32_t tree_of(const Thread &thread) const;
	void on_list(const EventKind &kind, const trace::Event &event);
	void on_switch(const EventKind &kind, const trace::Event &event, std::uint32_t cpu);
	void on_softirq(const EventKind &kind, const trace::Event &event, std::uint32_t cpu);
	bool is_from_outside(const Cpu &cpu);
	ProbeTime cost_of(const trace::Event &event, std::uint32_t cpu, Bound bound) const;

	const ThreadFold &fold_;
	const VirtualCost &cost_;
	const std::int32_t command_, recorder_;
	std::vector<VirtualClock> clocks_; // by Bound
	std::unordered_map<const Thread *, VirtualClock::Thread> clock_threads_;
	std::vector<bool> recorders_; // by thread number
	struct CpuEvents {
		bool after_interrupt = false;        // the last event ended an interrupt, or a softirq that one raised
		bool after_gap = false;              // no event since the gap has shown what runs
		std::uint64_t idle_until = 0;        // when idling ended last; 0: not seen
		bool softirq_from_interrupt = false; // whether an interrupt raised the last softirq
	};
	std::vector<CpuEvents> cpus_;
	struct Moment {
		std::uint64_t time = 0;
		std::array<double, bounds> now{};
	};
	Moment moment(std::uint32_t cpu, std::uint64_t time) const;
	std::optional<Moment> command_begin_, command_end_;
};

} // namespace monitor::cost
