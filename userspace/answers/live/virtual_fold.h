// SPDX-License-Identifier: MIT
// Virtual times (reading/cost/virtual_times.h) of consecutive windows: each begins like a recording that begins there.
#pragma once

#include "reading/analyze/recording_info.h"
#include "reading/analyze/thread_fold.h"
#include "reading/cost/virtual_cost.h"
#include "reading/cost/virtual_times.h"
#include "reading/ctf/description.h"

namespace monitor::live {

class VirtualFold {
public:
	// `info`: as known at the start of the recording.
	VirtualFold(analyze::ThreadFold &fold, const analyze::RecordingInfo &info,
		    const trace::Description &description);
	VirtualFold(const VirtualFold &) = delete;
	VirtualFold &operator=(const VirtualFold &) = delete;

	void event(const trace::Event &event)
	{
		if (is_known_)
			times_.event(event);
	}
	void begin_window()
	{
		is_known_ = cost_.why_not.empty();
		times_.begin_window();
	}
	// Events are missing in this window, so the total cost is unknown.
	void lose() { is_known_ = false; }

	bool is_known() const { return is_known_; }
	const cost::VirtualCost &cost() const { return cost_; }
	const cost::VirtualTimes &times() const { return times_; }

private:
	const cost::VirtualCost cost_;
	bool is_known_;
	cost::VirtualTimes times_;
};

} // namespace monitor::live
