// SPDX-License-Identifier: MIT
// What `monitor top` shows of one window, and which of all that could be shown is wanted. Made in the thread that
// drains the rings, when a window ends; handed to the thread that shows it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/report/grouping.h"
#include "answers/report/table.h"
#include "answers/report/usage_report.h"
#include "details.h"
#include "live_fold.h"
#include "live_stacks.h"
#include "machine_totals.h"
#include "named_window.h"
#include "reading/analyze/recorded.h"
#include "stack_naming.h"

namespace monitor::live {

using CgroupPaths = std::map<std::uint64_t, std::string>;

// Which rows, and of what: from the machine over a cgroup or a command to a process and a thread.
struct Wanted {
	report::GroupBy by = report::GroupBy::process;
	std::optional<std::string> cgroup, command; // only those of it
	std::int32_t process = 0;                   // only its threads; 0: all
	std::int32_t followed = 0, thread = 0; // the process, and the thread of it, of which the details are wanted

	bool operator==(const Wanted &) const = default;
};

// About times as if nobody measured, which are in the rows.
struct VirtualFacts {
	bool is_known = false; // else something was lost in the window
	std::vector<std::string> reasons;
	double noise = 0, others = 0; // parts of a time, as of report::VirtualReport
};

struct Refresh {
	std::uint64_t number = 0;                     // from 1
	std::uint64_t begin_ns = 0, end_ns = 0;       // since the start of the trace
	std::uint64_t begin_ticks = 0, end_ticks = 0; // of its clock
	std::int64_t end_wall_ns = 0;                 // since the epoch
	Wanted wanted;
	report::Table rows, cpus;
	// What counters measured is in `rows`; here that of no row, such as idle. Null: none were chosen.
	std::shared_ptr<const analyze::CountersInfo> counters;
	report::Table ratios;
	std::optional<VirtualFacts> virtual_times; // empty: not asked for
	std::optional<report::Table> activities;   // of programs, if they are recorded; like
	report::Table calls, sleeps;               // of what was followed:
	std::int32_t followed = 0, followed_thread = 0;
	std::shared_ptr<const NamedWindow> stacks; // of it, too; null: none are taken
	MachineTotals totals;
	analyze::Recorded recorded;
	bool has_losses = false;
	std::uint64_t late = 0;
	std::uint64_t recorder_ns = 0; // CPU time of all of this process
	cost::ProbeCost probes;
	std::vector<std::int64_t> other_recorders; // PIDs of those that ran at the start: their probes are costs, too
	bool has_unnamed_cgroups = false;
};

// One window after the other, from the thread that makes them to the one that shows them, which may miss some.
class Refreshes {
public:
	explicit Refreshes(std::uint64_t window_ns);
	// Before the start: stacks are taken, and these are shown. Then a refresh is given on when they have names,
	// some time after its window.
	void name_stacks(StackKinds kinds) { kinds_ = std::move(kinds); }

	const std::shared_ptr<LiveFold> &fold() const { return fold_; }
	// For the next window; before the start: from the first one on.
	void want(const Wanted &wanted);
	void name_cgroups(CgroupPaths paths);
	// The newest one after number `seen`; null: there is none, after this time or because nothing makes any.
	std::shared_ptr<const Refresh> next(std::uint64_t seen, std::chrono::milliseconds at_most);
	// Nothing makes any more: next() does not wait.
	void end();
	// All of them are kept until they are taken by next(), which then gives the oldest: nothing is missed.
	void keep_all() { keeps_all_ = true; }
	// Also compute times as if nobody measured. To be called before the start; after it, why_not_virtual() is a
	// sentence if that cannot be.
	void compensate() { fold_->compensate(); }
	std::string why_not_virtual() const
	{
		return fold_->virtual_times() ? fold_->virtual_times()->cost().why_not : "";
	}

private:
	struct Unnamed {
		std::shared_ptr<Refresh> refresh;
		std::unique_ptr<StackWindow> window;
	};
	void make();
	void add_virtual_times(Refresh &made, const report::UsageOptions &options) const;
	void start_naming();
	void name_until(std::uint64_t time);
	void give_on(std::shared_ptr<const Refresh> made);

	const std::shared_ptr<LiveFold> fold_;
	StackKinds kinds_;
	std::optional<LiveStacks> stacks_;
	std::deque<Unnamed> unnamed_; // windows of which it is not known yet what was mapped in them
	std::shared_ptr<const analyze::CountersInfo> counters_;
	std::optional<Details> details_;
	std::uint64_t number_ = 0, recorder_ns_ = 0;
	bool keeps_all_ = false;
	std::mutex lock_; // of:
	std::condition_variable made_;
	bool is_over_ = false;
	Wanted wanted_;
	std::shared_ptr<const CgroupPaths> paths_ = std::make_shared<const CgroupPaths>();
	std::deque<std::shared_ptr<const Refresh>> newest_;
	std::optional<StackNaming> naming_; // in a thread, which is over before anything else is
};

} // namespace monitor::live
