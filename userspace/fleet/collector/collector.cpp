// SPDX-License-Identifier: MIT
#include "collector.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/durable_file.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fetched_trace.h"
#include "block_writer.h"

namespace monitor::fleet {
namespace {

constexpr const char *periods = "statistics_"; // of `monitor record --statistics`: one period per file
constexpr auto report_interval = std::chrono::seconds(10);
// Messages of a replaced session may still arrive; a session that was silent for long may return.
constexpr auto session_overlap = std::chrono::seconds(2), session_silence = std::chrono::seconds(30);
constexpr std::size_t max_replaced_sessions = 64, max_conflicts_kept = 256, max_reported = 4096, max_reasons = 32,
		      max_hosts_of_run = 100'000;

std::shared_ptr<const Fd> open_stream(const std::string &path)
{
	constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
	Fd fd(::open(path.c_str(), flags));
	if (!fd && errno == ENOENT)
		fd = Fd(::open(path.c_str(), flags | O_CREAT, 0600));
	if (!fd)
		throw Error(errno, "cannot open " + path);
	return std::make_shared<const Fd>(std::move(fd));
}

// Blocks of an on-demand trace may be far from earlier ones; all of its files together stay below the limit of one.
std::uint64_t max_ahead(const StoredTrace &stored)
{
	if (!stored.descriptions.contains(fetched_file))
		return max_blocks_ahead;
	return std::max(max_blocks_ahead, max_stream_blocks - std::min(max_stream_blocks, stored.size()));
}

} // namespace

Collector::Collector(const std::string &directory, const std::string &run,
		     std::function<void(const std::string &, const Answer &)> answer,
		     std::function<void(const std::string &)> report, const Shard &shard, int hub_pid)
    : answer_(std::move(answer)), report_(std::move(report)), directory_(directory, run, shard),
      descriptions_(directory_.path() + "/.monitor/incoming"), cost_(hub_pid), accounts_disk_(directory_.path()),
      saved_traces_(directory_.traces()), syncer_(
					      directory_.path(), [this] { return save_new_traces(); }, answer_,
					      [this](const std::string &path, int error_number) {
						      const std::lock_guard lock(failures_mutex_);
						      write_failures_[path] = error_number;
					      })
{
	cost_.load(directory_.cost);
	for (const auto &[name, stored] : directory_.hosts())
		hosts_of_run_.insert(name);
}

void Collector::report(const std::string &cause, const std::string &sentence)
{
	const Clock::time_point now = Clock::now();
	if (reported_.size() >= max_reported)
		std::erase_if(reported_, [&](const auto &each) { return now - each.second > report_interval; });
	if (reported_.size() >= max_reported)
		return;
	const auto [last, is_first] = reported_.try_emplace(cause, now);
	if (!is_first && now - last->second < report_interval)
		return;
	last->second = now;
	if (report_)
		report_(sentence);
}

Answer Collector::answer_of(Status status, std::size_t conflicts, const std::string &why) const
{
	return {status, static_cast<std::uint32_t>(conflicts), directory_.store(), directory_.instance(), why};
}

void Collector::refuse(const std::string &host, const std::string &reply, Status status, const std::string &why)
{
	if (directory_.hosts().contains(host)) { // an invalid message does not create a host
		auto &refused = directory_.host(host).refused;
		++refused[refused.contains(why) || refused.size() < max_reasons ? why : "other reasons"];
		is_changed_ = true;
	}
	report(host + why,
	       fmt::format("{}: {} {}", host, status == Status::later ? "waits:" : "a message is refused:", why));
	if (!reply.empty())
		answer_(reply, answer_of(status, 0, why));
}

bool Collector::is_of_this_run(const TraceName &trace, const std::string &reply) const
{
	if (directory_.run().empty() || trace.run.empty() || trace.run == directory_.run())
		return true;
	if (!reply.empty())
		answer_(reply, answer_of(Status::not_mine, 0, "it takes the run " + directory_.run() + " only"));
	return false;
}

bool Collector::accept_session(const std::string &host, std::uint64_t session, const std::string &reply)
{
	const Clock::time_point now = Clock::now();
	Session &known = sessions_[host];
	StoredHost &stored = directory_.host(host);
	stored.last_seen_ns = clock_ns(CLOCK_REALTIME);
	is_changed_ = true;
	if (known.current != session) {
		const bool was_replaced = known.replaced.contains(session);
		if (was_replaced && now - known.last_message_at < session_silence) {
			if (now - known.started_at > session_overlap)
				report(host + " sessions",
				       host + ": two agents send as this host at the same time: stop one, or give it a "
					      "name and a certificate of its own");
			refuse(host, reply, Status::replaced, "another session of this host has started since");
			return false;
		}
		if (known.current && known.replaced.size() < max_replaced_sessions)
			known.replaced.insert(known.current);
		known.replaced.erase(session);
		known.current = session;
		known.started_at = now;
		++stored.sessions;
	}
	known.last_message_at = now;
	return true;
}

StoredTrace *Collector::trace_of(const std::string &host, const TraceName &trace, const std::string &reply)
{
	std::string why;
	StoredTrace *const stored = directory_.find_or_add(host, trace.uuid, trace.part, why);
	if (!stored) {
		refuse(host, reply, Status::invalid, why);
	} else {
		const std::lock_guard lock(hosts_mutex_);
		hosts_of_run_.insert(host);
	}
	if (const std::string notice = directory_.take_notice(); !notice.empty())
		report(host + " unaccounted", notice);
	return stored;
}

template <class Message>
void Collector::receive(const std::string &host, std::span<const std::byte> untrusted, const std::string &reply,
			bool (*decode)(std::span<const std::byte>, Message &, std::string &))
{
	Message message;
	std::string why;
	const bool is_message = decode(untrusted, message, why);
	syncer_.wait_for_room();
	const std::lock_guard lock(mutex_);
	cost_.add_received(untrusted.size());
	if (!is_message)
		return refuse(host, reply, is_of_later_version(untrusted) ? Status::later : Status::invalid, why);
	if (!is_of_this_run(message.trace, reply) || !accept_session(host, message.session, reply))
		return;
	try {
		store(host, message, reply);
	} catch (const Error &error) {
		refuse(host, reply, status_of_error(error.code().value()), error.what());
	}
}

void Collector::batch(const std::string &host, std::span<const std::byte> untrusted, const std::string &reply)
{
	receive(host, untrusted, reply, decode_batch);
}

void Collector::piece(const std::string &host, std::span<const std::byte> untrusted, const std::string &reply)
{
	receive(host, untrusted, reply, decode_piece);
}

void Collector::store(const std::string &host, const Batch &batch, const std::string &reply)
{
	StoredTrace *const stored = trace_of(host, batch.trace, reply);
	if (!stored)
		return;
	const std::size_t most = batch.stream.starts_with(periods) ? max_periods_of_trace : max_streams_of_trace;
	if (!stored->streams.contains(batch.stream) && stored->streams.size() >= most)
		return refuse(host, reply, Status::invalid, fmt::format("the trace has {} streams already", most));
	const std::string path = directory_.path_of(*stored, batch.stream);
	const std::shared_ptr<const Fd> file = open_stream(path);
	const bool is_again = had_write_failure(path);
	const Placed placed = place_blocks(file->get(), batch.first_block, batch.blocks, is_again, max_ahead(*stored));
	if (placed.too_far)
		return refuse(host, reply, Status::invalid, "its blocks are too far from the end of their stream");
	StoredTrace::StoredStream &stream = stored->streams[batch.stream];
	stream.size = placed.size_blocks;
	stream.blocks += placed.added;
	StoredHost &account = directory_.host(host);
	account.repeated += placed.repeated;
	if (placed.error)
		throw Error(placed.error, "cannot write the trace of " + host);
	for (const unsigned number : placed.conflicts)
		keep_conflict(host, batch, number);
	account.conflicts += placed.conflicts.size();
	++account.batches;
	const bool is_first = stored->synced_entries.insert(batch.stream).second;
	syncer_.add({path, file, is_first || is_again, "", stored->number, reply,
		     answer_of(Status::stored, placed.conflicts.size())});
}

// If a write to the disk failed, repeated content is written again, as the kernel may have dropped it.
bool Collector::had_write_failure(const std::string &path)
{
	int error_number = 0;
	{
		const std::lock_guard lock(failures_mutex_);
		const auto found = write_failures_.find(path);
		if (found == write_failures_.end())
			return false;
		error_number = std::exchange(found->second, 0); // reported once for each failure
	}
	if (error_number)
		report("sync", fmt::format("{} could not be written to the disk: {}; it is written again", path,
					   std::strerror(error_number)));
	return true;
}

// A block that differs from the stored one, as after a host was restored from a snapshot. The stored one stays; the
// other is on the disk when this returns, as its batch is answered `stored`.
void Collector::keep_conflict(const std::string &host, const Batch &batch, unsigned number)
{
	StoredHost &account = directory_.host(host);
	const std::string directory = directory_.path() + "/.monitor/conflicts";
	const bool is_kept = account.conflicts_kept < max_conflicts_kept;
	report(host + (is_kept ? " conflict" : " conflict lost"),
	       fmt::format("{}: block {} of {} differs from the one that was stored before; it is {}", host,
			   batch.first_block + number, batch.stream,
			   is_kept ? "kept in " + directory
				   : fmt::format("dropped, as {} such blocks are kept already", max_conflicts_kept)));
	if (!is_kept)
		return;
	const std::string path = fmt::format("{}/{}-{}-{}-{}-{}", directory, host, uuid_digits(batch.trace.uuid),
					     batch.stream, batch.first_block + number, account.conflicts_kept + 1);
	const Fd file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	write_all(file.get(), batch.blocks.subspan(number * block_bytes, block_bytes), path);
	if (::fdatasync(file.get()) < 0)
		throw Error(errno, "cannot write " + path);
	sync_directory(directory);
	++account.conflicts_kept;
}

void Collector::store(const std::string &host, const Piece &piece, const std::string &reply)
{
	StoredTrace *const stored = trace_of(host, piece.trace, reply);
	if (!stored)
		return;
	if (!stored->descriptions.contains(piece.file) && stored->descriptions.size() >= max_descriptions_of_trace)
		return refuse(host, reply, Status::invalid,
			      fmt::format("the trace has {} descriptions already", max_descriptions_of_trace));
	const std::string target = directory_.path_of(*stored, piece.file);
	Descriptions::Whole whole;
	const Status status = descriptions_.add_piece(host, target, piece, whole);
	if (status != Status::stored)
		return answer_(reply, answer_of(status));
	stored->descriptions[piece.file] = piece.file_bytes;
	syncer_.add({whole.path, whole.file, true, target, stored->number, reply, answer_of(status)});
}

void Collector::add_cost(const std::string &host, const std::string &session, const CostSums &untrusted_since_start)
{
	const std::lock_guard lock(mutex_);
	cost_.add_report(host, session, untrusted_since_start);
	if (!directory_.hosts().contains(host))
		return;
	last_reports_[host] = Clock::now();
	is_changed_ = true;
}

bool Collector::has_host(const std::string &host)
{
	const std::lock_guard lock(hosts_mutex_);
	return hosts_of_run_.contains(host);
}

void Collector::note_runs(const std::string &host, const std::vector<Presence::Run> &untrusted_runs)
{
	const std::lock_guard lock(hosts_mutex_);
	if (hosts_of_run_.size() < max_hosts_of_run &&
	    std::ranges::any_of(untrusted_runs, [&](const auto &run) { return run.name == directory_.run(); }))
		hosts_of_run_.insert(host);
}

bool Collector::has_reported(const std::string &host, Clock::time_point time)
{
	const std::lock_guard lock(mutex_);
	const auto last = last_reports_.find(host);
	return last != last_reports_.end() && last->second >= time;
}

void Collector::update_cost()
{
	std::set<std::string> hosts;
	for (const auto &[name, stored] : directory_.hosts())
		hosts.insert(name);
	directory_.cost = cost_.json(hosts);
}

// Called with saving_mutex_ locked; locks mutex_ only while copying, as the disk may take long.
void Collector::write_accounts()
{
	nlohmann::ordered_json accounts;
	std::set<std::string> directories;
	std::uint64_t traces = 0;
	{
		const std::lock_guard lock(mutex_);
		update_cost();
		accounts = directory_.accounts();
		directories = directory_.take_unsynced_directories();
		traces = directory_.traces();
		is_changed_ = false;
	}
	try {
		for (const auto &[path, error] : sync_directories(accounts_disk_, directories))
			if (error != ENOENT) // a removed directory has no entries
				throw Error(error, "cannot write the directory " + path);
		directory_.write(accounts);
	} catch (const Error &) {
		const std::lock_guard lock(mutex_);
		is_changed_ = true;
		directory_.return_unsynced_directories(directories);
		throw;
	}
	saved_traces_ = traces;
}

void Collector::save()
{
	const std::lock_guard saving(saving_mutex_);
	{
		const std::lock_guard lock(mutex_);
		if (!is_changed_)
			return;
	}
	write_accounts();
}

// Called before anything in new traces is acknowledged. After a failure their messages are sent again, and it is
// repeated.
std::uint64_t Collector::save_new_traces()
{
	const std::lock_guard saving(saving_mutex_);
	try {
		bool is_new = false;
		{
			const std::lock_guard lock(mutex_);
			is_new = directory_.traces() != saved_traces_;
		}
		if (is_new)
			write_accounts();
	} catch (const Error &error) {
		const std::lock_guard lock(mutex_);
		report("accounts", error.what());
	}
	return saved_traces_;
}

nlohmann::ordered_json Collector::accounts()
{
	const std::lock_guard lock(mutex_);
	update_cost();
	return directory_.accounts();
}

} // namespace monitor::fleet
