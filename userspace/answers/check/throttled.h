// SPDX-License-Identifier: MIT
// Compares the time in which threads were throttled with the kernel's own (cpu.stat): for each group with a quota, the
// time on each CPU in which at least one of its threads could not run. An observer of the fold, which also gets each
// event after the fold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::check {

class ThrottledTime : public TimeObserver {
public:
	// `paths`: of cgroups, by id.
	ThrottledTime(const ThreadFold &fold, const RecordingInfo &info,
		      const std::map<std::uint64_t, std::string> &paths);

	void after(const trace::Event &event);
	void spent(const Cpu &cpu, std::uint64_t from, std::uint64_t to, Mode mode, bool is_idle) override;
	void throttled(const Thread &thread, std::uint64_t from, std::uint64_t to) override;
	// Called once the fold has finished.
	void judge(const trace::Clock &clock, bool is_lossless, Statements &statements) const;

private:
	// A group with a quota; figures are the kernel's, from start to end.
	struct Group {
		std::string path;
		std::optional<std::uint64_t> kernel_us; // empty: not read at the start, or the group is gone
		std::uint64_t period_us = 0;
		bool began_before = false; // it may have been throttled when the recording started
		bool is_shared = false;    // another quota of its threads was used up, too
	};
	struct Lane { // a group on a CPU
		std::optional<std::uint64_t> since;
		std::uint64_t busy = 0; // busy time of the CPU up to then
		std::uint64_t ticks = 0, times = 0,
			      busy_meanwhile = 0; // ticks, throttlings, ticks in which others ran there
		std::uint64_t open = 0;           // open at the end
	};

	void add_groups();
	std::optional<std::size_t> group_of(std::uint64_t cgroup);
	Lane *lane_of(const Thread &thread, std::uint32_t cpu);
	std::uint64_t &busy(std::uint32_t cpu);
	Statement judge_one(std::size_t number, const trace::Clock &clock) const;

	const ThreadFold &fold_;
	const RecordingInfo &info_;
	const std::map<std::uint64_t, std::string> &paths_;
	std::vector<Group> groups_;
	std::map<std::uint64_t, std::optional<std::size_t>> group_of_; // by cgroup
	std::map<std::pair<std::size_t, std::uint32_t>, Lane> lanes_;
	std::vector<std::uint64_t> busy_; // by CPU
	std::uint64_t without_group_ = 0; // ticks of threads without a known group that has a quota
};

} // namespace monitor::check
