// SPDX-License-Identifier: MIT
// A history that animations are tested with. Used by test_play.cpp and test_scenes.cpp.
#pragma once

#include <cstring>

#include "history.h"

namespace history {

inline void creates(History &history, std::uint64_t time, std::int32_t tid, std::int32_t parent, const char *name,
		    unsigned cpu = 0)
{
	std::uint64_t words[2] = {};
	std::strncpy(reinterpret_cast<char *>(words), name, sizeof words);
	history.cpu(0).post(time, EDC_ID_SCHED_WAKEUP_NEW, cpu,
			    {pair(tid, tid), pair(parent, 120), words[0], words[1]});
}

// A pipe between two threads, a third one that only computes, and a loss on CPU 1 from 700 to 800.
inline History pipe_history(const char *third = "burner")
{
	History history;
	history.cpu(1);
	creates(history, 10, 7, 1, "writer");
	creates(history, 20, 8, 1, "reader", 1);
	creates(history, 30, 9, 1, third);
	history.switches(0, 40, 0, 0, 7);
	history.switches(1, 50, 0, 0, 8);
	history.posts(1, 60, EDC_ID_SYS_ENTER, 0);
	history.switches(1, 100, 8, sleeping, 0);
	history.wakes(0, 200, 8);
	history.switches(1, 220, 0, 0, 8);
	history.posts(1, 230, EDC_ID_SYS_EXIT, 1);
	history.switches(0, 300, 7, running, 9);
	history.posts(0, 350, EDC_ID_SOFTIRQ_ENTRY, 1);
	history.posts(0, 360, EDC_ID_SOFTIRQ_EXIT, 1);
	history.cpu(1).post(700, EDC_ID_SYS_EXIT, 0);
	history.cpu(1).open(800, 5);
	history.switches(1, 850, 8, sleeping, 0);
	history.switches(0, 900, 9, running, 7);
	history.posts(1, 1000, EDC_ID_SOFTIRQ_ENTRY, 1);
	return history;
}

} // namespace history
