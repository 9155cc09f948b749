// SPDX-License-Identifier: MIT
// The stretches through which a path is followed. A path may go on after the wanted time, and then what ended its
// sleeps is found later in the trace: for that the trace is read again, into a fold without that end.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stretches.h"

namespace monitor::path {

class PathFold {
public:
	// `window`: the fold of the wanted time; must outlive this. `goes_on`: the path may end after that time.
	PathFold(const trace::Trace &trace, const analyze::RecordingInfo &info, analyze::ThreadFold &window,
		 bool goes_on);
	PathFold(const PathFold &) = delete;

	analyze::ThreadFold &fold() { return whole_ ? *whole_ : window_; }
	Stretches &stretches() { return stretches_; }
	// Gets each event once fold() has it.
	void observe(std::function<void(const trace::Event &)> observer) { observers_.push_back(std::move(observer)); }

	// Each event, after the window's fold has it. After the last one, finish().
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
