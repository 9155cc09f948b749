// SPDX-License-Identifier: MIT
// Limits the rate of messages about fired triggers per sending host, by a token bucket each: a host that floods costs
// neither time nor lines in the journal. Invariant: per host at most `burst` messages at once and `per_second` in the
// long run pass; at most max_hosts are tracked, and messages of further hosts are dropped.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace monitor::agent {

class SenderRateLimit {
public:
	using Clock = std::chrono::steady_clock;
	static constexpr double burst = 16, per_second = 4;
	static constexpr std::size_t max_hosts = 1024;
	static constexpr std::chrono::seconds quiet{60}; // without a dropped message the excess has ended

	bool use(const std::string &host, Clock::time_point now)
	{
		if (!hosts_.contains(host) && hosts_.size() >= max_hosts) {
			std::erase_if(hosts_, [&](const auto &entry) { return entry.second.is_full(now); });
			if (hosts_.size() >= max_hosts)
				return false;
		}
		Bucket &bucket = hosts_.try_emplace(host, Bucket{burst, now, 0, {}}).first->second;
		bucket.fill(now);
		if (bucket.tokens >= 1) {
			--bucket.tokens;
			return true;
		}
		if (++bucket.suppressed == 1)
			messages_.push_back(fmt::format(
			    "host {} says too often that triggers fire there: most of it is passed over", host));
		bucket.last_suppressed = now;
		return false;
	}

	// Messages since the last call: two per host and excess, for its start and its end.
	std::vector<std::string> take_messages(Clock::time_point now)
	{
		for (auto &[host, bucket] : hosts_)
			if (bucket.suppressed > 0 && now - bucket.last_suppressed >= quiet)
				messages_.push_back(
				    fmt::format("host {} said {} times too often that triggers fire there", host,
						std::exchange(bucket.suppressed, 0)));
		return std::exchange(messages_, {});
	}

private:
	struct Bucket {
		double tokens;
		Clock::time_point filled;
		std::uint64_t suppressed;
		Clock::time_point last_suppressed;

		void fill(Clock::time_point now)
		{
			const double seconds = std::chrono::duration<double>(now - std::exchange(filled, now)).count();
			tokens = std::min(burst, tokens + seconds * per_second);
		}
		bool is_full(Clock::time_point now) const
		{
			Bucket then = *this;
			then.fill(now);
			return suppressed == 0 && then.tokens >= burst;
		}
	};
	std::map<std::string, Bucket> hosts_;
	std::vector<std::string> messages_;
};

} // namespace monitor::agent
