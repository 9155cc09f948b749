// SPDX-License-Identifier: MIT
// A picture while its trace is still being read, in a thread of its own: the page shows the modes so far, and all of it
// as soon as it is there. What is asked for too early is answered by status 503.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/http.h"
#include "picture.h"
#include "view.h"

namespace monitor::view {

class Loading {
public:
	// The trace has a picture.
	// `has_second`: the page shows another trace, too (compared.h).
	Loading(const std::vector<std::string> &directories, trace::Trace trace, bool use_cache,
		std::optional<play::Layout> layout, bool has_second = false);

	// Any thread.
	HttpResponse answer(const HttpRequest &request);
	// Nobody asks any more: what is being read for an answer is given up.
	void stop() { wanted_.stop(); }
	// What went wrong while it was read, in words; "": nothing, or it has not been read.
	std::string failed() const;
	// Null: it has not been read.
	std::shared_ptr<const Picture> picture() const;
	std::array<std::shared_ptr<const Picture>, 1> pictures() const { return {picture()}; }

private:
	void note(const Timeline &so_far, double part);
	HttpResponse answer_early(const HttpRequest &request) const;

	mutable std::mutex lock_; // of:
	std::shared_ptr<const Timeline> so_far_;
	double part_ = 0;
	std::shared_ptr<const Picture> picture_;
	std::string failed_;
	double frequency_hz_;
	bool has_second_;
	Wanted wanted_;
	std::jthread reads_;
};

} // namespace monitor::view
