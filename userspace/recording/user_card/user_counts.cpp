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
	const auto known = std::ranges::find(claim, added.process, &UserClaim::process); // another card's
	if (known != claim.end()) {
		known->discarded += added.discarded;
		known->early += added.early;
		known->possible &= added.possible;
	} else {
		++claims;
		claim.push_back(added);
	}
	std::ranges::stable_sort(claim, [](const UserClaim &a, const UserClaim &b) {
		return a.possible != b.possible ? b.possible : a.lost() > b.lost();
	});
	claim.resize(std::min(claim.size(), max_claims_kept));
}

} // namespace monitor::card
