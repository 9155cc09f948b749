// SPDX-License-Identifier: MIT
// A temporary progress line on standard error: only on a terminal, and only after half a second.
#pragma once

#include <chrono>
#include <string_view>

#include <unistd.h>

#include "base/note.h"

namespace monitor {

class ProgressLine {
public:
	ProgressLine() = default;
	~ProgressLine() { clear(); }
	ProgressLine(const ProgressLine &) = delete;
	ProgressLine &operator=(const ProgressLine &) = delete;

	void show(std::string_view text)
	{
		const auto now = std::chrono::steady_clock::now();
		if (!is_terminal_ || now < next_)
			return;
		next_ = now + std::chrono::milliseconds(200);
		is_shown_ = true;
		print_note("\r{}\033[K", text);
	}
	void clear()
	{
		if (is_shown_)
			print_note("\r\033[K");
		is_shown_ = false;
	}

private:
	bool is_terminal_ = ::isatty(STDERR_FILENO) != 0, is_shown_ = false;
	std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
};

} // namespace monitor
