// SPDX-License-Identifier: MIT
#include "judgement_cost.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "base/clock_ns.h"

namespace monitor::matcher {

double judgement_ns(const EventMatcher &matcher, unsigned id)
{
	constexpr int rounds = 15, events = 4000;
	std::mt19937_64 random(1);
	std::vector<double> ns;
	std::vector<std::array<__u64, EDC_MATCH_VALUES>> values(events);
	for (auto &event : values)
		std::ranges::generate(event, [&] { return random() >> random() % 64; });
	std::uint64_t kept = 0;
	__u64 counts[EDC_MATCH_COUNTS] = {};
	for (int round = 0; round < rounds; ++round) {
		auto of_round = values;
		const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
		for (auto &event : of_round)
			kept += matcher.judge(id, event.data(), counts);
		ns.push_back(static_cast<double>(clock_ns(CLOCK_MONOTONIC) - start) / events);
	}
	asm volatile("" : : "r"(kept));
	std::ranges::nth_element(ns, ns.begin() + rounds / 2);
	return ns[rounds / 2];
}

} // namespace monitor::matcher
