// SPDX-License-Identifier: MIT
// Names the stacks of windows while the recording runs, in a thread of its own, as reading files and debug information
// may block: the thread that drains the rings must not wait.
// Names and mappings are kept up to a limit; those of ended processes are dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "live_stacks.h"
#include "named_window.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::live {

struct Refresh;

class StackNaming {
public:
	struct Job {
		std::shared_ptr<Refresh> refresh; // the refresh with these stacks
		std::unique_ptr<StackWindow> window;
		std::uint64_t end = 0; // of the window
		std::vector<analyze::MappingToken> mappings;
		std::vector<EndedProcess> ended;
	};
	struct Options {
		std::string directory; // of the trace
		trace::Clock clock;
		StackKinds kinds;
		bool waits_for_names = false; // refreshes wait until look-ups are done
	};
	using PassOn = std::function<void(std::shared_ptr<Refresh>)>;

	// The calling thread must have dropped its privileges.
	StackNaming(Options options, PassOn pass_on);
	~StackNaming();
	StackNaming(const StackNaming &) = delete;

	void name(Job job);
	// Passes on refreshes without names that have waited too long for slow look-ups.
	void pass_on_late();

private:
	using Clock = std::chrono::steady_clock;
	struct Waiting {
		Job job;
		Clock::time_point since;
	};

	void run();
	void start();
	void process(Job &job, std::shared_ptr<Refresh> &refresh);
	void take_mappings(Job &job);
	bool forget_perf_map();
	void forget(std::uint64_t before);
	void pass_on_once(std::shared_ptr<Refresh> &refresh, std::shared_ptr<NamedWindow> named);
	void pass_on(std::shared_ptr<Refresh> &refresh, std::shared_ptr<NamedWindow> named);

	const Options options_;
	const PassOn pass_on_;
	Fd stop_;
	std::unique_ptr<StackWindow> newest_; // its clock converts times
	std::optional<symbols::Symbolizer> symbolizer_;
	std::deque<EndedProcess> ended_;
	Clock::time_point perf_map_read_;
	std::mutex lock_; // protects the following
	std::condition_variable has_work_;
	std::deque<Waiting> waiting_; // the first one is being processed
	bool is_stopping_ = false;
	std::thread thread_;
};

} // namespace monitor::live
