// SPDX-License-Identifier: MIT
#include "flight.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"

namespace monitor::record {
namespace {

constexpr std::size_t max_requests = 16; // pending
constexpr SnapshotRequest::By by_trigger = SnapshotRequest::By::trigger;

SnapshotRequest request_of(const NamedTrigger &trigger)
{
	const auto act = std::ranges::find(trigger.acts, TriggerAct::Kind::snapshot, &TriggerAct::kind);
	return {act->before_ns, act->after_ns, "the trigger " + trigger.name, by_trigger, trigger.name};
}

} // namespace

Flight::Flight(FlightParts parts)
    : parts_(std::move(parts)), start_clock_(describe_clock(parts_.steering)),
      frequency_hz_(parts_.steering.frequency_hz()), words_(card::payload_words(parts_.card.options().counters_in_set)),
      pool_(parts_.pool_blocks),
      recorder_(parts_.card, parts_.users, parts_.steering, parts_.failure, parts_.uuid, parts_.kernel_streams.size(),
		std::uint64_t(parts_.pool_blocks) * EDC_BLOCK_SIZE, words_, parts_.fired)
{
	recorder_.control().sync(parts_.steering.last());
	recorder_.sync();
}

void Flight::start()
{
	const std::uint64_t begin_time = parts_.steering.last().time;
	for (const edc_task &thread : parts_.threads())
		recorder_.control().thread_state(thread, false);
	recorder_.control().flush();
	recorder_.start(begin_time);
	arm();
	write(false); // announce that snapshots can be taken
}

// Lets triggers hold the rings, if a snapshot could begin now.
void Flight::arm()
{
	if (!current_ && waiting_.empty() && end_reason_.empty() && clock_ns(CLOCK_MONOTONIC) >= delay_until_ns_ &&
	    !(parts_.options.snapshots && finished_ >= parts_.options.snapshots))
		recorder_.arm();
}

// Delays triggers' snapshots after a failure (disk full, directory gone).
void Flight::note_result(const std::string &failure)
{
	failure_ = failure;
	++(failure.empty() ? finished_ : failed_);
	delay_ns_ = failure.empty() ? 0 : std::clamp<std::uint64_t>(2 * delay_ns_, 1'000'000'000, 60'000'000'000);
	delay_until_ns_ = clock_ns(CLOCK_MONOTONIC) + delay_ns_;
}

void Flight::fired(const Firing &firing, const NamedTrigger &trigger)
{
	if (trigger.ends())
		end_reason_ = fmt::format("the trigger {} fired", trigger.name);
	if (!trigger.takes_snapshot())
		return;
	if (current_ || (!firing.held && firing.by == Firing::By::probe)) {
		left_out_ += !firing.is_unnoted; // a snapshot is in progress, or writing is delayed
		return;
	}
	begin({request_of(trigger), {}, firing.at});
}

double Flight::seconds(std::uint64_t from, std::uint64_t to) const
{
	return static_cast<double>(to - std::min(from, to)) / frequency_hz_;
}

nlohmann::ordered_json Flight::state() const
{
	return {{"pid", ::getpid()}, {"snapshots", finished_}, {"failed", failed_}, {"failure", failure_}};
}

void Flight::write(bool is_over) const
{
	nlohmann::ordered_json json = {{"version", 1}, {"over", is_over}, {"begun", announced_.json()}};
	json.update(state());
	replace_file(parts_.directory + "/.monitor/flight.json", json_dump(json, 1) + "\n", 0600);
}

// A full disk does not end the flight.
void Flight::try_write(bool is_over) const
{
	try {
		write(is_over);
	} catch (const Error &) {
	}
}

// If this recorder has the same trigger as the other host, uses its times.
void Flight::take_window_of_trigger(SnapshotRequest &request) const
{
	const auto trigger = std::ranges::find(parts_.triggers, request.trigger, &NamedTrigger::name);
	if (request.trigger.empty() || trigger == parts_.triggers.end() || !trigger->takes_snapshot())
		return;
	const SnapshotRequest wanted = request_of(*trigger);
	request.before_ns = wanted.before_ns;
	request.after_ns = wanted.after_ns;
}

SnapshotWindow Flight::window_of(const SnapshotRequests::Received &received) const
{
	const auto &before_ns = received.request.before_ns ? received.request.before_ns : parts_.options.before_ns;
	return {received.at.monotonic_ns, before_ns, received.request.after_ns};
}

// Answers with the newest snapshot if that covers the request.
bool Flight::join(const SnapshotRequests::Received &received) const
{
	if (!received.request.joins || announced_.empty() || !newest_.covers(window_of(received)))
		return false;
	const BegunSnapshot &newest = announced_.newest();
	SnapshotRequests::answer(received.caller, json_dump(nlohmann::json{{"joined", newest.number},
									   {"time", newest.time},
									   {"realtime_ns", newest.realtime_ns},
									   {"frozen_time", newest.frozen_time},
									   {"frozen_ns", newest.frozen_ns}}));
	return true;
}

void Flight::take_requests()
{
	for (SnapshotRequests::Received &received : parts_.requests.take(state())) {
		const auto is_signal = [](const SnapshotRequests::Received &other) { return !other.caller; };
		take_window_of_trigger(received.request);
		if ((is_signal(received) && std::ranges::any_of(waiting_, is_signal)) || join(received))
			continue;
		if (waiting_.size() >= max_requests) {
			SnapshotRequests::answer(received.caller, R"({"error": "too many requests wait already"})");
			continue;
		}
		waiting_.push_back(std::move(received));
	}
}

std::string Flight::serve()
{
	take_requests();
	if (current_ && parts_.requests.is_gone(caller_))
		recorder_.cut_short();
	std::erase_if(waiting_, [this](const SnapshotRequests::Received &received) {
		return parts_.requests.is_gone(received.caller);
	});
	if (current_ && recorder_.is_read())
		finish();
	if (parts_.options.snapshots && finished_ >= parts_.options.snapshots)
		return "all of its snapshots were taken";
	if (!end_reason_.empty() && !current_ && waiting_.empty())
		return end_reason_;
	while (!current_ && !waiting_.empty()) {
		SnapshotRequests::Received next = std::move(waiting_.front());
		waiting_.pop_front();
		begin(std::move(next));
	}
	if (!current_ && recorder_.is_held()) { // by a firing that was not noted for lack of room
		SnapshotRequest request{{}, 0, "a trigger", by_trigger};
		if (std::ranges::count_if(parts_.triggers, &NamedTrigger::takes_snapshot) == 1)
			request = request_of(*std::ranges::find_if(parts_.triggers, &NamedTrigger::takes_snapshot));
		begin({request, {}, read_sync(parts_.steering.invariant_tsc())});
	}
	arm();
	return "";
}

// Announces the snapshot first, for those who wait for it.
void Flight::announce_begun(const SnapshotRequests::Received &received, bool was_held)
{
	const SnapshotRequest &request = received.request;
	const Sync frozen = was_held ? received.at : read_sync(parts_.steering.invariant_tsc());
	announced_.add({begun_, request.by, request.why, request.by == by_trigger ? request.trigger : "",
			received.at.time, received.at.realtime_ns, frozen.time, frozen.realtime_ns});
	newest_ = window_of(received);
	try_write(false);
}

void Flight::begin(SnapshotRequests::Received received)
{
	const bool was_held = recorder_.is_held();
	recorder_.hold(); // the disk may stall
	++begun_;
	announce_begun(received, was_held);
	caller_ = std::move(received.caller);
	SnapshotAccount account;
	account.number = begun_;
	account.request = std::move(received.request);
	account.asked = received.at;
	if (!account.request.before_ns)
		account.request.before_ns = parts_.options.before_ns;
	try {
		current_ = std::make_unique<Snapshot>(fmt::format("{}/{:03}", parts_.directory, account.number),
						      parts_.kernel_streams, parts_.max_user_streams, pool_, words_,
						      std::move(account));
	} catch (const std::exception &error) {
		SnapshotRequests::answer(caller_, json_dump(nlohmann::json{{"error", error.what()}}));
		if (parts_.on_snapshot)
			parts_.on_snapshot(error.what());
		caller_.reset();
		recorder_.release();
		note_result(error.what());
		return;
	}
	recorder_.begin(*current_);
	std::vector<edc_task> threads;
	try {
		threads = parts_.threads();
	} catch (const std::exception &) { // their names are missing then
	}
	recorder_.give_threads(std::move(threads));
	try { // in case the recorder is killed
		replace_file(current_->directory() + "/metadata", parts_.description(start_clock_), 0600);
		parts_.write_initial_file(current_->directory());
		current_->keep(true);
	} catch (const std::exception &) { // finish() tries again and says why
	}
}

// A message: how far back the snapshot goes, and what it lacks.
std::string Flight::message_about(const Snapshot &snapshot) const
{
	const SnapshotAccount &account = snapshot.account();
	std::string text =
	    fmt::format("{}: {} events, {:.1f} MB, from {:.3f} s before to {:.3f} s after it was asked for by {}",
			snapshot.directory(), account.kernel_tokens(),
			static_cast<double>(snapshot.writer().bytes()) / 1e6, seconds(account.from, account.asked.time),
			seconds(account.asked.time, account.end.time), account.request.why);
	const bool is_short = account.request.before_ns && seconds(account.from, account.asked.time) * 1e9 <
							       0.99 * static_cast<double>(*account.request.before_ns);
	const auto latest = std::ranges::max_element(account.since);
	if (is_short && account.from <= account.begin)
		text += "; the recorder did not run before that";
	else if (is_short && latest != account.since.end() && *latest == account.from)
		text +=
		    fmt::format("; the rings of CPU {} reach no further back than that (a larger one: --flight SIZE)",
				latest - account.since.begin());
	if (account.programs_since > account.from)
		text += fmt::format("; events of programs only from {:.3f} s before, older ones were overwritten",
				    seconds(account.programs_since, account.asked.time));
	text += fmt::format("; {} discarded, nothing was overwritten for {:.1f} ms", account.discarded(),
			    static_cast<double>(account.held_ns) / 1e6);
	return text;
}

void Flight::finish()
{
	std::string error = current_->finish();
	bool is_readable = current_->is_kept(); // thanks to the files written at its start
	try {
		parts_.write_names(current_->directory());
		replace_file(current_->directory() + "/metadata", parts_.description(current_->account().clock), 0600);
		is_readable = true;
		parts_.write_final_file(*current_, error.empty());
	} catch (const std::exception &failed) {
		if (error.empty())
			error = failed.what();
	}
	current_->keep(is_readable && current_->writer().bytes() > 0);
	const SnapshotAccount &account = current_->account();
	nlohmann::ordered_json reply = {{"directory", current_->directory()},
					{"events", account.kernel_tokens()},
					{"bytes", current_->writer().bytes()},
					{"before_s", seconds(account.from, account.asked.time)},
					{"after_s", seconds(account.asked.time, account.end.time)},
					{"discarded", account.discarded()},
					{"held_ms", static_cast<double>(account.held_ns) / 1e6},
					{"number", account.number},
					{"frozen_ns", announced_.newest().frozen_ns}};
	if (!error.empty())
		reply = {{"error", fmt::format("the snapshot {} {}: {}", current_->directory(),
					       current_->is_kept() ? "is incomplete" : "could not be written", error)}};
	reply["text"] = message_about(*current_);
	SnapshotRequests::answer(caller_, json_dump(reply));
	if (parts_.on_snapshot)
		parts_.on_snapshot(error.empty() ? message_about(*current_) : reply["error"].get<std::string>());
	caller_.reset();
	current_.reset();
	note_result(error);
	arm(); // before its end is announced
	try_write(false);
}

void Flight::end(const std::string &reason)
{
	const Failure &failure = parts_.failure;
	if (end_reason_.empty())
		end_reason_ = reason; // triggers take no more snapshots
	while (!failure.reported() && serve().empty() && (current_ || !waiting_.empty())) { // earlier requests
		if (current_)
			recorder_.cut_short();
		pollfd fds[] = {{recorder_.fd(), POLLIN, 0}, {failure.fd(), POLLIN, 0}};
		::poll(fds, std::size(fds), -1);
	}
	const std::string refusal =
	    json_dump(nlohmann::json{{"error", "the flight recorder ended before it took the snapshot: " + reason}});
	SnapshotRequests::answer(caller_, refusal);
	for (const SnapshotRequests::Received &received : waiting_)
		SnapshotRequests::answer(received.caller, refusal);
	waiting_.clear();
	recorder_.stop();
	try_write(true);
}

} // namespace monitor::record
