// SPDX-License-Identifier: MIT
#include "virtual_fold.h"

#include <utility>

#include <unistd.h>

#include "recording/card/classes.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::live {
namespace {

// As in a running recording: the recorder is this process, and any class may occur.
analyze::RecordingInfo as_running(analyze::RecordingInfo info, const trace::Description &description)
{
	info.recorder.pid = record::own_kernel_pid();
	info.classes.clear();
	for (const auto &cls : description.classes())
		if (std::string family = card::family_of(cls->name); !family.empty())
			info.classes.push_back({.id = static_cast<unsigned>(cls->id),
						.name = cls->name,
						.family = std::move(family),
						.seen = 1});
	return info;
}

} // namespace

VirtualFold::VirtualFold(analyze::ThreadFold &fold, const analyze::RecordingInfo &info,
			 const trace::Description &description)
    : cost_(cost::live_virtual_cost(as_running(info, description), description.clock)),
      is_known_(cost_.why_not.empty()), times_(fold, as_running(info, description), cost_)
{
	fold.add(times_);
}

} // namespace monitor::live
