// SPDX-License-Identifier: MIT
// The recordings of a collection: a page for each, below /0/, /1/ and so on, which lead to each other at the same time
// of the common clock. A recording is read when its page is first asked for.
//
//     /N/...     as view.h; /about also has host: N, hosts: [name, ...], has_common: whether there is a common clock
//     /N/common  ?from=&to=        ticks of the picture as {from_ns, to_ns, bound_ns} of the common clock
//     /N/ticks   ?from_ns=&to_ns=  back, as far as there is a recording: {from, to, bound_ns}; from = to: there is none
//
// Nanoseconds count from the collection's begin, bound_ns is how far off they may be in this window; null: unknown.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/http.h"
#include "loading.h"
#include "reading/events/clock_map.h"
#include "reading/events/collection_clocks.h"

namespace monitor::view {

class Hosts {
public:
	struct Recording {
		std::string name, directory;
		trace::Trace trace;                           // has a picture
		std::shared_ptr<const trace::ClockMap> clock; // null: its relation to the others is unknown
	};

	Hosts(std::vector<Recording> recordings, bool use_cache);

	// Called by any thread.
	HttpResponse answer(const HttpRequest &request);
	void stop();
	// Like Loading's, for those that were read.
	std::string failed() const;
	std::vector<std::shared_ptr<const Picture>> pictures() const;

private:
	// `trace` is empty once it is being read.
	struct Host {
		std::string name, directory;
		std::shared_ptr<const trace::ClockMap> clock;
		std::optional<trace::Trace> trace;
		std::unique_ptr<Loading> loading;
	};

	Loading &loading(std::size_t index);
	HttpResponse answer_of(std::size_t index, const HttpRequest &request);
	HttpResponse about(std::size_t index, const Picture &picture) const;
	std::string common(const trace::ClockMap &clock, const Picture &picture, const HttpRequest &request) const;
	std::string ticks(const trace::ClockMap &clock, const Picture &picture, const HttpRequest &request) const;

	const bool use_cache_;
	mutable std::mutex lock_; // protects Host::trace and loading
	std::vector<Host> hosts_;
	std::uint64_t begin_ns_ = ~std::uint64_t(0); // start of the collection on the common clock
};

// A recording's clock in the collection, by its name there; null: none.
std::shared_ptr<const trace::ClockMap> clock_of(const std::map<std::string, trace::PartClock> &clocks,
						const std::string &name, const trace::Trace &trace);

} // namespace monitor::view
