// SPDX-License-Identifier: MIT
// Compares user tokens, whose times are direct TSC reads, with kernel tokens: a thread posts only while it runs on that
// CPU outside of system calls. So every user token near a call or a switch verifies the probes' times. Part of
// check.cpp, which feeds it every event in order, before ThreadFold gets it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "check.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::check {

class UserTimes : public analyze::Observer {
public:
	explicit UserTimes(const ThreadFold &fold) : fold_(fold) {}

	void event(const trace::Event &event);
	void gap(const trace::StreamInfo &stream);
	void user_event(const Thread &thread, const trace::Event &event) override;
	void system_call(const Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override;

	// `allowed`: the bound of a kernel token's time.
	void judge(std::uint64_t allowed, const trace::Clock &clock, Statements &statements) const;

private:
	// A token of a thread that does not run there, according to the switches; waits for the CPU's next switch.
	struct Waiting {
		std::int32_t tid;
		std::uint64_t time, since_out;
	};
	struct OnCpu {
		std::int32_t running = -1; // unknown
		std::vector<Waiting> waiting;
		std::unordered_map<std::int32_t, std::uint64_t> out; // when each thread was last switched out
	};
	struct InCall {
		std::uint64_t entry = 0;
		std::vector<std::uint64_t> times;
	};

	OnCpu *cpu(const trace::Event &event);
	void on_switch(OnCpu &cpu, std::int32_t prev, std::int32_t next, std::uint64_t time);
	void note_violation(std::uint64_t ticks, std::uint64_t time);

	const ThreadFold &fold_;
	std::vector<OnCpu> cpus_;
	std::unordered_map<const Thread *, InCall> in_call_;
	std::uint64_t tokens_ = 0, calls_ = 0, largest_ = 0, largest_time_ = 0;
};

} // namespace monitor::check
