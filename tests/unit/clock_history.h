// SPDX-License-Identifier: MIT
// Two clocks whose relation is known, and messages between them: a rate that differs and wanders, delays that differ by
// direction, steps of either clock. For the tests of clock lines; times in seconds are those of no clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "fleet/clocks/clock_exchanges.h"

namespace clock_history {

struct Wander {
	double rate_ppm = 0;         // at the start
	double change_ppm_per_s = 0; // up or down, all the time
	double turns_after_s = 1;    // on average
	double step_at_s = 0;        // 0: none
	double host_step_s = 0, reference_step_s = 0;
	double back_after_s = 1e9; // after the step
};

// The clock of the host, in ticks, and the reference, in ns.
class Clocks {
public:
	Clocks(std::mt19937_64 &random, const Wander &wander, double seconds, std::uint64_t frequency_hz)
	    : wander_(wander), frequency_hz_(static_cast<double>(frequency_hz))
	{
		double rate = wander.rate_ppm * 1e-6, change = wander.change_ppm_per_s * 1e-6, host = 0;
		std::bernoulli_distribution turns(part_s / wander.turns_after_s);
		for (double at = 0; at < seconds; at += part_s) {
			if (turns(random) || std::abs(rate) > 200e-6)
				change = std::abs(rate) > 200e-6 ? std::copysign(change, -rate) : -change;
			parts_.push_back({host, rate, change});
			host += part_s * (1 + rate) + change * part_s * part_s / 2;
			rate += change * part_s;
		}
	}

	std::uint64_t ticks(double s) const
	{
		const auto number = std::min(static_cast<std::size_t>(std::max(s, 0.0) / part_s), parts_.size() - 1);
		const Part &part = parts_[number];
		const double d = s - static_cast<double>(number) * part_s;
		const long double host = part.host + d * (1 + part.rate) + part.change * d * d / 2 +
					 (has_stepped(s) ? wander_.host_step_s : 0);
		return host_origin + static_cast<std::uint64_t>(static_cast<std::int64_t>(
					 std::floor(host * static_cast<long double>(frequency_hz_))));
	}
	std::int64_t ns(double s) const
	{
		return reference_origin + static_cast<std::int64_t>(
					      std::floor((s + (has_stepped(s) ? wander_.reference_step_s : 0)) * 1e9));
	}
	bool has_stepped(double s) const
	{
		return wander_.step_at_s > 0 && s >= wander_.step_at_s && s < wander_.step_at_s + wander_.back_after_s;
	}

private:
	static constexpr double part_s = 1.0 / 128;
	static constexpr std::uint64_t host_origin = 1'000'000'000'000'000;
	static constexpr std::int64_t reference_origin = 1'700'000'000'000'000'000;

	struct Part {
		double host, rate, change;
	};
	Wander wander_;
	double frequency_hz_;
	std::vector<Part> parts_;
};

struct Delays {
	double min_us = 10, there_us = 20, back_us = 20; // the means of what comes on top
	double between_ms = 100;
};

inline std::vector<monitor::fleet::ClockExchange> exchanges(std::mt19937_64 &random, const Clocks &clocks,
							    const Delays &delays, double seconds)
{
	std::exponential_distribution<double> there(1e6 / delays.there_us), back(1e6 / delays.back_us);
	std::uniform_real_distribution<double> between(0, 2e-3 * delays.between_ms);
	std::vector<monitor::fleet::ClockExchange> all;
	for (double sent = 0.01; sent < seconds - 0.1; sent += between(random)) {
		const double arrived = sent + delays.min_us * 1e-6 + there(random), answered = arrived + 3e-6;
		const double received = answered + delays.min_us * 1e-6 + back(random);
		all.push_back({clocks.ticks(sent), clocks.ns(arrived), clocks.ns(answered), clocks.ticks(received)});
	}
	return all;
}

} // namespace clock_history
