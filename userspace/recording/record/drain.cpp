// SPDX-License-Identifier: MIT
#include "drain.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>

#include "base/error.h"

namespace monitor::record {
namespace {

using namespace std::chrono_literals;

constexpr auto sync_interval = 100ms;
constexpr auto slow_look = 100ms;
constexpr auto fast_look = 20ms;
constexpr auto min_look_interval = 2ms; // from one pass to the next, whatever requests it
constexpr auto user_look = 40ms;        // while there are programs whose bell cannot be heard
constexpr auto write_interval = 500ms;  // for a slow flow of blocks: the writer need not wake for each
constexpr unsigned fast_above = 60;     // thousandths of a ring at a pass
constexpr unsigned slow_below = 8;
constexpr std::uint32_t kept_for_kernel = 4; // one part in this many of the pool is not for programs' blocks
constexpr int syncs_per_control_block = 10;  // a killed recording lacks at most the last second of snapshots

} // namespace

Drain::Drain(card::BpfCard *card, card::UserCard *users, BlockPool &pool, ControlStream &control,
	     ClockSteering &steering, Failure &failure)
    : card_(card), users_(users), push_user_([this](std::uint32_t stream, const std::byte *block) {
	      return push(stream, block, pool_.blocks() / kept_for_kernel);
      }),
      pool_(pool), control_(control), steering_(steering), failure_(failure),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!wakeup_)
		throw Error(errno, "cannot wake the thread that reads the rings");
	if (users_)
		users_->set_on_arrival([this] { wake(); });
}

void Drain::start()
{
	thread_ = std::thread([this] {
		try {
			run();
		} catch (const std::exception &error) {
			failure_.report(error);
		}
	});
}

void Drain::stop()
{
	if (!thread_.joinable())
		return;
	stopping_.store(true, std::memory_order_release);
	wake();
	thread_.join();
}

void Drain::wake() const
{
	::eventfd_write(wakeup_.get(), 1);
}

// Waits until a thread wakes this one, a ring is half full, or the next pass is due. A ring that stayed half full,
// because it filled during a pass, does not ring again. If the pool is full, only time helps.
void Drain::wait_for_work(Clock::time_point last_look, Clock::time_point next_look)
{
	if (stalled_ || !half_full()) {
		const auto left = std::max<Clock::duration>(next_look - Clock::now(), 0ns);
		const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
		const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
		pollfd fds[] = {{wakeup_.get(), POLLIN, 0}, {card_ && !stalled_ ? card_->bell() : -1, POLLIN, 0}};
		::ppoll(fds, 2, &timeout, nullptr);
	}
	std::this_thread::sleep_until(std::min(next_look, last_look + min_look_interval));
	eventfd_t times;
	::eventfd_read(wakeup_.get(), &times);
	if (card_)
		card_->heard();
}

// The counterpart of the writers' check of `read` (monitor/ring.h): one of the two sees what the other did.
bool Drain::half_full() const
{
	if (!card_)
		return false;
	std::atomic_thread_fence(std::memory_order_seq_cst);
	for (unsigned cpu = 0; cpu < card_->cpus(); ++cpu)
		for (unsigned level = 0; level < card_->rings(); ++level) {
			const edc_ring &ring = card_->area(cpu).level[level].ring;
			const std::uint64_t closed = __atomic_load_n(&ring.closed, __ATOMIC_RELAXED);
			if (ring.blocks && closed - card_->area(cpu).reader.read[level] >= ring.blocks / 2)
				return true;
		}
	return false;
}

void Drain::run()
{
	Clock::duration look = fast_look;
	auto last_look = Clock::now();
	auto next_sync = last_look + sync_interval;
	auto next_write = last_look;
	auto next_call = every_ ? last_look + interval_ : Clock::time_point::max();
	bool to_write = false;
	int syncs = 0;
	for (;;) {
		if (users_ && users_->must_poll())
			look = std::min<Clock::duration>(look, user_look);
		wait_for_work(last_look, std::min({next_sync, next_call, last_look + look}));
		last_look = Clock::now();
		const bool stopped = stopping_.load(std::memory_order_acquire);
		const unsigned fill = drain_all();
		if (fill > worst_fill_.load(std::memory_order_relaxed))
			worst_fill_.store(fill, std::memory_order_relaxed);
		if (fill >= fast_above)
			look = fast_look;
		else if (fill < slow_below)
			look = slow_look;
		if (Clock::now() >= next_sync) {
			sync();
			if (++syncs % syncs_per_control_block == 0)
				control_.flush();
			next_sync = std::max(next_sync + sync_interval, Clock::now() + sync_interval / 2);
		}
		if (Clock::now() >= next_call) {
			every_(read_sync(steering_.invariant_tsc()));
			next_call +=
			    interval_ * ((Clock::now() - next_call) / interval_ + 1); // those missed are left out
		}
		push_pending();
		to_write |= fill > 0;
		if (to_write && (fill >= slow_below || Clock::now() >= next_write)) {
			pool_.wake();
			to_write = false;
			next_write = Clock::now() + write_interval;
		}
		if (stopped)
			return;
	}
}

void Drain::set_every(std::chrono::nanoseconds interval, std::function<void(const Sync &)> call)
{
	interval_ = interval;
	every_ = std::move(call);
}

void Drain::sync()
{
	const Sync sync = read_sync(steering_.invariant_tsc());
	steering_.update(sync);
	if (before_sync_)
		before_sync_(sync);
	control_.sync(steering_, sync);
}

bool Drain::push(StreamNumber stream, const std::byte *block, std::uint32_t left_over)
{
	std::uint32_t index;
	if (!pool_.take(index, left_over))
		return false;
	std::memcpy(pool_.at(index), block, EDC_BLOCK_SIZE);
	pool_.give({index, stream});
	return true;
}

void Drain::push_control(const std::byte *block)
{
	pending_.emplace_back();
	std::memcpy(pending_.back().data(), block, EDC_BLOCK_SIZE);
	push_pending();
}

void Drain::push_pending()
{
	bool pushed = false;
	while (!pending_.empty() && push(0, pending_.front().data())) {
		pending_.pop_front();
		pushed = true;
	}
	if (pushed)
		pool_.wake();
}

unsigned Drain::drain_all(bool last)
{
	unsigned worst = 0;
	stalled_ = false;
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu) {
		for (unsigned level = 0; level < card_->rings(); ++level) {
			const unsigned fill = drain_ring(cpu, level);
			const bool is_filled_fast = level == 0 || level == EDC_CARD_LEVELS;
			worst = std::max(worst, is_filled_fast ? fill : std::min(fill, 1u));
		}
	}
	if (!users_)
		return worst;
	worst = std::max(worst, users_->drain(last, make_stream_, push_user_));
	for (const edc_task &process : users_->take_arrived())
		control_.thread_state(process, false);
	return worst;
}

// Returns the fill of the ring in thousandths, rounded up.
unsigned Drain::drain_ring(unsigned cpu, unsigned level)
{
	const edc_ring &ring = card_->area(cpu).level[level].ring;
	__u64 &taken = card_->area(cpu).reader.read[level];
	const std::uint64_t closed = __atomic_load_n(&ring.closed, __ATOMIC_ACQUIRE);
	const std::uint64_t waiting = closed - taken;
	for (std::uint64_t read = taken; read < closed; ++read) {
		const std::byte *block = card_->memory(cpu) + ring.first + read % ring.blocks * EDC_BLOCK_SIZE;
		if (!push(static_cast<StreamNumber>(ring.stream_instance_id), block)) {
			stalled_ = true; // the pool is full: the block waits in the ring
			break;
		}
		__atomic_store_n(&taken, read + 1, __ATOMIC_RELEASE);
	}
	return static_cast<unsigned>((waiting * 1000 + ring.blocks - 1) / ring.blocks);
}

void Drain::push_or_wait(StreamNumber stream, const std::byte *block)
{
	while (!push(stream, block)) {
		pool_.wake();
		std::this_thread::sleep_for(1ms);
	}
}

// The block that was open when the probes were detached, and what was discarded after it.
void Drain::drain_open_block(unsigned cpu, unsigned level)
{
	const edc_ring &ring = card_->area(cpu).level[level].ring;
	const auto stream = static_cast<StreamNumber>(ring.stream_instance_id);
	std::array<std::byte, EDC_BLOCK_SIZE> copy;
	auto *header = reinterpret_cast<edc_block *>(copy.data());
	std::uint64_t told = 0;
	if (ring.end) {
		const std::uint64_t start = ring.end - EDC_BLOCK_SIZE;
		std::memcpy(copy.data(), card_->memory(cpu) + start, EDC_BLOCK_SIZE);
		header->content_size = (ring.pos - start) * 8;
		header->timestamp_end = ring.last_time;
		told = header->events_discarded;
		push_or_wait(stream, copy.data());
	} else if (ring.opened) {
		const std::uint64_t last = (ring.opened - 1) % ring.blocks;
		std::memcpy(copy.data(), card_->memory(cpu) + ring.first + last * EDC_BLOCK_SIZE, sizeof *header);
		told = header->events_discarded;
	}
	if (ring.discarded == told)
		return;
	const std::uint64_t now = steering_.last().time;
	std::memset(copy.data(), 0, copy.size());
	header->magic = EDC_BLOCK_MAGIC;
	std::memcpy(header->uuid, card_->uuid().data(), sizeof header->uuid);
	header->stream_instance_id = ring.stream_instance_id;
	header->timestamp_begin = header->timestamp_end = std::max<std::uint64_t>(now, ring.last_time);
	header->content_size = EDC_BLOCK_HEADER * 8;
	header->packet_size = EDC_BLOCK_SIZE * 8;
	header->packet_seq_num = ring.opened;
	header->events_discarded = ring.discarded;
	header->cpu_id = cpu;
	header->level = level;
	push_or_wait(stream, copy.data());
}

bool Drain::kernel_blocks_left() const
{
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu)
		for (unsigned level = 0; level < card_->rings(); ++level)
			if (card_->area(cpu).reader.read[level] < card_->area(cpu).level[level].ring.closed)
				return true;
	return false;
}

void Drain::drain_rest(const std::function<void()> &at_end)
{
	for (;;) {
		drain_all(true);
		pool_.wake();
		if (!kernel_blocks_left() && (!users_ || users_->all_taken()))
			break;
		std::this_thread::sleep_for(1ms);
	}
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu)
		for (unsigned level = 0; level < card_->rings(); ++level)
			drain_open_block(cpu, level);
	if (at_end)
		at_end();
	control_.flush();
	while (!pending_.empty()) {
		push_pending();
		std::this_thread::sleep_for(1ms);
	}
	pool_.wake();
}

} // namespace monitor::record
