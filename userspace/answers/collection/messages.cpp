// SPDX-License-Identifier: MIT
#include "messages.h"

#include <algorithm>
#include <limits>

#include "answers/statistics/survey.h"
#include "reading/activities/definition.h"

namespace monitor::collection {
namespace {

// a - b; saturates.
std::int64_t difference(std::int64_t a, std::int64_t b)
{
	std::int64_t made;
	if (!__builtin_sub_overflow(a, b, &made))
		return made;
	return a < b ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

struct Span {
	std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();

	void add(std::int64_t value)
	{
		min = std::min(min, value);
		max = std::max(max, value);
	}
};

// The range of offsets to add to the clock, so that both clocks agree at these samples.
Span offsets(const std::vector<ClockSample> &samples, const trace::Clock &clock)
{
	Span span;
	for (const ClockSample &sample : samples)
		span.add(difference(sample.ns, clock.wall_ns(sample.ticks)));
	return span;
}

// Finds messages in one pass; the first entry of a key stays in the map.
class MessageFold {
public:
	explicit MessageFold(const activities::Definition &definition) : definition_(&definition) {}
	void event(const trace::Event &event, const filter::Running &running)
	{
		record_match(*definition_->start, definition_->start_key, event, running, found_.sent);
		record_match(*definition_->end, definition_->end_key, event, running, found_.received);
	}
	void gap(std::uint64_t) {}
	void merge(const MessageFold &later)
	{
		found_.sent.insert(later.found_.sent.begin(), later.found_.sent.end());
		found_.received.insert(later.found_.received.begin(), later.found_.received.end());
	}
	Messages &found() { return found_; }

private:
	void record_match(const filter::Filter &filter, const activities::Keys &keys, const trace::Event &event,
			  const filter::Running &running,
			  std::unordered_map<std::string, trace::EventOrder::Instant> &instants)
	{
		if (!filter.can_match(*event.cls) || !filter.matches(event, running) ||
		    instants.size() >= Messages::max_messages)
			return;
		std::string key;
		if (keys.append(event, running, key))
			instants.emplace(std::move(key), trace::EventOrder::Instant{event.stream->machine, event.time});
	}

	const activities::Definition *definition_;
	Messages found_;
};

} // namespace

Messages find_messages(trace::Trace &trace, const MessageText &text)
{
	const activities::Definition definition =
	    activities::compile({"message", text.send, text.receive, "", text.key, "", false, "--sync"},
				trace.description(), trace.begin_time());
	statistics::Question question;
	question.needs_threads = definition.needs_threads;
	question.needs_names = definition.needs_names;
	auto found = statistics::survey(trace, question, [&] { return MessageFold(definition); });
	return std::move(found.fold.found());
}

Exchanged exchanged(const Messages &first, const trace::Clock &first_clock, const Messages &other)
{
	Exchanged made;
	for (const auto &[key, sent] : first.sent)
		if (const auto arrived = other.received.find(key); arrived != other.received.end())
			made.samples.at_least.push_back({arrived->second.time, first_clock.wall_ns(sent.time)});
	for (const auto &[key, sent] : other.sent)
		if (const auto arrived = first.received.find(key); arrived != first.received.end())
			made.samples.at_most.push_back({sent.time, first_clock.wall_ns(arrived->second.time)});
	made.forth = made.samples.at_least.size();
	made.back = made.samples.at_most.size();
	return made;
}

Offset offset_of(const ClockSamples &one_way, const trace::Clock &clock)
{
	if (one_way.at_most.empty())
		return {offsets(one_way.at_least, clock).max, std::nullopt};
	return {offsets(one_way.at_most, clock).min, std::nullopt};
}

Offset offset_of(const ClockLines &lines, const trace::Clock &clock, std::pair<std::uint64_t, std::uint64_t> times)
{
	Span span;
	for (const trace::ClockNode &node : lines.nodes)
		span.add(difference(node.ns, clock.wall_ns(node.ticks)));
	const auto apart = static_cast<std::uint64_t>(span.max) - static_cast<std::uint64_t>(span.min);
	Offset offset{span.min + static_cast<std::int64_t>(apart / 2), std::nullopt};
	const bool are_covered = !lines.nodes.empty() && lines.nodes.front().ticks <= times.first &&
				 lines.nodes.back().ticks >= times.second;
	if (lines.infeasible == 0 && lines.windows > 0 && are_covered)
		offset.bound_ns = lines.max_bound_ns() + apart - apart / 2 + 1; // wall times are rounded down
	return offset;
}

std::uint64_t contradiction_ns(const ClockSamples &samples, const trace::Clock &clock, std::int64_t shift_ns)
{
	std::int64_t most = 0;
	if (!samples.at_least.empty())
		most = std::max(most, difference(offsets(samples.at_least, clock).max, shift_ns));
	if (!samples.at_most.empty())
		most = std::max(most, difference(shift_ns, offsets(samples.at_most, clock).min));
	return static_cast<std::uint64_t>(most);
}

} // namespace monitor::collection
