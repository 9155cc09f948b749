// SPDX-License-Identifier: MIT
// Each user's share of a common table. A user other than root gets at most as much as is left for others, so that one
// user's mappings do not cost everybody else's stacks.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace monitor::stacks {

class UserShares {
public:
	explicit UserShares(std::uint64_t size) : size_(size) {}

	bool take(std::uint32_t user, std::uint64_t amount)
	{
		const auto found = used_.find(user);
		const std::uint64_t own = found == used_.end() ? 0 : found->second, left = size_ - all_;
		if (amount > left || (user != 0 && own + amount > left))
			return false;
		all_ += amount;
		used_[user] += amount;
		return true;
	}
	void give_back(std::uint32_t user, std::uint64_t amount)
	{
		all_ -= amount;
		if ((used_[user] -= amount) == 0)
			used_.erase(user);
	}

private:
	std::uint64_t size_, all_ = 0;
	std::unordered_map<std::uint32_t, std::uint64_t> used_;
};

} // namespace monitor::stacks
