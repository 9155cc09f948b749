// SPDX-License-Identifier: MIT
// The tokens against figures that are not ours: /proc/stat's context switches and interrupts, and per thread the
// kernel's context switches, run time and faults, read by the recorder at start and end and by the probes at a thread's
// last switch. Part of check.cpp, which feeds it every event in order.
#pragma once

#include <cstdint>
#include <vector>

#include "check.h"
#include "event_kinds.h"
#include "trace/event.h"

namespace monitor::analyze {

class KernelComparison {
public:
	KernelComparison(const EventKinds &kinds, const trace::Clock &clock, const RecordingInfo &info);

	void event(const trace::Event &event);
	void judge(bool lossless, std::vector<Statement> &statements) const;

private:
	// What the tokens say of a thread since its base figures.
	struct Tally {
		bool based = false;        // the kernel's figures at `base_time` are in the base
		bool said_running = false; // by the thread_state just before the kernel's figures
		bool uncertain = false;    // ran, or had just run, when the kernel's figures were read
		std::uint64_t base_switches = 0, base_exec_ns = 0, base_min = 0, base_maj = 0;
		std::uint64_t switches = 0, ticks = 0, irq_ticks = 0, irqs = 0, min = 0, maj = 0;
		bool born = false, came_unseen = false;
		std::uint64_t in_time = 0, last_switch = 0; // in_time 0: not running
		// Woken on an idle CPU the kernel charges a thread from the wake-up on, not from the switch.
		std::uint64_t waking_time = 0, late_ticks = 0;
	};
	struct Difference {
		std::int32_t tid;
		std::uint64_t kernel, ours;
	};
	struct Sum {
		std::uint64_t kernel = 0, ours = 0, threads = 0, wrong = 0;
		Difference worst{};
		void add(std::int32_t tid, std::uint64_t from_kernel, std::uint64_t from_tokens, bool agrees);
	};

	Tally *tally(std::int32_t tid);
	void on_switch(const trace::Event &event, const EventKind &kind);
	void on_interrupt(const trace::Event &event, bool entry);
	bool exec_agrees(const Tally &thread, std::uint64_t kernel_ns, std::uint64_t slack) const;
	void on_counts(const trace::Event &event, const EventKind &kind);
	void on_state(const trace::Event &event, const EventKind &kind);
	void on_born(const trace::Event &event, const EventKind &kind);
	void compare(std::int32_t tid, Tally &tally, const trace::Event &event, const EventKind &kind, bool at_exit);
	void count_in_window(const trace::Event &event, std::uint64_t &inner, std::uint64_t &outer) const;
	void judge_context_switches(std::vector<Statement> &statements) const;
	void judge_interrupts(std::vector<Statement> &statements) const;
	// Returns whether it holds.
	bool judge_total_time(std::vector<Statement> &statements) const;
	void judge_threads(std::vector<Statement> &statements) const;

	const EventKinds &kinds_;
	trace::Clock clock_;
	const RecordingInfo &info_;
	std::uint64_t edge_ticks_;
	double per_switch_ns_;
	std::vector<Tally> tallies_; // by tid
	struct OnCpu {
		std::int32_t tid = -1;
		std::uint64_t irq_since = 0;
		unsigned irq_depth = 0;
	};
	std::vector<OnCpu> cpus_;
	std::uint64_t inner_switches_ = 0, outer_switches_ = 0, inner_interrupts_ = 0, outer_interrupts_ = 0;
	std::uint64_t steal_ns_ = 0;
	std::uint64_t uncertain_threads_ = 0; // edges at which a thread ran
	std::uint64_t late_ticks_ = 0;        // of all threads
	bool any_hidden_ = false;
	Sum beside_hidden_; // CPU time of threads that came in unseen, behind a hidden one
	Sum switches_, exec_, min_, maj_;
};

} // namespace monitor::analyze
