// SPDX-License-Identifier: MIT
// Compares the tokens of each thread with the kernel's own figures for it: context switches, migrations, run time and
// faults, read by the recorder at start and end and by the probes at a thread's last switch. Part of check.cpp, which
// feeds it every event in order.
#pragma once

#include <cstdint>
#include <vector>

#include "check.h"
#include "reading/analyze/thread_fold.h"
#include "reading/analyze/tid_table.h"

namespace monitor::check {

class KernelComparison : public analyze::Observer {
public:
	KernelComparison(const EventKinds &kinds, const trace::Clock &clock, const RecordingInfo &info);

	// Call after the ThreadFold that this observes has processed the event.
	void event(const trace::Event &event);
	void exchanged(const Thread &one, const Thread &other) override;
	void went_offline(const Cpu &cpu, const Thread &thread, std::uint64_t time) override;
	// Only for a trace without losses.
	void judge(Statements &statements) const;
	bool any_hidden() const { return any_hidden_; }
	bool any_offline() const { return any_offline_; } // a CPU was offline, where some kernel activity has no token

private:
	// A thread's tokens since its base figures.
	struct Tally {
		bool has_base = false;       // the kernel's figures at the start are known
		bool listed_running = false; // in the thread_state just before the kernel's figures
		bool uncertain = false;      // it ran, or had just run, when the kernel's figures were read
		std::uint64_t base_switches = 0, base_exec_ns = 0, base_min = 0, base_maj = 0;
		std::uint64_t switches = 0, ticks = 0, irq_ticks = 0, irqs = 0, min = 0, maj = 0;
		bool is_new = false;     // created while recorded
		bool ran_unseen = false; // a switch in has no token
		bool filtered = false;   // by -p: its events are not recorded
		std::uint64_t base_migrations = 0, migrations = 0, last_migration = 0;
		bool migrated_at_base = false;
		std::uint64_t in_time = 0, last_switch = 0; // in_time 0: not running
		// If the CPU was idle, the kernel charges a woken or new thread from its wake-up, not from the switch.
		std::uint64_t waking_time = 0, late_ticks = 0;
	};
	struct OnCpu {
		std::int32_t tid = -1;
		std::uint64_t irq_since = 0;
		unsigned irq_depth = 0;
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
	OnCpu *cpu_of(const trace::Event &event);
	void on_switch(const trace::Event &event, const EventKind &kind);
	void on_interrupt(const trace::Event &event, bool entry);
	void on_migration(const trace::Event &event, const EventKind &kind);
	std::uint64_t tolerance_of(const Tally &thread, std::uint64_t slack) const;
	bool exec_agrees(const Tally &thread, std::uint64_t kernel_ns, std::uint64_t tolerance) const;
	void on_counts(const trace::Event &event, const EventKind &kind);
	void on_state(const trace::Event &event, const EventKind &kind);
	void on_creation(const trace::Event &event, const EventKind &kind);
	void compare(std::int32_t tid, Tally &tally, const trace::Event &event, const EventKind &kind, bool at_exit);
	struct Agreement {
		bool agrees = false, stalled = false; // stalled: as far as stalled switches explain it
		std::uint64_t tolerance_ns = 0;
	};
	Agreement agreement(const Sum &sum) const;
	// Returns whether the statement holds.
	bool judge_total_time(Statements &statements) const;
	bool agrees_with_beside_hidden() const;
	void judge_migrations(Statements &statements) const;
	void judge_threads(Statements &statements) const;

	const EventKinds &kinds_;
	trace::Clock clock_;
	const RecordingInfo &info_;
	double per_switch_ns_;
	TidTable<Tally> tallies_;
	std::vector<OnCpu> cpus_;
	std::uint64_t steal_ns_ = 0;
	bool counts_steal_ = false;           // inferred from steal time since boot
	std::uint64_t uncertain_threads_ = 0; // readings at start or end while a thread ran
	std::uint64_t late_ticks_ = 0;        // of all threads
	bool any_hidden_ = false, any_offline_ = false;
	std::uint64_t threads_that_ran_ = 0; // of exec_
	std::uint64_t measured_threads_ = 0; // threads that ran long enough for their tolerance to be meaningful
	Sum beside_hidden_;                  // CPU time of threads switched in unseen after a hidden one
	bool counts_migrations_ = false;     // whether the kernel's figures have migrations
	Sum switches_, exec_, min_, maj_, migrations_;
	std::uint64_t unseen_migrations_ = 0; // threads with fewer tokens than migrations because of hidden threads
};

} // namespace monitor::check
