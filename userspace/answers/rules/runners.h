// SPDX-License-Identifier: MIT
// Finds threads that run without a switch to them, because a thread that the kernel hides from tracing ran before them.
// Such a thread's earlier activity was not seen, so judges drop what they know about it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "reading/events/event.h"
#include "reading/events/field_ref.h"
#include "reading/events/threads.h"

namespace monitor::rules {

class Runners {
public:
	explicit Runners(const trace::Description &description) : next_(description.classes().size())
	{
		for (const trace::EventClass *cls : description.find("sched_switch"))
			if (cls->size_bytes != 0 && cls->find("next_pid"))
				next_[cls->index] = trace::FieldRef(*cls, "next_pid");
	}

	// Whether the event shows that `running` is such a thread. Called in time order.
	bool is_unseen_switch(const trace::Event &event, std::int64_t running)
	{
		if (!event.is_token() || !event.has_cpu() || event.stream->is_user() ||
		    running == trace::Threads::unknown)
			return false;
		std::int64_t &expected =
		    expected_.try_emplace({event.stream->machine, event.cpu()}, trace::Threads::unknown).first->second;
		const bool found = expected != running;
		const trace::FieldRef &next = next_[event.cls->index];
		expected = next ? next.get<std::int32_t>(event) : running;
		return found;
	}

private:
	std::vector<trace::FieldRef> next_;                                        // of switches, by class index
	std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> expected_; // by machine and CPU
};

} // namespace monitor::rules
