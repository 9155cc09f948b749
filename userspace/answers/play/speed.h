// SPDX-License-Identifier: MIT
// How fast a trace is played: seconds of the trace per second of the one who looks.
#pragma once

#include <cstdint>
#include <string>

namespace monitor::play {

constexpr std::uint64_t frame_ns = 40'000'000; // 25 frames per second

class Speed {
public:
	// "1/100", "1", "20". Throws Error.
	static Speed parse(const std::string &text);

	// The next one of 1, 2, 5, 10, 20 ... or of their inverses; the same at either end.
	Speed faster() const;
	Speed slower() const;
	// Of the trace from one frame to the next, at least 1.
	std::uint64_t step_ns() const { return frame_ns * times_ / parts_ > 0 ? frame_ns * times_ / parts_ : 1; }
	std::string text() const;

private:
	constexpr Speed(std::uint64_t times, std::uint64_t parts) : times_(times), parts_(parts) {}

	std::uint64_t times_, parts_; // one of them is 1
};

} // namespace monitor::play
