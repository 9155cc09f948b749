// SPDX-License-Identifier: MIT
// What `monitor top` shows of one window, and which rows are requested. Made when a window ends, in the thread that
// drains the rings; passed to the thread that shows it.
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

// Which rows, from the whole machine down to a cgroup or a command, a process and a thread.
struct Wanted {
	report::GroupBy by = report::GroupBy::process;
	std::optional<std::string> cgroup, command; // only rows of it
	std::int32_t process = 0;                   // only its threads; 0: all
	std::int32_t followed = 0, thread = 0; // the process, and perhaps the thread in it, whose details are requested

	bool operator==(const Wanted &) const = default;
};

// Facts about virtual times, which are in the rows.
struct VirtualFacts {
	bool is_known = false; // false: something was lost in the window
	std::vector<std::string> reasons;
	double noise = 0, others = 0; // as in report::VirtualReport
};

struct Refresh {
	std::uint64_t number = 0;                     // counted from 1
	std::uint64_t begin_ns = 0, end_ns = 0;       // since the start of the trace
	std::uint64_t begin_ticks = 0, end_ticks = 0; // in ticks of the trace's clock
	std::int64_t end_wall_ns = 0;                 // since the epoch
	Wanted wanted;
	report::Table rows, cpus;
	// Measurements are in `rows`; here are those without a row, such as idle. Null: no counters were chosen.
	std::shared_ptr<const analyze::CountersInfo> counters;
	report::Table ratios;
	std::optional<VirtualFacts> virtual_times; // nullopt: not requested
	std::optional<report::Table> activities;   // of programs, if recorded; otherwise like
	report::Table calls, sleeps;               // of the followed process or thread:
	std::int32_t followed = 0, followed_thread = 0;
	std::shared_ptr<const NamedWindow> stacks; // likewise; null: none are taken
	MachineTotals totals;
	analyze::Recorded recorded;
	bool has_losses = false;
	std::uint64_t late = 0;
	std::uint64_t recorder_ns = 0; // CPU time of this process
	cost::ProbeCost probes;
	std::vector<std::int64_t> other_recorders; // PIDs of recorders that ran at the start, as their probes cost, too
	bool has_unnamed_cgroups = false;
};

// Passes refreshes from the thread that makes them to the one that shows them, which may skip some.
class Refreshes {
public:
	explicit Refreshes(std::uint64_t window_ns);
	// Called before the start: stacks are taken, and these kinds shown. A refresh is then passed on once its stacks
	// have names, some time after its window.
	void name_stacks(StackKinds kinds) { kinds_ = std::move(kinds); }

	const std::shared_ptr<LiveFold> &fold() const { return fold_; }
	// Applies to the next window; before the start, to the first one.
	void want(const Wanted &wanted);
	void name_cgroups(CgroupPaths paths);
	// The newest refresh after number `seen`; null: there is none within this time, or there will be none.
	std::shared_ptr<const Refresh> next(std::uint64_t seen, std::chrono::milliseconds at_most);
	// There will be no further refreshes: next() does not wait.
	void end();
	// Keeps all until next() has returned each, oldest first.
	void keep_all() { keeps_all_ = true; }
	// Also computes virtual times. Called before the start; afterwards why_not_virtual() is the reason if they are
	// unknown.
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
	void pass_on(std::shared_ptr<const Refresh> made);

	const std::shared_ptr<LiveFold> fold_;
	StackKinds kinds_;
	std::optional<LiveStacks> stacks_;
	std::deque<Unnamed> unnamed_; // windows whose mappings are not all known yet
	std::shared_ptr<const analyze::CountersInfo> counters_;
	std::optional<Details> details_;
	std::uint64_t number_ = 0, recorder_ns_ = 0;
	bool keeps_all_ = false;
	std::mutex lock_; // protects the following
	std::condition_variable has_refresh_;
	bool is_over_ = false;
	Wanted wanted_;
	std::shared_ptr<const CgroupPaths> paths_ = std::make_shared<const CgroupPaths>();
	std::deque<std::shared_ptr<const Refresh>> newest_;
	std::optional<StackNaming> naming_; // has a thread, so it is destroyed first
};

} // namespace monitor::live
