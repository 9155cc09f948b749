// SPDX-License-Identifier: MIT
// What a path is followed through: the stretches of a trace's threads. A path may go on after the time that is wanted
// of it, and what ended its sleeps comes later: then they are those of a fold of its own, for which the trace is read
// again.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stretches.h"

namespace monitor::path {

class PathFold {
public:
	// `window`: of the time that is wanted; must outlive this. `goes_on`: the path may end after it.
	PathFold(const trace::Trace &trace, const analyze::RecordingInfo &info, analyze::ThreadFold &window,
		 bool goes_on);
	PathFold(const PathFold &) = delete;

	analyze::ThreadFold &fold() { return whole_ ? *whole_ : window_; }
	Stretches &stretches() { return stretches_; }
	// Gets each event once fold() has it.
	void observe(std::function<void(const trace::Event &)> observer) { observers_.push_back(std::move(observer)); }

	// Each event, once the window's fold has it; then all of them were.
	void event(const trace::Event &event)
	{
		if (!whole_)
			after(event);
	}
	void finish();

private:
	void after(const trace::Event &event);

	const trace::Trace &trace_;
	analyze::ThreadFold &window_;
	std::optional<analyze::ThreadFold> whole_;
	Stretches stretches_;
	std::vector<std::function<void(const trace::Event &)>> observers_;
};

} // namespace monitor::path
