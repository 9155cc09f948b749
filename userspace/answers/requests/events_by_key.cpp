// SPDX-License-Identifier: MIT
#include "events_by_key.h"

#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace monitor::requests {
namespace {

std::vector<std::string> names_of_key(const std::string &text)
{
	auto names = activities::split_names(text, "--key");
	if (names.empty())
		throw Error("--key: name the parameter that the events of a request have in common");
	return names;
}

std::string key_text(const activities::Keys &keys, const trace::Event &event, const filter::Running &running)
{
	static const activities::ThreadTable no_threads;
	std::string text;
	for (const activities::Cell &cell : keys.cells(event, running))
		text += (text.empty() ? "" : ", ") + cell.shown(no_threads);
	return text;
}

} // namespace

EventsByKey::EventsByKey(const trace::Trace &trace, const std::string &names, const Limits &limits)
    : trace_(&trace), limits_(limits), keys_(names_of_key(names), trace.description(), trace.begin_time(), "--key")
{
	for (std::size_t i = 0; i < keys_.names().size(); ++i)
		if (keys_.is_of_machine(i))
			throw Error("--key: {} means another thing on each host; name a parameter that events of a "
				    "request have in common, such as its number",
				    readable(keys_.names()[i]));
	for (const auto &cls : trace.description().classes())
		has_key_.push_back(cls->domain != trace::Domain::recording && keys_.are_in(*cls));
	for (const auto &stream : trace.streams()) {
		host_clocks_.emplace_back(*stream);
		clock_numbers_.push_back(clock_number(*stream));
	}
}

// The index of the first stream with the same clock.
std::uint32_t EventsByKey::clock_number(const trace::Stream &stream)
{
	for (const auto &other : trace_->streams()) {
		const trace::Clock *const its = other->own_clock(), *const own = stream.own_clock();
		if (other.get() == &stream || (its && own && other->info().machine == stream.info().machine &&
					       (its == own || its->is_same(*own))))
			return other->info().index;
	}
	return stream.info().index;
}

std::uint32_t EventsByKey::point_index(const trace::Event &event)
{
	const std::uint32_t machine = event.stream->machine;
	const std::uint64_t of_class = static_cast<std::uint64_t>(machine) << 32 | event.cls->index;
	const auto known = point_of_class_.find(of_class);
	if (known != point_of_class_.end())
		return known->second;
	const auto number = static_cast<std::uint32_t>(collected_.points.size());
	const auto [found, is_new] = point_of_name_.try_emplace({machine, event.cls->name}, number);
	if (is_new)
		collected_.points.push_back({machine, event.cls->name});
	point_of_class_.emplace(of_class, found->second);
	return found->second;
}

Request *EventsByKey::request_of(const trace::Event &event, const filter::Running &running)
{
	std::string key;
	if (!keys_.append(event, running, key))
		return nullptr;
	const auto found = request_of_key_.find(key);
	if (found != request_of_key_.end()) {
		Request &request = collected_.requests[found->second];
		if (request.events.size() >= limits_.events_of_key) {
			++collected_.crowded_keys;
			leave_out(request, &Collected::crowded_events);
		}
		if (const Counter counter = left_out_[found->second]) {
			++(collected_.*counter);
			return nullptr;
		}
		return &request;
	}
	// Per name a number and its size, or a text and its length.
	if (key.size() > keys_.names().size() * (limits_.key_bytes + sizeof(std::uint64_t) + 1)) {
		++collected_.long_events;
		return nullptr;
	}
	is_full_ = is_full_ || collected_.requests.size() >= limits_.keys;
	if (is_full_) {
		++collected_.other_events;
		return nullptr;
	}
	request_of_key_.emplace(std::move(key), collected_.requests.size());
	left_out_.push_back(nullptr);
	return &collected_.requests.emplace_back(Request{key_text(keys_, event, running), {}});
}

// Leaves out the whole request, as it would be another one without one of its events.
void EventsByKey::leave_out(Request &request, Counter counter)
{
	left_out_[static_cast<std::size_t>(&request - collected_.requests.data())] = counter;
	collected_.*counter += request.events.size();
	collected_.events -= request.events.size();
	request.events = {};
}

void EventsByKey::event(const trace::Event &event, const filter::Running &running)
{
	Request *request = request_of(event, running);
	if (!request)
		return;
	if (collected_.events >= limits_.events) {
		is_full_ = true;
		leave_out(*request, &Collected::other_events);
		++collected_.other_events;
		return;
	}
	const std::uint32_t stream = event.stream->index;
	request->events.push_back(
	    {event.time, host_clocks_[stream].ns(event.time), point_index(event), clock_numbers_[stream]});
	++collected_.events;
}

Collected EventsByKey::finish()
{
	std::erase_if(collected_.requests, [](const Request &request) { return request.events.empty(); });
	return std::move(collected_);
}

Collected collect(trace::Trace &trace, const Question &question, const Limits &limits)
{
	EventsByKey events(trace, question.names, limits);
	std::vector<bool> may_match;
	for (const auto &cls : trace.description().classes())
		may_match.push_back(events.has_key(*cls) && (!question.filter || question.filter->can_match(*cls)));
	const bool selects_threads = question.selection && question.selection->needs_threads();
	std::optional<trace::Threads> threads;
	if (selects_threads || events.keys().needs_threads() || (question.filter && question.filter->needs_threads()))
		threads.emplace(trace);
	const auto is_selected = [&](const trace::Event &event, const filter::Running &running) {
		return event.time >= question.range.from &&
		       (!question.selection || question.selection->includes(event, running.tid)) &&
		       (!question.filter || question.filter->matches(event, running));
	};
	trace::merge(
	    trace, {threads ? 0 : question.range.from, question.range.to},
	    [&](const trace::Event &event) {
		    const std::int64_t tid = threads ? threads->before(event) : trace::Threads::unknown;
		    const filter::Running running{tid, threads ? &*threads : nullptr};
		    if (may_match[event.cls->index] && is_selected(event, running))
			    events.event(event, running);
		    if (threads)
			    threads->after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t to, std::uint64_t lost) {
		    if (threads)
			    threads->gap(stream);
		    if (to >= question.range.from)
			    events.lost(lost);
	    });
	return events.finish();
}

} // namespace monitor::requests
