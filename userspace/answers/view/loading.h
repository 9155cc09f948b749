// SPDX-License-Identifier: MIT
// A picture while its trace is being read, in a thread of its own: the page shows the modes so far, and everything once
// it is complete. Requests that come too early get status 503.
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
	// The trace must be suitable for a picture. `has_second`: the page shows another trace, too (compared.h).
	Loading(const std::vector<std::string> &directories, trace::Trace trace, bool use_cache,
		std::optional<play::Layout> layout, bool has_second = false);

	// Called by any thread.
	HttpResponse answer(const HttpRequest &request);
	// Cancels answers in progress, as nobody waits for them.
	void stop() { requests_.stop(); }
	// The error that ended the reading; "": none, or it has not ended.
	std::string failed() const;
	// Null: it has not been read.
	std::shared_ptr<const Picture> picture() const;
	std::array<std::shared_ptr<const Picture>, 1> pictures() const { return {picture()}; }

private:
	void set_progress(const Timeline &so_far, double fraction);
	HttpResponse answer_early(const HttpRequest &request) const;

	mutable std::mutex lock_; // protects the following
	std::shared_ptr<const Timeline> so_far_;
	double fraction_ = 0;
	std::shared_ptr<const Picture> picture_;
	std::string failed_;
	double frequency_hz_;
	bool has_second_;
	LatestRequests requests_;
	std::jthread reader_;
};

} // namespace monitor::view
