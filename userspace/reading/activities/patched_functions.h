// SPDX-License-Identifier: MIT
// Reads what processes report about functions patched in them (record --functions; recording/preload/post.c): which
// functions, and how many events they posted. Added to a ThreadFold beside the Tracker.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/analyze/thread_fold.h"
#include "reading/ctf/description.h"
#include "reading/events/field_ref.h"

namespace monitor::activities {

class PatchedFunctions : public analyze::Observer {
public:
	explicit PatchedFunctions(const trace::Description &description);

	void user_event(const analyze::Thread &thread, const trace::Event &event) override;

	// Whether it was patched in a selected process.
	bool is_patched(std::uint64_t function) const
	{
		return function < patched_.size() && patched_[static_cast<std::size_t>(function)];
	}
	std::uint64_t refused_sleds() const { return refused_; } // sleds whose code differed from the file's
	std::uint64_t events() const { return events_; }         // entries and exits

private:
	static constexpr std::uint64_t max_functions = 1 << 16;

	std::vector<bool> is_report_, is_call_; // by class index: reports of patching; entries and exits
	trace::FieldRef first_, functions_, refused_sleds_;
	std::vector<bool> patched_; // by number
	std::uint64_t refused_ = 0, events_ = 0;
};

} // namespace monitor::activities
