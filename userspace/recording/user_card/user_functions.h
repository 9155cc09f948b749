// SPDX-License-Identifier: MIT
// Patched functions (recording/preload/) under record --budget: counts their events, and notifies processes of the
// functions that must stop posting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "monitor/user_ring.h"
#include "user_known_classes.h"

namespace monitor::card {

class FunctionEvents {
public:
	// `functions`: how many there are; 0: nothing is counted.
	FunctionEvents(std::size_t functions, const KnownClasses &classes) : classes_(classes), events_(functions) {}

	// Counts the events of a validated block.
	void count(const std::byte *block);
	// By the function's number, so far.
	const std::vector<std::uint64_t> &events() const { return events_; }

	void leave_out(std::size_t number);
	// Copies the set of left-out functions into the area, if there are any.
	void write_left_out(edc_user_area &area) const;

private:
	void find_classes();

	const KnownClasses &classes_;
	std::size_t known_ = 0;              // classes that were looked at
	std::uint32_t entry_ = 0, exit_ = 0; // their ids; 0: none
	std::vector<std::uint64_t> events_;
	bool any_left_out_ = false;
	std::uint64_t left_out_[EDC_FUNCTION_WORDS] = {}; // as in the area
};

} // namespace monitor::card
