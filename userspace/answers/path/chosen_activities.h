// SPDX-License-Identifier: MIT
// The activities of one name that have ended, system calls or those of programs: each may have a path.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/activities/tracker.h"
#include "stretches.h"

namespace monitor::path {

class ChosenActivities final : public activities::Observer {
public:
	struct ThreadRange {
		std::uint32_t thread; // index in Stretches::threads()
		trace::TimeRange range;
	};
	enum class Of : std::uint8_t { calls, programs };

	// Adds itself to the fold, which must outlive it.
	ChosenActivities(const analyze::FoldInput &input, analyze::ThreadFold &fold, Of of, std::string name);

	void finished(const activities::Finished &activity) override;
	// After the last event. Those within the fold's window; `in_tree`: only of the recorded command. Throws Error
	// if there are none.
	std::vector<ThreadRange> finish(const Stretches &stretches, bool in_tree);
	const std::string &name() const { return name_; }

private:
	struct Ended {
		const analyze::Thread *thread;
		std::uint64_t begin, end;
	};

	const analyze::ThreadFold &fold_;
	const Of of_;
	const std::string name_;
	activities::Tracker tracker_;
	std::unordered_map<std::uint32_t, bool> is_named_;
	std::vector<Ended> all_;
};

} // namespace monitor::path
