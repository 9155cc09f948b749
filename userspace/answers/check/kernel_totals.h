// SPDX-License-Identifier: MIT
// Compares the tokens of the whole machine with the kernel's independent totals: /proc/stat's context switches,
// interrupts, softirqs and thread creations, and cpuidle's states; and checks that idle states alternate. Reports what
// no total confirms. Part of check.cpp, which feeds it every event in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check.h"
#include "reading/analyze/event_kinds.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"

namespace monitor::check {

// Interrupts in /proc/stat that no probe can see or that some kernels count twice.
struct OtherInterrupts {
	std::uint64_t unprobed = 0, shootdowns = 0;
};
OtherInterrupts other_interrupts(const KernelCounts &start, const KernelCounts &end);

// When a 32-bit count starts again, a sum is less by 2^32, so it goes back by at least this or as many were counted.
inline constexpr std::uint64_t many_counted = 1ull << 31;

// A count of /proc/stat that is less at the end than at the start; none: it is not. `sums_32_bits`: the kernel adds up
// 32-bit counts of the CPUs, one of which may have started again. `counted`: by the probes meanwhile.
std::optional<Statement> judge_step_back(const char *id, const char *what, std::uint64_t start, std::uint64_t end,
					 bool sums_32_bits, std::uint64_t counted = 0);

class KernelTotals {
public:
	KernelTotals(const trace::Description &description, const EventKinds &kinds, const RecordingInfo &info);

	void event(const trace::Event &event);

	// Only for a trace without losses. `hidden`: the kernel hides some threads from the probes, so tokens may be
	// fewer.
	void judge(bool hidden, Statements &statements) const;

private:
	// The kernel's count lies between two reads, each of which took some time: events certainly or possibly within
	// it.
	struct Window {
		std::uint64_t start_before = 0, start_after = 0, end_before = 0, end_after = 0;
	};
	struct Tally {
		std::uint64_t inner = 0, outer = 0;
		void add(const Window &window, std::uint64_t time);
		void add(const Window &window, std::uint64_t time, std::uint64_t token_before);
	};
	struct OnCpu {
		std::uint64_t last_token = 0;
		bool idle_known = false, idle = false;
		std::uint64_t faults_begun = 0, faults_completed = 0;
	};

	OnCpu *cpu_of(const trace::Event &event);
	void on_idle(const trace::Event &event, OnCpu &cpu);
	static Statement compare(const char *id, const std::string &text, bool too_few, bool too_many, bool hidden);
	void judge_stat(bool hidden, Statements &statements) const;
	void judge_interrupts(bool hidden, Statements &statements) const;
	void judge_idle(Statements &statements) const;
	void judge_faults(Statements &statements) const;
	void judge_unwitnessed(Statements &statements) const;

	const EventKinds &kinds_;
	const RecordingInfo &info_;
	const trace::EventClass *idle_class_ = nullptr;
	trace::FieldRef idle_state_;
	Window stat_, stat_exactly_, idle_;
	Tally switches_, interrupts_, softirqs_, thread_creations_, idle_ends_;
	std::vector<OnCpu> cpus_;
	std::uint64_t idle_tokens_ = 0, idle_wrong_ = 0;
};

} // namespace monitor::check
