// SPDX-License-Identifier: MIT
// The requests of a trace: events of programs that have the same values of a key. From its first event to its last one
// a request passes from thread to thread: between two of its events it is with the thread that posted the later one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "chosen_activities.h"
#include "reading/activities/keys.h"

namespace monitor::path {

class ChosenRequests final : public analyze::Observer {
public:
	// Adds itself to the fold; both must outlive it. `names` as in `report requests --key`. Throws Error: no event
	// has them, or they mean another thing on each host.
	ChosenRequests(const trace::Trace &trace, analyze::ThreadFold &fold, const std::string &names);

	void user_event(const analyze::Thread &thread, const trace::Event &event) override;
	// After the last event: the way of each request that is within the fold's window. Throws Error if there are
	// none.
	std::vector<std::vector<ChosenActivities::ThreadRange>> finish(const Stretches &stretches);

private:
	struct Passed {
		const analyze::Thread *thread;
		std::uint64_t time;
	};

	const analyze::ThreadFold &fold_;
	const std::string names_;
	activities::Keys keys_;
	std::unordered_map<std::string, std::vector<Passed>> requests_;
	std::uint64_t events_ = 0;
};

} // namespace monitor::path
