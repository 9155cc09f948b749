// SPDX-License-Identifier: MIT
#include "drain.h"

#include <algorithm>
#include <cstring>

#include <poll.h>

#include "base/block_words.h"
#include "base/clock_ns.h"
#include "base/error.h"
#include "base/tsc.h"

namespace monitor::record {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t reordered_ns = 10'000'000; // from the probe's clock read until its token is visible
constexpr std::size_t max_pending = 1024;          // own blocks waiting for the pool; beyond that the sink must wait
constexpr int syncs_per_control_block = 10;        // if killed, at most the last second of snapshots is lost

} // namespace

Drain::Drain(card::CardMemory *card, card::UserCard *users, BlockPool &pool, ControlStream &control,
	     ClockSteering &steering, Failure &failure)
    : card_(card), users_(users), push_user_([this](std::uint32_t stream, const std::byte *block) {
	      return deliver(stream, block, buffering::kept_for_kernel(pool_.blocks()));
      }),
      pool_(pool), control_(control), log_(pool, control, steering.read_time()), steering_(steering), failure_(failure),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
	if (!wakeup_)
		throw Error(errno, "cannot wake the thread that reads the rings");
	if (users_)
		users_->set_on_arrival([this] { wake(); });
}

void Drain::stop()
{
	if (!thread_.joinable())
		return;
	stopping_.store(true, std::memory_order_release);
	wake();
	thread_.join();
}

// Waits until it is woken, a ring is half full, or the next pass is due, and returns which (EDC_PASS_*). A ring that
// was still half full after a pass sends no new wake-up. If the pool is empty, waits for the time only.
std::uint32_t Drain::wait_for_work(Clock::time_point next_look)
{
	std::uint32_t why = EDC_PASS_RING;
	if (stalled_ || !half_full()) {
		const auto left = std::max<Clock::duration>(next_look - Clock::now(), 0ns);
		const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
		const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
		pollfd fds[] = {{wakeup_.get(), POLLIN, 0}, {card_ && !stalled_ ? card_->wakeup_fd() : -1, POLLIN, 0}};
		if (::ppoll(fds, 2, &timeout, nullptr) == 0)
			return next_look == next_call_          ? EDC_PASS_PERIOD
			       : next_look == pace_.next_sync() ? EDC_PASS_CLOCK
								: EDC_PASS_POLL;
		why = fds[1].revents ? EDC_PASS_RING : EDC_PASS_BELL;
	}
	std::this_thread::sleep_until(std::min(next_look, pace_.earliest_look()));
	eventfd_t times;
	::eventfd_read(wakeup_.get(), &times);
	if (card_)
		card_->ack();
	return why;
}

std::uint32_t Drain::wait_until_due()
{
	const auto wait = is_behind_ ? 0ns : users_ ? users_->longest_wait() : Clock::duration::max();
	return wait_for_work(std::min(next_call_, pace_.next_look(wait)));
}

// Counterpart of the writers' check of `read` (monitor/ring.h): at least one side sees the other's store.
bool Drain::half_full() const
{
	if (!card_)
		return false;
	std::atomic_thread_fence(std::memory_order_seq_cst);
	for (unsigned cpu = 0; cpu < card_->cpus(); ++cpu)
		for (unsigned level = 0; level < card_->rings(); ++level) {
			const edc_ring &ring = card_->area(cpu).level[level].ring;
			const std::uint64_t closed = __atomic_load_n(&ring.closed, __ATOMIC_RELAXED);
			if (ring.blocks &&
			    closed - card_->area(cpu).reader.read[level] >= buffering::half_of(ring.blocks))
				return true;
		}
	return false;
}

void Drain::run()
{
	pace_ = buffering::DrainPace(Clock::now());
	if (periodic_call_)
		next_call_ = first_call_.value_or(pace_.last_look() + interval_);
	int syncs = 0;
	if (!sink_) // with a sink it also analyses, which is not urgent
		run_promptly();
	log_.enter();
	for (;;) {
		const std::uint32_t why = wait_until_due();
		pace_.look(Clock::now());
		const bool stopped = stopping_.load(std::memory_order_acquire);
		log_.begin(stopped ? EDC_PASS_STOP : why);
		const unsigned fill = drain_all();
		if (fill > worst_fill_.load(std::memory_order_relaxed))
			worst_fill_.store(fill, std::memory_order_relaxed);
		pace_.found(fill);
		if (pace_.sync_is_due(Clock::now())) {
			sync();
			if (++syncs % syncs_per_control_block == 0)
				control_.flush();
			pace_.synced(Clock::now());
		}
		if (Clock::now() >= next_call_) {
			periodic_call_(read_sync(steering_.invariant_tsc()));
			next_call_ += interval_ * ((Clock::now() - next_call_) / interval_ + 1); // skip missed calls
		}
		push_pending();
		if (pace_.wakes_writer(pool_.given()))
			pool_.wake();
		end_pass(fill, stopped);
		if (stopped)
			return;
	}
}

void Drain::drain_now()
{
	log_.enter();
	log_.begin(stopping_.load(std::memory_order_relaxed) ? EDC_PASS_END : EDC_PASS_START);
	end_pass(drain_all());
}

void Drain::end_pass(unsigned fill, bool is_last, std::uint64_t latest)
{
	if (written_ != Written::nothing)
		log_.end(fill, stalled_, is_last, latest);
}

void Drain::set_periodic_call(std::chrono::nanoseconds interval, std::function<void(const Sync &)> call,
			      std::optional<Clock::time_point> first)
{
	first_call_ = first;
	interval_ = interval;
	periodic_call_ = std::move(call);
}

void Drain::sync()
{
	const Sync sync = read_sync(steering_.invariant_tsc());
	steering_.update(sync);
	if (before_sync_)
		before_sync_(sync);
	control_.sync(steering_, sync);
}

bool Drain::push(StreamNumber stream, const std::byte *block, std::uint32_t reserved)
{
	std::uint32_t index;
	if (!pool_.take(index, reserved))
		return false;
	std::memcpy(pool_.at(index), block, EDC_BLOCK_SIZE);
	pool_.give({index, stream});
	return true;
}

// Gives the block to sink and writer. If either is full, the block stays in its ring; the sink recognizes a repeat.
bool Drain::deliver(StreamNumber stream, const std::byte *block, std::uint32_t reserved)
{
	if (sink_ && !offer(stream, block))
		return false;
	if (written_ == Written::all && !push(stream, block, reserved))
		return false;
	log_.copied();
	return true;
}

bool Drain::offer(StreamNumber stream, const std::byte *block)
{
	if (!sink_->take(stream, names_.at(stream), block))
		return false;
	const edc_block header = header_of(block);
	offered_[stream] = {header.timestamp_end, header.events_discarded, 0};
	return true;
}

void Drain::set_sink(BlockSink &sink, std::vector<std::string> names, Written written)
{
	sink_ = &sink;
	names_ = std::move(names);
	offered_.resize(names_.size());
	written_ = written;
	show_user_ = [this](std::uint32_t stream, const std::byte *block) { return offer(stream, block); };
}

StreamNumber Drain::make_stream(const std::string &name)
{
	const StreamNumber number = writer_->add_stream(name);
	if (sink_) {
		names_.resize(std::max<std::size_t>(names_.size(), number + std::size_t{1}));
		offered_.resize(names_.size());
		names_[number] = name;
	}
	return number;
}

void Drain::push_own(StreamNumber stream, const std::byte *block, bool to_writer, bool to_sink)
{
	OwnBlock &added = pending_.emplace_back(OwnBlock{stream, to_writer, to_sink, {}});
	std::memcpy(added.block.data(), block, EDC_BLOCK_SIZE);
	push_pending();
}

void Drain::push_pending()
{
	bool pushed = false;
	for (; !pending_.empty(); pending_.pop_front()) {
		OwnBlock &next = pending_.front();
		if (next.to_sink && !offer(next.stream, next.block.data()))
			break;
		next.to_sink = false;
		if (next.to_writer && !push(next.stream, next.block.data()))
			break;
		pushed |= next.to_writer;
	}
	if (pushed)
		pool_.wake();
}

unsigned Drain::drain_all(bool last)
{
	unsigned worst = 0;
	stalled_ = false;
	if (sink_)
		complete_before_ = time_without_probes();
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu)
		for (unsigned level = 0; level < card_->rings(); ++level)
			worst = std::max(worst, buffering::fill_for_pace(drain_ring(cpu, level), level));
	if (users_) {
		worst = std::max(worst, users_->drain(
					    last, [this](const std::string &name) { return make_stream(name); },
					    push_user_, show_user_));
		for (const edc_task &process : users_->take_arrived())
			control_.thread_state(process, false);
		complete_before_ = std::min(complete_before_, users_->complete_before());
	}
	if (sink_)
		advance_sink();
	return worst;
}

// The latest moment at which no probe was in progress on any CPU: all earlier tokens have been stored.
std::uint64_t Drain::time_without_probes() const
{
	constexpr int max_tries = 10'000;
	std::uint64_t now = 0, margin = reordered_ns;
	if (steering_.invariant_tsc()) {
		now = read_tsc();
		margin = static_cast<std::uint64_t>(steering_.frequency_hz() / 1e9 * reordered_ns);
	} else {
		now = clock_ns(CLOCK_MONOTONIC);
	}
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu) {
		const edc_cpu &area = card_->area(cpu);
		const auto is_in_progress = [&] {
			bool is = __atomic_load_n(&area.depth, __ATOMIC_ACQUIRE) != 0;
			if (card_->rings() > EDC_CARD_LEVELS)
				for (const edc_slot &slot : area.slot)
					is = is || __atomic_load_n(&slot.taken, __ATOMIC_ACQUIRE) != 0;
			return is;
		};
		int tries = 0;
		while (is_in_progress())
			if (++tries == max_tries)
				return horizon_;
	}
	return now - margin;
}

// Shows the sink the open block. False: not everything in the ring was offered.
bool Drain::show_open_block(unsigned cpu, unsigned level)
{
	constexpr int max_tries = 4;
	const edc_ring &ring = card_->area(cpu).level[level].ring;
	const auto stream = static_cast<StreamNumber>(ring.stream_instance_id);
	const auto load = [](const __u64 &word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); };
	for (int tries = 0; tries < max_tries; ++tries) {
		const std::uint64_t end = load(ring.end), position = load(ring.pos), last_time = load(ring.last_time);
		const std::uint64_t discarded = load(ring.discarded), closed = load(ring.closed);
		if (closed != card_->area(cpu).reader.read[level]) { // it was closed meanwhile
			if (!take_closed(cpu, level, closed))
				return false;
			continue;
		}
		const std::uint64_t start = end - EDC_BLOCK_SIZE;
		if (end == 0 || position <= start + EDC_BLOCK_HEADER || position > end) {
			if (discarded != offered_[stream].discarded)
				sink_->lose(stream);
			return true;
		}
		if (position == offered_[stream].position)
			return true;
		order_memory(); // read the position before the tokens
		alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy;
		std::memcpy(copy.data(), card_->memory(cpu) + start, position - start);
		auto *header = reinterpret_cast<edc_block *>(copy.data());
		header->content_size = (position - start) * 8;
		header->timestamp_end = std::max<std::uint64_t>(last_time, header->timestamp_begin);
		if (!offer(stream, copy.data()))
			return false;
		offered_[stream].position = position;
		return true;
	}
	return false;
}

bool Drain::show_control()
{
	bool is_offered = true;
	if (shown_)
		shown_->show([&](const std::byte *block) { is_offered = offer(0, block); });
	return is_offered;
}

// The time until which the sink has all of the recorder's own blocks. It must process these before it has room for
// more.
std::uint64_t Drain::own_complete_until()
{
	push_pending();
	std::uint64_t until = ~std::uint64_t(0);
	for (const OwnBlock &own : pending_)
		if (own.to_sink)
			until = std::min(until, offered_[own.stream].end_time);
	if (until != ~std::uint64_t(0) || !show_control())
		until = std::min(until, offered_[0].end_time);
	return until;
}

void Drain::advance_sink()
{
	complete_before_ = std::min(complete_before_, own_complete_until());
	if (pending_.size() > max_pending)
		return;
	horizon_ = std::max(horizon_, complete_before_);
	is_behind_ = !sink_->advance(horizon_);
}

void Drain::finish_sink(const std::function<void()> &finish)
{
	for (bool is_done = false; !is_done;) {
		const std::uint64_t until = own_complete_until();
		if (pending_.size() > max_pending)
			std::this_thread::sleep_for(1ms);
		else
			is_done = sink_->advance(std::max(horizon_, until)) && until == ~std::uint64_t(0);
	}
	finish();
}

// Returns the fill of the ring in thousandths, rounded up.
unsigned Drain::drain_ring(unsigned cpu, unsigned level)
{
	const edc_ring &ring = card_->area(cpu).level[level].ring;
	const std::uint64_t closed = __atomic_load_n(&ring.closed, __ATOMIC_ACQUIRE);
	const std::uint64_t waiting = closed - card_->area(cpu).reader.read[level];
	const bool is_complete = take_closed(cpu, level, closed) && (!sink_ || show_open_block(cpu, level));
	if (!is_complete && sink_)
		complete_before_ =
		    std::min(complete_before_, offered_[static_cast<StreamNumber>(ring.stream_instance_id)].end_time);
	return buffering::fill_of(waiting, ring.blocks);
}

// False: there is no space, and blocks wait in the ring.
bool Drain::take_closed(unsigned cpu, unsigned level, std::uint64_t closed)
{
	const edc_ring &ring = card_->area(cpu).level[level].ring;
	__u64 &taken = card_->area(cpu).reader.read[level];
	for (std::uint64_t read = taken; read < closed; ++read) {
		const std::byte *block = card_->memory(cpu) + ring.first + read % ring.blocks * EDC_BLOCK_SIZE;
		if (!deliver(static_cast<StreamNumber>(ring.stream_instance_id), block)) {
			stalled_ = true;
			return false;
		}
		if (on_kernel_block_)
			on_kernel_block_(block);
		__atomic_store_n(&taken, read + 1, __ATOMIC_RELEASE);
	}
	return true;
}

void Drain::push_or_wait(StreamNumber stream, const std::byte *block)
{
	while (!deliver(stream, block)) {
		pool_.wake();
		if (sink_)
			advance_sink();
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
	std::uint64_t reported = 0;
	if (ring.end) {
		const std::uint64_t start = ring.end - EDC_BLOCK_SIZE;
		std::memcpy(copy.data(), card_->memory(cpu) + start, EDC_BLOCK_SIZE);
		header->content_size = (ring.pos - start) * 8;
		header->timestamp_end = ring.last_time;
		reported = header->events_discarded;
		push_or_wait(stream, copy.data());
		if (on_kernel_block_)
			on_kernel_block_(copy.data());
	} else if (ring.opened) {
		const std::uint64_t last = (ring.opened - 1) % ring.blocks;
		std::memcpy(copy.data(), card_->memory(cpu) + ring.first + last * EDC_BLOCK_SIZE, sizeof *header);
		reported = header->events_discarded;
	}
	if (ring.discarded == reported)
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

void Drain::drain_rest(const std::function<void()> &at_end, const std::function<void()> &finish_sink)
{
	log_.enter();
	log_.begin(EDC_PASS_END);
	unsigned fill = 0;
	for (;;) {
		fill = std::max(fill, drain_all(true));
		pool_.wake();
		if (!kernel_blocks_left() && (!users_ || users_->all_taken()))
			break;
		std::this_thread::sleep_for(1ms);
	}
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu)
		for (unsigned level = 0; level < card_->rings(); ++level)
			drain_open_block(cpu, level);
	// No token after the last snapshot, which bounds the clock error.
	const std::uint64_t last = steering_.last().time;
	end_pass(fill, true, last ? last : no_time);
	if (at_end)
		at_end();
	control_.flush();
	if (sink_)
		this->finish_sink(finish_sink);
	while (!pending_.empty()) {
		push_pending();
		std::this_thread::sleep_for(1ms);
	}
	pool_.wake();
}

} // namespace monitor::record
