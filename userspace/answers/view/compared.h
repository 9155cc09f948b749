// SPDX-License-Identifier: MIT
// Two traces in one page: the second one has the paths of the first (view.h) below /second, and what changed from one
// to the other is at /diff.
//
//     /diff  ?from=&to=&second_from=&second_to=&page=   {notes, rows} of `monitor diff`, of these parts, in ticks of
//     each
#pragma once

#include <array>
#include <string>

#include "base/http.h"
#include "loading.h"

namespace monitor::view {

class Compared {
public:
	struct Side {
		std::string directory;
		trace::Trace trace;
	};

	// Both have a picture.
	Compared(Side before, Side after, bool use_cache, std::optional<play::Layout> layout);

	// Any thread.
	HttpResponse answer(const HttpRequest &request);
	void stop();
	// As Loading's, of both.
	std::string failed() const;
	std::array<std::shared_ptr<const Picture>, 2> pictures() const;

private:
	HttpResponse diff(const HttpRequest &request);

	std::array<std::string, 2> directories_;
	Loading before_, after_;
	LatestRequests requests_;
};

} // namespace monitor::view
