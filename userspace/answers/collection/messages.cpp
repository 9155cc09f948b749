// SPDX-License-Identifier: MIT
#include "messages.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "answers/statistics/survey.h"
#include "base/error.h"

namespace monitor::collection {
namespace {

// Saturates.
std::int64_t difference(std::int64_t a, std::int64_t b)
{
	std::int64_t made;
	if (!__builtin_sub_overflow(a, b, &made))
		return made;
	return a < b ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

// Finds messages in one pass; the first entry of a key stays in the map.
class MessageFold {
public:
	MessageFold(const filter::Filter &send, const filter::Filter &receive, const activities::Keys &send_key,
		    const activities::Keys &receive_key, const trace::Clock &clock)
	    : send_(&send), receive_(&receive), send_key_(&send_key), receive_key_(&receive_key), clock_(&clock)
	{
	}
	void event(const trace::Event &event, const filter::Running &running)
	{
		take(*send_, *send_key_, event, running, found_.sent);
		take(*receive_, *receive_key_, event, running, found_.received);
	}
	void gap() {}
	void merge(const MessageFold &later)
	{
		found_.sent.insert(later.found_.sent.begin(), later.found_.sent.end());
		found_.received.insert(later.found_.received.begin(), later.found_.received.end());
	}
	Messages &found() { return found_; }

private:
	void take(const filter::Filter &filter, const activities::Keys &keys, const trace::Event &event,
		  const filter::Running &running, std::unordered_map<std::string, std::int64_t> &times)
	{
		if (!filter.can_match(*event.cls) || !filter.matches(event, running) || times.size() >= Messages::most)
			return;
		std::string key;
		if (keys.append(event, running, key))
			times.emplace(std::move(key), clock_->wall_ns(event.time));
	}

	const filter::Filter *send_, *receive_;
	const activities::Keys *send_key_, *receive_key_;
	const trace::Clock *clock_;
	Messages found_;
};

} // namespace

Messages find_messages(trace::Trace &trace, const MessageText &text)
{
	const trace::Description &description = trace.description();
	const filter::Filter send(text.send, description, trace.begin_time()),
	    receive(text.receive, description, trace.begin_time());
	const std::size_t equal = text.key.find('=');
	const activities::Keys send_key(activities::split_names(text.key.substr(0, equal), "--key"), description,
					trace.begin_time(), "--key");
	const activities::Keys receive_key =
	    equal == std::string::npos ? send_key
				       : activities::Keys(activities::split_names(text.key.substr(equal + 1), "--key"),
							  description, trace.begin_time(), "--key");
	statistics::Question question;
	question.needs_threads =
	    send_key.needs_threads() || receive_key.needs_threads() || send.needs_threads() || receive.needs_threads();
	auto found = statistics::survey(
	    trace, question, [&] { return MessageFold(send, receive, send_key, receive_key, description.clock); });
	return std::move(found.fold.found());
}

Offset offset_between(const Messages &first, const Messages &other, const std::string &name)
{
	Offset offset;
	std::int64_t least = std::numeric_limits<std::int64_t>::min(),
		     greatest = std::numeric_limits<std::int64_t>::max();
	for (const auto &[key, sent] : first.sent)
		if (const auto arrived = other.received.find(key); arrived != other.received.end()) {
			++offset.forth;
			least = std::max(least, difference(sent, arrived->second));
		}
	for (const auto &[key, sent] : other.sent)
		if (const auto arrived = first.received.find(key); arrived != first.received.end()) {
			++offset.back;
			greatest = std::min(greatest, difference(arrived->second, sent));
		}
	if (offset.forth + offset.back == 0)
		throw Error("no message of --sync passed between the first trace and " + name);
	if (offset.forth == 0 || offset.back == 0) {
		offset.shift_ns = offset.forth ? least : greatest;
		return offset;
	}
	if (least > greatest)
		throw Error(
		    fmt::format("no offset lets all messages between the first trace and {} arrive after they were "
				"sent: they contradict each other by {} ns, so the clocks drift apart",
				name, difference(least, greatest)));
	offset.bound_ns = (static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least) + 1) / 2;
	offset.shift_ns = least + static_cast<std::int64_t>(*offset.bound_ns);
	return offset;
}

} // namespace monitor::collection
