// SPDX-License-Identifier: MIT
#include "flight_recorder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/block_words.h"
#include "base/clock_ns.h"
#include "base/error.h"

namespace monitor::record {
namespace {

using namespace std::chrono_literals;

constexpr auto flight_sync_interval = 200ms;
constexpr auto max_drain_wait = 200ms;         // in poll_programs()
constexpr auto busy_interval = 1ms;            // while a snapshot waits for time or room
constexpr std::uint64_t own_bytes = 16 << 20;  // for the recorder's own blocks: 22 hours of clock snapshots
constexpr std::size_t max_cpu_times = 1 << 20; // 2 days
constexpr double kept_longer_ns = 1e9; // own blocks are kept longer than a ring's oldest block, for its clock snapshots

} // namespace

FlightRecorder::FlightRecorder(card::CardMemory &card, card::UserCard *users, ClockSteering &steering, Failure &failure,
			       const Uuid &uuid, std::size_t kernel_streams, std::uint64_t kept_bytes,
			       const card::PayloadWords &words, Triggers *triggers)
    : card_(card), users_(users), steering_(steering), failure_(failure), uuid_(uuid), kernel_streams_(kernel_streams),
      words_(words), ticks_in_ns_(steering.frequency_hz() / 1e9), triggers_(triggers), own_blocks_(own_bytes),
      program_blocks_(kept_bytes), control_(uuid, [this](const std::byte *block) { own_blocks_.keep(0, block); }),
      rings_(card), wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), read_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!wakeup_ || !read_)
		throw Error(errno, "cannot wake the thread that reads the rings");
	if (users_)
		users_->set_on_arrival([this] { ::eventfd_write(wakeup_.get(), 1); });
}

void FlightRecorder::start(std::uint64_t begin_time)
{
	begin_time_ = begin_time;
	thread_ = failure_.watched([this] { run(); });
}

void FlightRecorder::stop()
{
	if (!thread_.joinable())
		return;
	stopping_.store(true, std::memory_order_release);
	::eventfd_write(wakeup_.get(), 1);
	thread_.join();
}

void FlightRecorder::sync()
{
	const Sync sync = read_sync(steering_.invariant_tsc());
	steering_.update(sync);
	if (triggers_)
		triggers_->write(control_);
	control_.sync(steering_, sync);
	cpu_time_.emplace_back(sync.time, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	if (cpu_time_.size() > max_cpu_times)
		cpu_time_.pop_front();
}

void FlightRecorder::run()
{
	auto next_sync = Clock::now();
	while (!stopping_.load(std::memory_order_acquire)) {
		if (Clock::now() >= next_sync) {
			sync();
			next_sync += flight_sync_interval;
			next_sync = std::max(next_sync, Clock::now() + flight_sync_interval / 2);
			forget_old_blocks();
		}
		const unsigned requested = drains_requested_.load(std::memory_order_acquire);
		drain_users({});
		drains_done_.store(requested, std::memory_order_release);
		while (step())
			;
		wait(next_sync);
	}
}

void FlightRecorder::poll_programs()
{
	if (!users_)
		return;
	const unsigned requested = drains_requested_.fetch_add(1, std::memory_order_release) + 1;
	::eventfd_write(wakeup_.get(), 1);
	const auto deadline = Clock::now() + max_drain_wait;
	while (drains_done_.load(std::memory_order_acquire) != requested && Clock::now() < deadline)
		std::this_thread::sleep_for(100us);
}

void FlightRecorder::wait(Clock::time_point next_sync)
{
	auto left = std::max<Clock::duration>(next_sync - Clock::now(), 0ns);
	if (users_)
		left = std::min<Clock::duration>(left, users_->longest_wait());
	if (phase_.load(std::memory_order_acquire) != Phase::idle)
		left = std::min<Clock::duration>(left, busy_interval);
	const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
	const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
	pollfd fd{wakeup_.get(), POLLIN, 0};
	::ppoll(&fd, 1, &timeout, nullptr);
	eventfd_t times;
	::eventfd_read(wakeup_.get(), &times);
}

void FlightRecorder::drain_users(const card::UserCard::Push &show)
{
	if (!users_)
		return;
	const auto make_stream = [this](const std::string &name) {
		user_streams_.push_back(name);
		return static_cast<std::uint32_t>(kernel_streams_ + user_streams_.size() - 1);
	};
	const auto keep = [this](std::uint32_t stream, const std::byte *block) {
		program_blocks_.keep(stream, block);
		return true;
	};
	users_->drain(false, make_stream, keep, show);
	for (const edc_task &process : users_->take_arrived())
		control_.thread_state(process, false);
}

// Drops blocks older than everything in the rings. Not while a snapshot is read.
void FlightRecorder::forget_old_blocks()
{
	const std::uint64_t oldest = rings_.oldest_time();
	const auto margin = static_cast<std::uint64_t>(kept_longer_ns * ticks_in_ns_);
	if (oldest == ~std::uint64_t(0) || oldest < margin || phase_.load(std::memory_order_acquire) != Phase::idle)
		return;
	own_blocks_.forget_before(oldest - margin);
	program_blocks_.forget_before(oldest);
	while (cpu_time_.size() > 1 && cpu_time_[1].first < oldest)
		cpu_time_.pop_front();
}

void FlightRecorder::hold()
{
	held_at_ = Clock::now();
	rings_.hold();
}

void FlightRecorder::begin(Snapshot &snapshot)
{
	SnapshotAccount &account = snapshot.account();
	account.begin = begin_time_;
	is_cut_short_.store(false, std::memory_order_release);
	std::uint64_t from = 0;
	if (account.request.before_ns)
		from = account.asked.time -
		       std::min(
			   account.asked.time - std::min(account.asked.time, begin_time_),
			   static_cast<std::uint64_t>(static_cast<double>(*account.request.before_ns) * ticks_in_ns_));
	rings_.begin(from);
	account.from = std::max(from, begin_time_);
	snapshot_ = &snapshot;
	has_threads_ = false;
	phase_.store(Phase::held, std::memory_order_release);
	::eventfd_write(wakeup_.get(), 1);
}

void FlightRecorder::give_threads(std::vector<edc_task> threads)
{
	{
		const std::lock_guard guard(lock_);
		threads_ = std::move(threads);
		has_threads_ = true;
	}
	::eventfd_write(wakeup_.get(), 1);
}

void FlightRecorder::cut_short()
{
	is_cut_short_.store(true, std::memory_order_release);
	::eventfd_write(wakeup_.get(), 1);
}

bool FlightRecorder::is_read()
{
	eventfd_t times;
	return ::eventfd_read(read_.get(), &times) == 0;
}

// True: call again at once.
bool FlightRecorder::step()
{
	const auto take = [this](StreamNumber stream, const std::byte *block) {
		return snapshot_->take(stream, block, false);
	};
	switch (phase_.load(std::memory_order_acquire)) {
	case Phase::idle:
		return false;
	case Phase::held: {
		const SnapshotAccount &account = snapshot_->account();
		const auto after_ns = static_cast<std::int64_t>(account.request.after_ns);
		const auto since_ns = static_cast<std::int64_t>(clock_ns(CLOCK_MONOTONIC)) -
				      static_cast<std::int64_t>(account.asked.monotonic_ns);
		if (since_ns < after_ns && !is_cut_short_.load(std::memory_order_acquire)) {
			rings_.take(take);
			return false;
		}
		snapshot_->account().end = read_sync(steering_.invariant_tsc());
		snapshot_->account().settled = rings_.mark_end();
		shown_.clear();
		drain_users([this](std::uint32_t stream, const std::byte *block) {
			add_block(shown_, stream, block, true);
			return true;
		});
		kept_at_end_ = program_blocks_.number(); // blocks drained later were already shown
		phase_.store(Phase::rest, std::memory_order_release);
		return true;
	}
	case Phase::rest:
		if (!rings_.take_rest(read_sync(steering_.invariant_tsc()).time, take))
			return false;
		end_hold();
		phase_.store(Phase::threads, std::memory_order_release);
		return true;
	case Phase::threads: {
		const std::lock_guard guard(lock_);
		if (!has_threads_)
			return false;
		collect_blocks();
		phase_.store(Phase::others, std::memory_order_release);
		return true;
	}
	case Phase::others:
		break;
	}
	for (; written_ < to_write_.size(); ++written_) {
		const OtherBlock &next = to_write_[written_];
		if (!snapshot_->take(next.stream, next.bytes.data(), next.is_user))
			return false;
	}
	to_write_ = {}; // also frees the memory
	shown_ = {};
	phase_.store(Phase::idle, std::memory_order_release);
	::eventfd_write(read_.get(), 1);
	return false;
}

void FlightRecorder::end_hold()
{
	rings_.release();
	SnapshotAccount &account = snapshot_->account();
	account.held_ns = static_cast<std::uint64_t>(
	    std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - held_at_).count());
	account.rings = rings_.parts();
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu) {
		account.since.push_back(std::max(rings_.complete_since(cpu), account.from));
	}
	account.from = std::max(account.from, *std::max_element(account.since.begin(), account.since.end()));
	sync(); // no token is later than this one
	account.clock = describe_clock(steering_);
	control_.flush();
}

void FlightRecorder::add_block(std::vector<OtherBlock> &to, StreamNumber stream, const std::byte *block,
			       bool is_user) const
{
	OtherBlock &added = to.emplace_back();
	added.stream = stream;
	added.is_user = is_user;
	std::memcpy(added.bytes.data(), block, EDC_BLOCK_SIZE);
}

// Writes the names of existing threads at the start of the snapshot. Threads created within the gapless part have
// tokens of their own.
void FlightRecorder::add_threads(ControlStream &to, std::uint64_t time) const
{
	const SnapshotAccount &account = snapshot_->account();
	const double back_ns =
	    static_cast<double>(account.asked.time - std::min(account.asked.time, account.from)) / ticks_in_ns_;
	const std::uint64_t from_ns =
	    account.asked.monotonic_ns - std::min(account.asked.monotonic_ns, static_cast<std::uint64_t>(back_ns));
	for (edc_task thread : threads_) {
		if (thread.start_ns > from_ns)
			continue;
		thread.time = time;
		thread.flags = (thread.flags & ~static_cast<__u32>(EDC_THREAD_RUNNING)) | EDC_THREAD_LATER;
		to.thread_state(thread, false);
	}
}

// Repeats the recorder's own tokens from this time on, without thread names: add_threads() has current ones, while
// later rename events may be overwritten.
void FlightRecorder::repeat_own_tokens(ControlStream &to, std::uint64_t from) const
{
	std::set<std::int32_t> known;
	for (const edc_task &thread : threads_)
		known.insert(thread.pid);
	own_blocks_.visit_from(from, own_blocks_.number(), [&](StreamNumber, const std::byte *block) {
		const edc_block header = header_of(block);
		for (std::uint64_t at = EDC_BLOCK_HEADER; at + 8 <= header.content_size / 8;) {
			std::array<std::uint64_t, 8> record;
			std::memcpy(record.data(), block + at,
				    std::min<std::size_t>(sizeof record, EDC_BLOCK_SIZE - at));
			const std::size_t words = words_[edc_token_id(record[0])];
			if (words >= record.size())
				break; // not the recorder's class
			const std::uint64_t time =
			    header.timestamp_begin +
			    static_cast<std::uint32_t>(edc_token_time(record[0]) - header.timestamp_begin);
			const bool is_known = edc_token_id(record[0]) == EDC_ID_THREAD_STATE &&
					      known.contains(static_cast<std::int32_t>(record[1]));
			if (time >= from && !is_known)
				to.repeat(record[0], std::span(record).subspan(1, words), time);
			at += 8 * (1 + words);
		}
	});
}

// Under the lock. All streams but the kernel's, each in the order of time.
void FlightRecorder::collect_blocks()
{
	SnapshotAccount &account = snapshot_->account();
	std::uint64_t first = account.from;
	for (const RingPart &part : account.rings)
		if (part.begin_time)
			first = std::min(first, part.begin_time);
	const std::uint64_t from = first - std::min(first, static_cast<std::uint64_t>(kept_longer_ns * ticks_in_ns_));
	to_write_.clear();
	written_ = 0;
	ControlStream control(uuid_, [&](const std::byte *block) { add_block(to_write_, 0, block, false); });
	add_threads(control, from);
	repeat_own_tokens(control, from);
	control.flush();
	program_blocks_.visit_from(first, kept_at_end_, [&](StreamNumber stream, const std::byte *block) {
		add_block(to_write_, stream, block, true);
	});
	to_write_.insert(to_write_.end(), shown_.begin(), shown_.end());
	renumber_blocks();
	snapshot_->add_streams(user_streams_);
	account.overwritten_blocks = program_blocks_.overwritten();
	account.programs_since = program_blocks_.overwritten_until();
	const auto cpu_ns_at = [&](std::uint64_t time) {
		const auto after =
		    std::upper_bound(cpu_time_.begin(), cpu_time_.end(), std::pair(time, ~std::uint64_t(0)));
		return after == cpu_time_.begin() ? cpu_time_.front().second : std::prev(after)->second;
	};
	account.wall_ns =
	    static_cast<std::uint64_t>(static_cast<double>(account.end.time - account.from) / ticks_in_ns_);
	account.cpu_ns = cpu_ns_at(steering_.last().time) - cpu_ns_at(account.from);
}

// Renumbers the blocks, so that each stream starts at 0.
void FlightRecorder::renumber_blocks()
{
	struct First {
		std::uint64_t blocks = 0, discarded = 0;
	};
	std::map<StreamNumber, First> streams;
	for (OtherBlock &own : to_write_) {
		auto *header = reinterpret_cast<edc_block *>(own.bytes.data());
		const auto [stream, is_first] = streams.try_emplace(own.stream);
		if (is_first)
			stream->second.discarded = header->events_discarded;
		header->packet_seq_num = stream->second.blocks++;
		header->events_discarded -= stream->second.discarded;
	}
}

} // namespace monitor::record
