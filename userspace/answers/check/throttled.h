// SPDX-License-Identifier: MIT
// The time in which threads were throttled, against the kernel's own (cpu.stat): for each group that has a quota, the
// time on each CPU in which one of its threads or more could not run. Observes the fold, and gets each event once the
// fold has it.
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
	// Once the fold has finished.
	void judge(const trace::Clock &clock, bool is_lossless, Statements &statements) const;

private:
	// A group with a quota; by the kernel, from the start to the end.
	struct Group {
		std::string path;
		std::optional<std::uint64_t> kernel_us; // not known: it was not read at the start, or is gone
		std::uint64_t period_us = 0;
		bool began_before = false; // so it may have been throttled when the recording started
		bool is_shared = false;    // its threads have another quota, too, that was used up
	};
	struct Lane { // of a group on a CPU
		std::optional<std::uint64_t> since;
		std::uint64_t busy = 0;                         // the CPU's, until then
		std::uint64_t ticks = 0, times = 0, behind = 0; // `behind`: while another thread had the CPU
		std::uint64_t open = 0;                         // at the end
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
	std::uint64_t of_no_group_ = 0;   // ticks of threads of which no group with a quota is known
};

} // namespace monitor::check
