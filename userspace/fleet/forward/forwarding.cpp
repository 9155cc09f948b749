// SPDX-License-Identifier: MIT
#include "forwarding.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "fleet/wire/names.h"

namespace monitor::fleet {
namespace {

using Duration = std::chrono::steady_clock::duration;
constexpr Duration scan_interval = std::chrono::milliseconds(100), save_interval = std::chrono::seconds(1),
		   message_interval = std::chrono::seconds(10), store_change_interval = std::chrono::seconds(60);
// A collector that took something of a trace counts as present for this long, whatever others answer.
constexpr Duration collector_timeout = std::chrono::seconds(10);
constexpr Duration min_aside = std::chrono::seconds(2), max_aside = std::chrono::seconds(30),
		   min_reread_interval = std::chrono::seconds(2);
constexpr std::size_t max_reported_causes = 1000, max_instances = 64, max_unread = 64; // messages of a trace
constexpr unsigned max_restarts = 5; // of a description that changes while it is read

} // namespace

Forwarding::Forwarding(Forwarder &forwarder, std::function<void(const std::string &)> report)
    : forwarder_(forwarder), report_(std::move(report)), session_(std::stoull(random_hex(64), nullptr, 16) | 1)
{
}

void Forwarding::report(const std::string &cause, const std::string &sentence, Time now)
{
	if (reported_.size() >= max_reported_causes)
		reported_.clear();
	const auto [last, is_first] = reported_.try_emplace(cause, now);
	if (!is_first && now - last->second < message_interval)
		return;
	last->second = now;
	if (report_)
		report_(sentence);
}

std::shared_ptr<TraceTail> Forwarding::find(const std::string &directory) const
{
	const auto found = std::ranges::find(tails_, directory, [](const auto &tail) { return tail->directory(); });
	return found == tails_.end() ? nullptr : *found;
}

void Forwarding::add(const std::string &directory, const TailOptions &options)
{
	const std::lock_guard lock(mutex_);
	if (find(directory))
		return;
	tails_.push_back(std::make_shared<TraceTail>(directory, options));
	apply_recent_request(*tails_.back(), options.run);
	last_scan_ = {};
}

void Forwarding::set_ended(const std::string &directory)
{
	const std::lock_guard lock(mutex_);
	const auto tail = find(directory);
	if (!tail || tail->has_ended())
		return;
	tail->set_ended();
	last_scan_ = {};
}

void Forwarding::remove(const std::string &directory)
{
	const std::lock_guard lock(mutex_);
	const auto tail = find(directory);
	if (!tail)
		return;
	forget(*tail);
	store_changed_.erase(tail.get());
	std::erase(tails_, tail);
}

// Drops its unanswered messages: late answers are ignored.
void Forwarding::forget(const TraceTail &tail)
{
	for (auto each = sent_.begin(); each != sent_.end();) {
		if (each->second.tail.get() != &tail) {
			++each;
			continue;
		}
		window_.withdraw(each->first);
		each = sent_.erase(each);
	}
	descriptions_.erase(&tail);
	states_.erase(&tail);
}

void Forwarding::scan(Time now)
{
	if (now - last_scan_ < scan_interval)
		return;
	last_scan_ = now;
	for (const auto &tail : tails_)
		try {
			tail->scan(now);
		} catch (const Error &error) {
			report("look " + tail->directory(), error.what(), now);
		}
}

// The answer is from a collector with another directory, which has nothing of the trace. Two that answer in turn must
// not restart it forever.
bool Forwarding::is_of_this_store(TraceTail &tail, const Answer &answer, Time now)
{
	TraceProgress &progress = tail.progress();
	if (progress.store == 0)
		progress.store = answer.store;
	if (progress.store == answer.store)
		return true;
	if (!progress.wanted.request.empty())
		return false; // fetched for one collector; others may store it too, but do not count
	const auto last = store_changed_.find(&tail);
	if (last != store_changed_.end() && now - last->second < store_change_interval) {
		report("stores", "two collectors answer for the same run: end one, or give their runs different names",
		       now);
		return false;
	}
	store_changed_[&tail] = now;
	report("store " + tail.directory(),
	       fmt::format("the collector stores in another directory than before: {} is sent again from its start",
			   tail.directory()),
	       now);
	forget(tail);
	tail.start_again(answer.store);
	return false;
}

// A new collector: the previous one may have left messages unanswered, and the new one may take what others do not.
void Forwarding::note_collector(std::uint64_t instance, Time now)
{
	if (instances_.contains(instance))
		return;
	if (!instances_.empty()) {
		window_.reconnected();
		for (auto &[tail, state] : states_)
			if (state.probe_at)
				state.probe_at = now;
	}
	if (instances_.size() >= max_instances)
		instances_.clear();
	instances_.insert(instance);
}

// Removes the trace's messages from the window; they stay in sent_, as another collector may answer.
void Forwarding::set_aside(std::uint64_t number, const Answer &answer, Time now)
{
	const TraceTail &tail = *sent_.at(number).tail;
	TraceState &state = states_[&tail];
	if ((state.accepted_at && now - *state.accepted_at < collector_timeout) || !window_.withdraw(number))
		return;
	if (!state.probe_at)
		report("aside " + tail.directory(),
		       fmt::format("no collector takes {} now: {}; it is kept and sent when one does", tail.directory(),
				   printable(answer.why)),
		       now);
	state.probe_interval = state.probe_at ? std::min(2 * state.probe_interval, max_aside) : min_aside;
	state.probe_at = now + state.probe_interval;
	for (const auto &[each, sent] : sent_)
		if (sent.tail.get() == &tail) {
			window_.withdraw(each);
			std::erase(returning_, each);
		}
}

void Forwarding::note_accepted(const TraceTail &tail, Time now)
{
	TraceState &state = states_[&tail];
	state.accepted_at = now;
	if (!state.probe_at)
		return;
	state.probe_at.reset();
	for (const auto &[number, sent] : sent_)
		if (sent.tail.get() == &tail && !sent.is_unread && !window_.has(number))
			returning_.push_back(number);
}

// Returns messages to the window: the oldest one of each trace set aside, as a probe; those that could not be read; and
// those of traces that a collector takes again.
void Forwarding::return_messages(Time now)
{
	for (auto &[of, state] : states_) {
		const TraceTail *const tail = of;
		if (state.probe_at && now >= *state.probe_at) {
			const auto oldest = std::ranges::find_if(sent_, [&](const auto &each) {
				return each.second.tail.get() == tail && !each.second.is_unread;
			});
			if (oldest == sent_.end())
				state.probe_at.reset(); // all its files are gone
			else
				returning_.push_back(oldest->first);
			if (state.probe_at)
				state.probe_at = now + state.probe_interval;
		}
		if (state.unread == 0 || now < state.reread_at)
			continue;
		state.unread = 0;
		for (auto &[number, sent] : sent_)
			if (sent.tail.get() == tail && std::exchange(sent.is_unread, false))
				returning_.push_back(number);
	}
	for (; !returning_.empty() && window_.has_room(max_content_bytes); returning_.pop_front())
		if (const auto found = sent_.find(returning_.front());
		    found != sent_.end() && !window_.has(found->first))
			window_.add(found->first, bytes_of(found->second), false);
}

std::size_t Forwarding::bytes_of(const Sent &sent) const
{
	if (sent.file.empty())
		return sent.blocks.count * block_bytes;
	const std::size_t size = descriptions_.at(sent.tail.get()).content.bytes.size();
	return std::min<std::size_t>(max_content_bytes, size - sent.offset);
}

void Forwarding::handle_answer(std::uint64_t number, const Answer &answer, Time now)
{
	const auto found = sent_.find(number);
	if (found == sent_.end())
		return;
	note_collector(answer.instance, now);
	if (answer.status == Status::not_mine)
		return set_aside(number, answer, now);
	const std::shared_ptr<TraceTail> tail = found->second.tail;
	if (!is_of_this_store(*tail, answer, now))
		return;
	note_accepted(*tail, now);
	const std::string &directory = tail->directory();
	if (answer.status == Status::later || answer.status == Status::replaced) {
		window_.refused(number, now);
		report(answer.why,
		       fmt::format("the collector does not take {} now: {}", directory, printable(answer.why)), now);
		return;
	}
	if (answer.status == Status::invalid)
		report(answer.why,
		       fmt::format("the collector refuses a part of {}: {}", directory, printable(answer.why)), now);
	if (answer.conflicts)
		report("conflict " + directory,
		       fmt::format("the collector has other blocks of {}: was this host restored from a snapshot?",
				   directory),
		       now);
	if (found->second.file.empty())
		handle_blocks_answer(number, answer, now);
	else
		handle_piece_answer(number, answer, now);
}

void Forwarding::handle_blocks_answer(std::uint64_t number, const Answer &answer, Time now)
{
	const Sent sent = std::move(sent_.at(number));
	sent_.erase(number);
	window_.remove(number, now);
	if (answer.status == Status::stored)
		sent.tail->stored(sent.blocks, answer.conflicts);
	else
		sent.tail->refused(sent.blocks);
}

void Forwarding::handle_piece_answer(std::uint64_t number, const Answer &answer, Time now)
{
	const Sent sent = std::move(sent_.at(number));
	sent_.erase(number);
	window_.remove(number, now);
	const auto found = descriptions_.find(sent.tail.get());
	if (found == descriptions_.end() || found->second.content.file != sent.file)
		return;
	Description &description = found->second;
	if (answer.status == Status::taken && sent.offset + max_content_bytes < description.content.bytes.size())
		return add_piece(sent.tail, sent.offset + max_content_bytes);
	if (answer.status == Status::start_again && ++description.restarts <= max_restarts)
		return add_piece(sent.tail, 0);
	if (answer.status == Status::start_again) {
		sent.tail->description_again(sent.file, now);
	} else {
		sent.tail->progress().refused_files += answer.status != Status::stored;
		sent.tail->description_stored(sent.file, description.content.hash);
	}
	descriptions_.erase(found);
}

void Forwarding::add_piece(const std::shared_ptr<TraceTail> &tail, std::uint64_t offset)
{
	const std::uint64_t number = next_number_++;
	const Sent &sent = sent_[number] = {tail, {}, descriptions_.at(tail.get()).content.file, offset};
	window_.add(number, bytes_of(sent));
}

void Forwarding::fill_window(Time now)
{
	const std::size_t count = tails_.size();
	for (std::size_t idle = 0; idle < count && window_.has_room(max_content_bytes);) {
		const std::shared_ptr<TraceTail> tail = tails_[next_tail_++ % count];
		const TraceState &state = states_[tail.get()];
		bool is_idle = true;
		if (state.probe_at || state.unread >= max_unread) {
			++idle;
			continue;
		}
		if (auto content = tail->next_description(now)) {
			descriptions_[tail.get()] = {std::move(*content), 0};
			add_piece(tail, 0);
			is_idle = false;
		}
		if (const auto run = tail->is_known() ? tail->next_blocks(now) : std::nullopt) {
			const std::uint64_t number = next_number_++;
			window_.add(number, run->count * block_bytes);
			sent_[number] = {tail, *run, ""};
			is_idle = false;
		}
		idle = is_idle ? idle + 1 : 0;
		if (!is_idle)
			send_due(now);
	}
}

// Encodes into message_. Returns errno like TraceTail::read().
int Forwarding::encode(const Sent &sent)
{
	if (sent.file.empty()) {
		const Batch batch{session_, sent.tail->name(), sent.blocks.stream, sent.blocks.first, {}};
		return sent.tail->read(sent.blocks, encode_batch(batch, sent.blocks.count * block_bytes, message_));
	}
	const TraceTail::Content &content = descriptions_.at(sent.tail.get()).content;
	const std::size_t bytes = bytes_of(sent);
	const Piece piece{session_, sent.tail->name(), sent.file, content.hash, content.bytes.size(), sent.offset, {}};
	const auto to = encode_piece(piece, bytes, message_);
	std::memcpy(to.data(), content.bytes.data() + sent.offset, bytes);
	return 0;
}

// What is gone was counted by the tail; the rest is read again later.
void Forwarding::note_unread(std::uint64_t number, int error, Time now)
{
	window_.withdraw(number);
	const auto found = sent_.find(number);
	if (error == ENOENT) {
		sent_.erase(found);
		return;
	}
	const TraceTail &tail = *found->second.tail;
	report("read " + tail.directory(),
	       fmt::format("cannot read {}/{}: {}; it is tried again", tail.directory(), found->second.blocks.stream,
			   std::strerror(error)),
	       now);
	found->second.is_unread = true;
	TraceState &state = states_[&tail];
	++state.unread;
	state.reread_at = now + min_reread_interval;
}

void Forwarding::send_due(Time now)
{
	while (const auto number = window_.due(now)) {
		if (!forwarder_.is_connected())
			return;
		const Sent &sent = sent_.at(*number);
		if (const int error = encode(sent)) {
			note_unread(*number, error, now);
			continue;
		}
		const auto kind = sent.file.empty() ? Forwarder::MessageKind::batch : Forwarder::MessageKind::piece;
		if (!forwarder_.send(kind, *number, message_))
			return;
		window_.sent(*number, now);
		++sums_.messages;
		sums_.bytes += message_.size();
	}
}

void Forwarding::receive(Forwarder::Received received, Time now)
{
	if (received.is_new_connection)
		window_.reconnected();
	for (const auto &[number, answer] : received.answers)
		handle_answer(number, answer, now);
	for (const std::uint64_t number : received.no_subscriber)
		if (window_.refused(number, now))
			report("nobody", "no collector is there: everything is kept and sent when one comes", now);
}

void Forwarding::step(Time until)
{
	Time wait_until;
	{
		const std::lock_guard lock(mutex_);
		const Time now = std::chrono::steady_clock::now();
		scan(now);
		return_messages(now);
		send_due(now);
		fill_window(now);
		if (now - last_save_ > save_interval) {
			last_save_ = now;
			for (const auto &tail : tails_)
				tail->save_if_due(now);
		}
		wait_until = std::min(until, now + scan_interval);
		if (forwarder_.is_connected())
			wait_until =
			    std::min(wait_until, std::max(window_.next_due(now), now + std::chrono::milliseconds(1)));
	}
	Forwarder::Received received = forwarder_.receive_until(wait_until);
	const std::lock_guard lock(mutex_);
	receive(std::move(received), std::chrono::steady_clock::now());
}

void Forwarding::save()
{
	const std::lock_guard lock(mutex_);
	for (const auto &tail : tails_)
		tail->save();
}

bool Forwarding::is_complete() const
{
	const std::lock_guard lock(mutex_);
	return std::ranges::all_of(tails_, [](const auto &tail) { return tail->is_complete(); });
}

std::vector<ForwardingAccount> Forwarding::accounts() const
{
	const std::lock_guard lock(mutex_);
	std::vector<ForwardingAccount> accounts;
	for (const auto &tail : tails_) {
		const TraceProgress &progress = tail->progress();
		const std::uint64_t elsewhere = progress.refused + progress.vanished + progress.conflicts;
		const std::uint64_t answered = progress.stored_blocks();
		accounts.push_back({tail->name().run, tail->name().part, tail->directory(), tail->blocks(),
				    answered - std::min(answered, elsewhere), progress.conflicts, progress.refused,
				    progress.vanished, tail->kept_blocks(), progress.refused_files, tail->bytes(),
				    tail->is_known(), tail->has_ended(), tail->is_complete()});
	}
	return accounts;
}

SentSums Forwarding::sent() const
{
	const std::lock_guard lock(mutex_);
	return sums_;
}

std::uint64_t Forwarding::sent_again() const
{
	const std::lock_guard lock(mutex_);
	return window_.sent_again();
}

} // namespace monitor::fleet
