// SPDX-License-Identifier: MIT
#include "flight_rings.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <unistd.h>

#include "base/block_words.h"
#include "base/clock_ns.h"
#include "monitor/block.h"

namespace monitor::record {
namespace {

std::uint64_t load(const __u64 &word)
{
	return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

bool is_hold(std::uint64_t hold)
{
	return hold != 0 && hold != EDC_HOLD_UNARMED;
}

} // namespace

FlightRings::FlightRings(card::CardMemory &card) : card_(card)
{
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
		for (unsigned level = 0; level < card_.rings(); ++level)
			parts_.push_back({.cpu = cpu, .level = level});
	progress_.resize(parts_.size());
}

const std::byte *FlightRings::block(std::size_t i, std::uint64_t number) const
{
	return card_.memory(parts_[i].cpu) + ring(i).first + number % ring(i).blocks * EDC_BLOCK_SIZE;
}

void FlightRings::fence() const
{
	if (!order_memory())
		::usleep(10'000); // membarrier(2) is refused under nohz_full: sleep far longer than a store takes to
				  // become visible
}

// The first block that a hold keeps. A writer that has seen the hold has published it in `held_from`; one that has not
// may open one more block first, which is assumed.
std::uint64_t FlightRings::oldest_kept(std::size_t i, std::uint64_t hold, std::uint64_t closed) const
{
	const edc_ring &of = ring(i);
	const std::uint64_t kept = edc_ring_kept(of.blocks), least = closed + 2 > kept ? closed + 2 - kept : 0;
	if (!is_hold(hold) || load(of.held) != hold)
		return least;
	const std::uint64_t from = load(of.held_from);
	const bool is_of_hold = from + of.blocks >= closed; // else stale, from the previous hold: a weakly ordered CPU
	return is_of_hold ? std::min(from, least) : least;
}

void FlightRings::hold()
{
	__u64 &held = card_.area(0).reader.hold;
	__u64 before = load(held);
	++holds_; // a trigger's hold number is its time, which is far larger
	while (!is_hold(before) &&
	       !__atomic_compare_exchange_n(&held, &before, holds_, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void FlightRings::begin(std::uint64_t from_time)
{
	hold();
	fence();
	const std::uint64_t hold = load(card_.area(0).reader.hold);
	for (std::size_t i = 0; i < parts_.size(); ++i) {
		const std::uint64_t closed = load(ring(i).closed), oldest = oldest_kept(i, hold, closed);
		std::uint64_t first = oldest, after = std::max(closed, first);
		while (first < after) { // they are sorted by time
			const std::uint64_t middle = first + (after - first) / 2;
			if (header_of(block(i, middle)).timestamp_end < from_time)
				first = middle + 1;
			else
				after = middle;
		}
		RingPart &part = parts_[i]; // keep cpu and level, which the other thread reads
		part.overwritten = part.begin_time = part.complete_since = part.discarded = part.torn = 0;
		part.first = first;
		progress_[i] = {};
		progress_[i].next = first;
		if (first < closed)
			parts_[i].begin_time = header_of(block(i, first)).timestamp_begin;
		else if (load(ring(i).end))
			parts_[i].begin_time = load(ring(i).begin_time);
		if (oldest > 0 && first == oldest)
			parts_[i].complete_since = parts_[i].begin_time;
	}
}

// Renumbers the block, so that the stream starts with the ring's first kept block.
bool FlightRings::pass_on(std::size_t i, std::byte *copy, const Push &push)
{
	auto *header = reinterpret_cast<edc_block *>(copy);
	Progress &progress = progress_[i];
	if (!progress.has_first) {
		progress.has_first = true;
		progress.first_sequence = header->packet_seq_num;
		progress.first_discarded = header->events_discarded;
		if (parts_[i].first != header->packet_seq_num) // earlier ones were torn
			parts_[i].complete_since = header->timestamp_begin;
		parts_[i].first = header->packet_seq_num;
		parts_[i].begin_time = header->timestamp_begin;
		std::memcpy(&parts_[i].overwritten, copy + EDC_BLOCK_HEADER + 8, 8);
	}
	progress.last_discarded = header->events_discarded;
	progress.next_sequence = header->packet_seq_num + 1;
	header->packet_seq_num -= progress.first_sequence;
	header->events_discarded -= progress.first_discarded;
	parts_[i].discarded = header->events_discarded;
	return push(static_cast<StreamNumber>(ring(i).stream_instance_id), copy);
}

// Whether a block was intact when it was copied. The hold keeps the writer from the next block to be opened; a new
// block starts with its magic cleared.
bool FlightRings::is_whole(std::size_t i, std::uint64_t number) const
{
	const std::uint64_t closed = load(ring(i).closed), overtaken_at = number + ring(i).blocks;
	const auto *header = reinterpret_cast<const edc_block *>(block(i, number));
	return closed < overtaken_at ||
	       (closed == overtaken_at && __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == EDC_BLOCK_MAGIC &&
		__atomic_load_n(&header->packet_seq_num, __ATOMIC_ACQUIRE) == number);
}

bool FlightRings::take_until(std::size_t i, std::uint64_t end, const Push &push)
{
	__u64 &read = card_.area(parts_[i].cpu).reader.read[parts_[i].level];
	for (std::uint64_t &number = progress_[i].next; number < end; ++number) {
		alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy;
		std::memcpy(copy.data(), block(i, number), copy.size());
		std::atomic_thread_fence(std::memory_order_acquire);
		if (!is_whole(i, number) || header_of(copy.data()).packet_seq_num != number)
			++parts_[i].torn;
		else if (!pass_on(i, copy.data(), push))
			return false;
		__atomic_store_n(&read, number + 1, __ATOMIC_RELEASE);
	}
	return true;
}

bool FlightRings::take(const Push &push)
{
	bool is_all = true;
	for (std::size_t i = 0; i < parts_.size(); ++i)
		is_all = take_until(i, load(ring(i).closed), push) && is_all;
	return is_all;
}

bool FlightRings::mark_end()
{
	constexpr int max_tries = 100'000;
	constexpr std::uint64_t seen_after_ns = 2000; // until an in-progress probe is visible; a store takes far less
	bool is_complete = true;
	fence();
	for (const std::uint64_t since = clock_ns(CLOCK_MONOTONIC); clock_ns(CLOCK_MONOTONIC) - since < seen_after_ns;)
		;
	for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu) {
		const edc_cpu &area = card_.area(cpu);
		int tries = 0;
		while (__atomic_load_n(&area.depth, __ATOMIC_ACQUIRE) != 0 && ++tries < max_tries)
			;
		is_complete = is_complete && tries < max_tries;
	}
	fence();
	for (std::size_t i = 0; i < parts_.size(); ++i)
		progress_[i].end = load(ring(i).closed);
	return is_complete;
}

// Takes the block that was open at the end, as far as it is written. The hold keeps it from being overwritten.
bool FlightRings::take_open(std::size_t i, const Push &push)
{
	constexpr int max_tries = 1'000'000;
	const edc_ring &of = ring(i);
	const std::uint64_t number = progress_[i].end;
	std::uint64_t end = 0, position = 0, last_time = 0;
	for (int tries = 0; end == 0 && tries < max_tries; ++tries) {
		end = load(of.end), position = load(of.pos), last_time = load(of.last_time);
		if (load(of.closed) > number)
			return take_until(i, number + 1, push); // it was closed meanwhile
		if (end == 0 && load(of.opened) <= number)
			return true; // none is open: else the writer is between two stores
	}
	const std::uint64_t start = end - EDC_BLOCK_SIZE;
	if (end == 0 || position <= start + EDC_BLOCK_HEADER + EDC_BLOCK_COUNTS_BYTES || position > end)
		return true; // it has no token
	fence();
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy{};
	std::memcpy(copy.data(), card_.memory(parts_[i].cpu) + start, position - start);
	if (load(of.closed) > number)
		return take_until(i, number + 1, push);
	auto *header = reinterpret_cast<edc_block *>(copy.data());
	header->content_size = (position - start) * 8;
	header->timestamp_end = std::max<std::uint64_t>(last_time, header->timestamp_begin);
	return pass_on(i, copy.data(), push);
}

// Reports what the ring discarded after its last block.
bool FlightRings::report_last_loss(std::size_t i, std::uint64_t now, const Push &push)
{
	const edc_ring &of = ring(i);
	const std::uint64_t discarded = load(of.discarded);
	Progress &progress = progress_[i];
	if (!progress.has_first || discarded == progress.last_discarded || load(of.end))
		return true;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy{};
	auto *header = reinterpret_cast<edc_block *>(copy.data());
	header->magic = EDC_BLOCK_MAGIC;
	std::memcpy(header->uuid, card_.uuid().data(), sizeof header->uuid);
	header->stream_instance_id = of.stream_instance_id;
	header->timestamp_begin = header->timestamp_end = std::max<std::uint64_t>(now, load(of.last_time));
	header->content_size = EDC_BLOCK_HEADER * 8;
	header->packet_size = EDC_BLOCK_SIZE * 8;
	header->packet_seq_num = progress.next_sequence;
	header->events_discarded = discarded;
	header->cpu_id = parts_[i].cpu;
	header->level = parts_[i].level;
	return pass_on(i, copy.data(), push);
}

bool FlightRings::take_rest(std::uint64_t now, const Push &push)
{
	for (std::size_t i = 0; i < parts_.size(); ++i) {
		Progress &progress = progress_[i];
		if (progress.is_done)
			continue;
		if (!progress.has_open && (!take_until(i, progress.end, push) || !take_open(i, push)))
			return false;
		progress.has_open = true;
		if (!report_last_loss(i, now, push))
			return false;
		progress.is_done = true;
	}
	return true;
}

// `read` restarts at 0 for each hold: no writer that sees the next hold may see the old value.
void FlightRings::release()
{
	__atomic_store_n(&card_.area(0).reader.hold, EDC_HOLD_UNARMED, __ATOMIC_SEQ_CST);
	fence();
	for (const RingPart &part : parts_)
		__atomic_store_n(&card_.area(part.cpu).reader.read[part.level], 0, __ATOMIC_SEQ_CST);
	fence();
}

void FlightRings::arm()
{
	__u64 unarmed = EDC_HOLD_UNARMED;
	__atomic_compare_exchange_n(&card_.area(0).reader.hold, &unarmed, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool FlightRings::is_held() const
{
	return is_hold(load(card_.area(0).reader.hold));
}

std::uint64_t FlightRings::complete_since(unsigned cpu) const
{
	std::uint64_t since = 0;
	for (const RingPart &part : parts_)
		if (part.cpu == cpu)
			since = std::max(since, part.complete_since);
	return since;
}

std::uint64_t FlightRings::oldest_time() const
{
	std::uint64_t oldest = ~std::uint64_t(0);
	const std::uint64_t hold = load(card_.area(0).reader.hold);
	for (std::size_t i = 0; i < parts_.size(); ++i) {
		const std::uint64_t closed = load(ring(i).closed);
		if (closed == 0) {
			if (load(ring(i).opened))
				oldest = std::min<std::uint64_t>(oldest, load(ring(i).begin_time));
			continue;
		}
		// Never overwritten now: the writer is far away.
		const std::uint64_t first = std::min(oldest_kept(i, hold, closed), closed - 1);
		oldest = std::min<std::uint64_t>(oldest, header_of(block(i, first)).timestamp_begin);
	}
	return oldest;
}

} // namespace monitor::record
