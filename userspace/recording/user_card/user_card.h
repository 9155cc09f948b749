// SPDX-License-Identifier: MIT
// The recorder's side of the user card: gives each instrumented process shared memory with a ring per CPU, and drains
// it. Protocol and memory: include/monitor/user_ring.h.
//
// The card itself answers processes; its parts are the table of processes that have rings (user_process_table.h), the
// classes that they declared (user_known_classes.h), and the drain of their rings (user_drain.h). Two threads: the
// card's own thread answers processes and watches for their end; the drain thread calls drain(). A briefly held lock
// protects the parts. Next in the flow: recording/rings/drain.cpp. Invariant: a class is described in the trace before
// the process that declares it gets its id.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "monitor/card.h"
#include "user_counts.h"
#include "user_drain.h"
#include "user_filter.h"
#include "user_known_classes.h"
#include "user_module.h"
#include "user_options.h"
#include "user_process_table.h"

namespace monitor::card {

class UserCard {
public:
	// Opens a listening socket with its own name, and with `everyone` the well-known one, unless another recorder
	// has it: then it gets the events of its own command only. Throws Error.
	explicit UserCard(const UserCardOptions &options);
	~UserCard() { stop(); }

	// The other recorder to which all programs but this one's command post; 0: none.
	pid_t other_recorder() const { return other_recorder_; }
	// For EDC_ENVIRONMENT of the command.
	const std::string &socket_name() const { return name_; }

	// Starts to answer. `ticks_per_second`: of the trace clock. `free_descriptors`: how many it may use. `on_class`
	// is called in the card's thread when there are new classes, at most a few times a second.
	void start(std::uint64_t ticks_per_second, std::size_t free_descriptors,
		   std::function<void(const std::vector<UserClass> &)> on_class);
	// Called when a process got rings, and when a ring became half full: the drain thread should run. In threads
	// of the card.
	void set_on_arrival(std::function<void()> on_arrival) { on_arrival_ = std::move(on_arrival); }
	// Gives out no more rings, and notifies processes with rings from the recorder of its end.
	void stop();

	// Drain thread: takes every closed block; with `last` the open ones too. Returns the highest fill of any ring,
	// in thousandths rounded up.
	using MakeStream = UserDrain::MakeStream;
	using Push = UserDrain::Push;
	unsigned drain(bool last, const MakeStream &make_stream, const Push &push, const Push &show = {});
	// Called in the drain thread when events of programs made triggers fire.
	void set_on_fired(std::function<void(const std::vector<ProgramFiring> &)> on_fired)
	{
		on_fired_ = std::move(on_fired);
	}
	// Drain thread: all events before this time were pushed or shown by the last drain().
	std::uint64_t complete_before() const { return drain_.complete_before(); }

	// Drain thread: how soon the next drain() must follow, whether or not a program sends a wake-up.
	std::chrono::nanoseconds longest_wait() const;

	// After the last drain(): whether all rings are empty.
	bool all_taken() const;

	// The processes that got rings since the last call, with their names, if name_processes is set: for traces
	// without the kernel's events, which also name them.
	std::vector<edc_task> take_arrived();

	// With options.functions: how many events of each there were in what was taken.
	std::vector<std::uint64_t> function_events() const;
	// Makes processes stop posting this function, from the next drain() on.
	void leave_out_function(std::size_t number);

	std::vector<UserClass> classes() const;
	UserCounts counts() const;

private:
	using Clock = std::chrono::steady_clock;
	struct Answer {
		Fd caller;
		edc_welcome welcome;
		std::vector<std::uint16_t> ids;
		Fd memory;
	};

	void serve_until_stopped();
	void serve();
	int wait_ms() const;
	void accept_caller(int listener);
	void answer_request(Fd caller);
	void describe();
	void learn_classes();
	void notify_arrival() const;

	const UserCardOptions options_;
	const pid_t other_recorder_;
	std::string name_;
	std::vector<Fd> listeners_;
	std::unique_ptr<UserModule> module_; // null: none
	Fd stop_, new_classes_;              // the second: the drain thread met new classes
	std::function<void(const std::vector<UserClass> &)> on_class_;
	std::function<void()> on_arrival_;
	std::function<void(const std::vector<ProgramFiring> &)> on_fired_;
	std::vector<Fd> callers_;                       // from here to listen_at_: the card's thread only
	std::vector<Answer> answers_;                   // pending until their classes are described
	bool undescribed_ = false;                      // the description lacks some classes
	Clock::time_point describe_at_{}, listen_at_{}; // not earlier
	std::thread thread_;
	mutable std::mutex lock_; // of all members below
	KnownClasses classes_;
	ProcessTable processes_;
	FunctionEvents functions_;
	UserFilter filter_;
	UserDrain drain_; // last: the thread of its wake-ups uses on_arrival_
};

} // namespace monitor::card
