// SPDX-License-Identifier: MIT
// What the recorder counted of instrumented programs (`user_card`).
#pragma once

#include "fields.h"

namespace monitor::recording_file {

// Losses that only the process itself can count.
struct UserClaim {
	std::int64_t process = 0;
	std::uint64_t discarded = 0; // discarded by its full rings
	std::uint64_t early = 0;     // before it had rings
	bool possible = true;        // false: implausible, more than all CPUs can post; excluded from the sums

	std::uint64_t lost() const { return discarded + early; }

	void fields(auto &v) { v("process", process, "discarded", discarded, "early", early, "possible", possible); }
};

struct FilteredClass {
	std::uint32_t id = 0;
	std::uint64_t filtered = 0;

	void fields(auto &v) { v("id", id, "filtered", filtered); }
};

struct UserInfo {
	std::uint64_t processes = 0; // that got rings
	std::uint64_t by_device = 0; // of these, from the kernel module
	std::uint64_t refused = 0;   // that got none
	std::uint64_t unanswered =
	    0; // that ended or executed another program before they got an answer: their events are not counted
	std::uint64_t not_searched = 0; // already running and not searchable
	std::uint64_t tokens = 0;       // that were taken, without `thread` tokens
	std::uint64_t discarded = 0;    // by full rings, as the processes report, and holes of the shared ones
	std::uint64_t early = 0;        // before the rings existed, as the processes report; or of refused classes
	std::uint64_t filtered = 0;     // by --filter
	std::vector<FilteredClass> filtered_by_class;
	std::uint64_t damaged = 0; // blocks with an error in them
	std::string damage;        // the first error, and whose it was
	std::uint64_t classes = 0, classes_refused = 0;
	std::string why_refused;  // the first class
	std::uint64_t claims = 0; // processes that report lost events
	std::vector<UserClaim> largest_claims;

	void fields(auto &v)
	{
		v("processes", processes, "by_device", by_device, "refused", refused, "tokens", tokens, "discarded",
		  discarded, "early", early, "damaged", damaged, "damage", damage, "classes", classes,
		  "classes_refused", classes_refused, "why_refused", why_refused, "unanswered", unanswered,
		  "not_searched", not_searched, "filtered", filtered, "claims", claims);
		v.if_set("filtered_by_class", filtered_by_class);
		v("largest_claims", largest_claims);
	}
};

} // namespace monitor::recording_file
