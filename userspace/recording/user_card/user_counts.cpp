// SPDX-License-Identifier: MIT
#include "user_counts.h"

#include <algorithm>

namespace monitor::card {

void UserCounts::add(const UserClaim &added)
{
	early += added.early;
	discarded += added.discarded;
	if (added.lost() == 0 && added.possible)
		return;
	const auto known = std::ranges::find(largest_claims, added.process, &UserClaim::process); // another card's
	if (known != largest_claims.end()) {
		known->discarded += added.discarded;
		known->early += added.early;
		known->possible &= added.possible;
	} else {
		++claims;
		largest_claims.push_back(added);
	}
	std::ranges::stable_sort(largest_claims, [](const UserClaim &a, const UserClaim &b) {
		return a.possible != b.possible ? b.possible : a.lost() > b.lost();
	});
	largest_claims.resize(std::min(largest_claims.size(), max_claims_kept));
}

} // namespace monitor::card
