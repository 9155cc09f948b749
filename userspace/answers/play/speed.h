// SPDX-License-Identifier: MIT
// The playing speed of a trace: seconds of the trace per second of real time.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::play {

constexpr std::uint64_t frame_ns = 40'000'000; // 25 frames per second

class Speed {
public:
	// "1/100", "1", "20". Throws Error.
	static Speed parse(const std::string &text);

	// The next of 1, 2, 5, 10, 20 ... or their inverses; unchanged at either end.
	Speed faster() const;
	Speed slower() const;
	// Trace time between frames, at least 1.
	std::uint64_t step_ns() const
	{
		return frame_ns * numerator_ / denominator_ > 0 ? frame_ns * numerator_ / denominator_ : 1;
	}
	std::string text() const;

private:
	constexpr Speed(std::uint64_t numerator, std::uint64_t denominator)
	    : numerator_(numerator), denominator_(denominator)
	{
	}

	std::uint64_t numerator_, denominator_; // one of them is 1
};

} // namespace monitor::play
