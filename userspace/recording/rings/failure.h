// SPDX-License-Identifier: MIT
// Why a recording cannot continue: its threads report it here, and its main thread is woken. The first report counts.
// Reporting allocates no memory, because memory may be what is missing.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/sentence.h"

namespace monitor::record {

class Failure {
public:
	// Throws Error.
	Failure();

	// Any thread.
	template <class... Arguments> void report(fmt::format_string<Arguments...> sentence, Arguments &&...arguments)
	{
		report_formatted(sentence, fmt::make_format_args(arguments...));
	}
	void report(const std::exception &error) { report("{}", sentence_of(error)); }

	// A thread whose exceptions are reported.
	template <class Run> std::thread watched(Run run)
	{
		return std::thread([this, run] {
			try {
				run();
			} catch (const std::exception &error) {
				report(error);
			}
		});
	}

	bool reported() const { return reported_.load(std::memory_order_acquire); }
	int fd() const { return fd_.get(); } // readable once reported()
	// The message, once reported().
	const char *text() const { return text_.data(); }

private:
	void report_formatted(fmt::string_view sentence, fmt::format_args arguments);

	Fd fd_;
	std::array<char, 8192> text_{}; // a path and a message
	std::atomic<bool> claimed_{false}, reported_{false};
};

} // namespace monitor::record
