// SPDX-License-Identifier: MIT
// All events with a key, grouped by its value: the requests.
// One pass over the whole collection; path.h orders the events of a request. A key is one or several parameters of
// programs' events, such as a request's number; events without it are ignored. Values are untrusted: number, length and
// events per key are limited. Invariant: a request has all selected events of its key, or it is left out and counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host_clock.h"
#include "reading/activities/keys.h"
#include "reading/events/event_selection.h"
#include "reading/events/gap.h"
#include "reading/events/merge.h"
#include "reading/filter/filter.h"

namespace monitor::requests {

// A point on a request's path: a host, and the name of an event there.
struct Point {
	std::uint32_t machine = 0; // in Trace::machines()
	std::string event;
};

struct KeyedEvent {
	std::uint64_t time = 0;   // on the trace's clock
	std::uint64_t own_ns = 0; // on the clock of its host
	std::uint32_t point = 0;  // in Collected::points
	std::uint32_t clock = 0;  // times of different clocks of a host are not comparable
};

struct Request {
	std::string key; // as printed
	std::vector<KeyedEvent> events;
};

struct Limits {
	std::size_t keys = 500'000, key_bytes = 128, events = 4'000'000, events_of_key = 1000;
};

struct Collected {
	std::vector<Point> points;
	std::vector<Request> requests; // ordered by their first event
	std::uint64_t events = 0;
	// What was left out: events of keys beyond the limit, events with too long a key, keys with too many events,
	// and these events.
	std::uint64_t other_events = 0, long_events = 0, crowded_keys = 0, crowded_events = 0;
	trace::Losses losses; // any event may be missing there
};

class EventsByKey {
public:
	// `names`: as in `monitor stat --key`. Throws Error: no event has them, or their values are specific to each
	// host.
	EventsByKey(const trace::Trace &trace, const std::string &names, const Limits &limits = {});

	const activities::Keys &keys() const { return keys_; }
	// Whether events of this class have the key.
	bool has_key(const trace::EventClass &cls) const { return has_key_[cls.index]; }
	void event(const trace::Event &event, const filter::Running &running);
	void lost(std::uint64_t count) { collected_.losses.add(count); }

	Collected finish();

private:
	std::uint32_t point_index(const trace::Event &event);
	std::uint32_t clock_number(const trace::Stream &stream);
	// nullptr: the request is left out, which is counted.
	Request *request_of(const trace::Event &event, const filter::Running &running);
	using Counter = std::uint64_t Collected::*;
	void leave_out(Request &request, Counter counter);

	const trace::Trace *trace_;
	Limits limits_;
	activities::Keys keys_;
	std::vector<bool> has_key_; // by class index
	Collected collected_;
	std::unordered_map<std::string, std::size_t> request_of_key_;
	std::vector<Counter> left_out_; // by request: the counter for its events; nullptr: they are kept
	bool is_full_ = false;          // no new requests are added
	std::unordered_map<std::uint64_t, std::uint32_t> point_of_class_;
	std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> point_of_name_;
	std::vector<HostClock> host_clocks_;       // by stream index
	std::vector<std::uint32_t> clock_numbers_; // likewise
};

// What to read. Selection and filter are optional.
struct Question {
	std::string names;
	trace::TimeRange range;
	const trace::EventSelection *selection = nullptr;
	const filter::Filter *filter = nullptr;
};

Collected collect(trace::Trace &trace, const Question &question, const Limits &limits = {});

} // namespace monitor::requests
