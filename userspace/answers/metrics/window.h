// SPDX-License-Identifier: MIT
// The changes of a window of a running recording to the figures of `monitor serve`. Filled by observers of the fold
// during the window, read at its end; next in the flow: metrics.cpp.
// Latencies are kept by thread and cgroup until then, because a thread's command is only known at the end. Invariant:
// the changes add up to what the fold counted, in each figure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "answers/live/live_fold.h"
#include "figures.h"

namespace monitor::metrics {

using CgroupPaths = std::map<std::uint64_t, std::string>; // by id

struct Changes {
	std::map<Owner, Rows::Change> rows;
	std::map<OwnerCall, Calls::Change> calls;
	CallFigures other_calls;
	RowFigures idle, unknown, unselected; // rows that always exist; `idle`: interrupts while idle
	std::uint64_t idle_switches = 0;      // away from the idle thread
	live::MachineTotals totals;
	bool has_unnamed_cgroups = false;
};

class Window final : public analyze::Observer {
public:
	explicit Window(const live::LiveFold &fold) : fold_(fold), scale_(fold.clock()) {}

	// The changes of the window that has ended; the next one begins empty.
	Changes take(const CgroupPaths &paths);

private:
	static constexpr std::size_t max_latencies = 1 << 16; // of threads and calls, per window

	struct ThreadCall {
		const analyze::Thread *thread;
		std::uint64_t cgroup;
		std::uint32_t call;

		bool operator==(const ThreadCall &) const = default;
	};
	struct RowKey {
		std::uint64_t cgroup;
		const analyze::Thread *thread; // or its process's leader

		bool operator==(const RowKey &) const = default;
	};
	template <class First> static std::size_t hash_of(const First *first, std::uint64_t second)
	{
		return std::hash<const void *>()(first) ^ second * std::size_t{0x9e3779b97f4a7c15};
	}
	struct CallHash {
		std::size_t operator()(const ThreadCall &of) const
		{
			return hash_of(of.thread, of.call ^ of.cgroup << 16);
		}
	};
	struct KeyHash {
		std::size_t operator()(const RowKey &key) const { return hash_of(key.thread, key.cgroup); }
	};
	struct ThreadSums {
		analyze::Usage usage;
		Latency run_queue;
	};

	void got_cpu(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to) override;
	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override;

	void refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t end,
			  std::int64_t result) override;
	CallFigures &figures_of(const analyze::Thread &thread, std::uint32_t call);

	RowFigures figures(const analyze::Usage &usage) const;
	RowKey process_of(const analyze::Thread &thread, std::uint64_t cgroup) const;
	analyze::Usage unattributed_usage(const live::MachineTotals &totals, const analyze::Usage &threads);
	void take_calls(Changes &changes, const std::unordered_map<RowKey, Owner, KeyHash> &names);

	const live::LiveFold &fold_;
	const LatencyScale scale_;
	std::unordered_map<RowKey, Latency, KeyHash> run_queue_;
	std::unordered_map<ThreadCall, CallFigures, CallHash> calls_;
	CallFigures other_calls_; // beyond the limit
	analyze::Usage debt_;     // excess of threads over all CPUs, subtracted from what no thread has
};

} // namespace monitor::metrics
