// SPDX-License-Identifier: MIT
// Sums of a period of statistics (record --statistics) besides the usages of threads: system calls by process, sleeps
// by thread and waker, activities of programs, and usages of threads that ended. Filled from LiveFold's fold and
// tracker; written by period_records.cpp.
// Bounded: at most max_sums of calls and of sleeps, and max_ended pairs of command and cgroup. The rest is summed up
// under `other`, so that totals stay true.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "period_activities.h"
#include "period_key.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::live {

class PeriodSums final : public analyze::Observer, public activities::Observer {
public:
	static constexpr std::size_t max_sums = 8192, max_ended = 1024;

	// Ended threads of a command in a cgroup.
	struct Ended {
		std::string command;
		std::uint64_t cgroup = 0;
		bool in_tree = false, is_kernel = false, is_filtered = false;
		analyze::Usage usage;
	};
	static constexpr std::size_t other = PeriodKey::other; // its index among them

	struct WaitKey {
		PeriodKey owner; // a process's leader; for sleeps a thread
		PeriodKey waker;
		std::uint32_t call = EDC_NO_SYSCALL;
		std::uint32_t irq = EDC_NO_IRQ; // the interrupt that woke it: kind << 16 | number

		bool operator==(const WaitKey &) const = default;
	};
	struct Sums {
		std::uint64_t count = 0, failed = 0, total = 0, longest = 0; // ticks
		CoarseHistogram lengths; // without refused calls, whose lengths are unknown
		// For sleeps: from the wake-up until the thread had a CPU.
		struct Transfers {
			std::uint64_t count = 0, total = 0, longest = 0;
		} transfers;
	};
	struct KeyHash {
		std::size_t operator()(const WaitKey &key) const;
	};
	using AllSums = std::unordered_map<WaitKey, Sums, KeyHash>;

	// `tracker`: null if no activities of programs are recorded. Adds itself to it.
	PeriodSums(const analyze::ThreadFold &fold, activities::Tracker *tracker);

	// After settle():
	const AllSums &calls() const { return calls_; }
	const AllSums &sleeps() const { return sleeps_; }
	// Null: none are recorded.
	const PeriodActivities *activities() const { return activities_ ? &*activities_ : nullptr; }
	// Replaces threads that are being removed by sums, before their memory is reused.
	void settle();
	const std::vector<Ended> &ended() const { return ended_; }

	// Starts the next period.
	void clear();

private:
	// A cache of the latest keys: on a CPU the same one often repeats.
	struct Recent {
		WaitKey key;
		Sums *sums = nullptr; // in one table
	};
	using AllRecent = std::array<Recent, 64>;

	static Sums &sums_of(AllSums &all, AllRecent &recent, const WaitKey &key);
	static void add_time(Sums &sums, std::uint64_t ticks);
	static Sums &sums_of(AllSums &all, const WaitKey &key);
	void replace_owners(AllSums &all) const;
	WaitKey current(const WaitKey &key) const;
	void forget_recent();
	PeriodKey current(PeriodKey key) const;

	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override;
	void refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t end,
			  std::int64_t result) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void got_cpu(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void forgotten(const analyze::Thread &thread) override;
	std::size_t ended_index(const analyze::Thread &thread, std::uint64_t cgroup);
	void finished(const activities::Finished &activity) override;

	const analyze::ThreadFold &fold_;
	std::optional<PeriodActivities> activities_;
	AllSums calls_, sleeps_;
	AllRecent recent_calls_, recent_sleeps_;
	struct Woken {
		WaitKey sleep; // the sleep that ended
		std::uint64_t time;
	};
	std::unordered_map<const analyze::Thread *, Woken> woken_; // threads without a CPU since they were woken
	std::vector<Ended> ended_;
	std::map<std::pair<std::string, std::uint64_t>, std::size_t> ended_indices_; // in ended_, by command and cgroup
	std::unordered_map<const analyze::Thread *, std::size_t> removed_;           // until settle()
};

} // namespace monitor::live
