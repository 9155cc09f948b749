// SPDX-License-Identifier: MIT
#include "fake_card.h"

#include <cstring>
#include <numeric>

#include "base/buffering/ring_layout.h"
#include "monitor/block.h"
#include "monitor/card.h"

namespace monitor::card {

void LinkDeleter::operator()(bpf_link *) const {}
void RingBufferDeleter::operator()(ring_buffer *) const {}
EventOpener::~EventOpener() = default;

int CardMemory::wakeup_fd() const
{
	return -1;
}

void CardMemory::ack() {}

CardMemory::CardMemory(const CardOptions &options)
    : options_(options), area_bytes_(EDC_CPU_HEADER + options.blocks_per_cpu * EDC_BLOCK_SIZE)
{
	const std::size_t size = area_bytes_ * options.cpus;
	areas_ = Mapping(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
	for (unsigned cpu = 0; cpu < options.cpus; ++cpu)
		buffering::lay_out(area(cpu), cpu, options.blocks_per_cpu, rings());
}

CardPrograms::CardPrograms(const CardMemory &memory) : memory_(memory), options_(memory.options()), skeleton_(nullptr)
{
}

CardPrograms::~CardPrograms() = default;

BpfCard::BpfCard(const CardOptions &options) : CardMemory(options), programs_(*this), skeleton_(nullptr) {}

static std::uint64_t misses_now = 0;

std::map<std::string, std::uint64_t> BpfCard::misses() const
{
	return {{"sched_waking", misses_now}};
}

} // namespace monitor::card

namespace fake {

using monitor::card::CardMemory;

void set_misses(std::uint64_t misses)
{
	monitor::card::misses_now = misses;
}

monitor::card::CardOptions options(unsigned cpus, std::uint64_t blocks_per_cpu)
{
	monitor::card::CardOptions options;
	options.cpus = cpus;
	options.blocks_per_cpu = blocks_per_cpu;
	return options;
}

// As the BPF card: `closed` by a fully ordered exchange.
static void close_block(edc_ring &ring, std::byte *memory)
{
	if (!ring.end)
		return;
	edc_block_closed(reinterpret_cast<edc_block *>(memory + ring.end - EDC_BLOCK_SIZE), &ring);
	__atomic_store_n(&ring.end, 0, __ATOMIC_RELAXED);
	__atomic_exchange_n(&ring.closed, ring.opened, __ATOMIC_SEQ_CST);
}

bool post(CardMemory &card, unsigned cpu, unsigned level, std::uint64_t time, std::uint64_t word)
{
	edc_ring &ring = card.area(cpu).level[level].ring;
	std::byte *memory = card.memory(cpu);
	if (ring.pos + 16 > ring.end) {
		close_block(ring, memory);
		const auto &read = card.area(cpu).reader.read[level];
		if (ring.opened - __atomic_load_n(&read, __ATOMIC_ACQUIRE) >= ring.blocks) {
			++ring.discarded;
			return false;
		}
		const std::uint64_t start = ring.first + ring.opened % ring.blocks * EDC_BLOCK_SIZE;
		auto *block = reinterpret_cast<edc_block *>(memory + start);
		edc_block_opened(block, &ring, time, level);
		block->magic = EDC_BLOCK_MAGIC;
		++ring.opened;
		ring.pos = start + EDC_BLOCK_HEADER;
		ring.end = start + EDC_BLOCK_SIZE;
	}
	const std::uint64_t record[] = {edc_token(EDC_ID_SCHED_WAKING, EDC_MODE_KERNEL, time, 0), word};
	std::memcpy(memory + ring.pos, record, sizeof record);
	ring.pos += sizeof record;
	ring.last_time = time;
	return true;
}

bool post_in_flight(CardMemory &card, unsigned cpu, unsigned level, std::uint64_t time, std::uint64_t word,
		    const std::uint64_t *hold)
{
	edc_ring &ring = card.area(cpu).level[level].ring;
	std::byte *memory = card.memory(cpu);
	if (ring.pos + 16 > ring.end) {
		close_block(ring, memory);
		const __u64 seen = hold ? *hold : __atomic_load_n(&card.area(0).reader.hold, __ATOMIC_ACQUIRE);
		const __u64 read = __atomic_load_n(&card.area(cpu).reader.read[level], __ATOMIC_ACQUIRE);
		if (ring.opened - edc_ring_limit(&ring, read, seen) >= ring.blocks) {
			++ring.discarded;
			return false;
		}
		const std::uint64_t start = ring.first + ring.opened % ring.blocks * EDC_BLOCK_SIZE;
		auto *block = reinterpret_cast<edc_block *>(memory + start);
		edc_block_opened(block, &ring, time, level);
		block->magic = EDC_BLOCK_MAGIC;
		edc_block_counts(reinterpret_cast<__u64 *>(memory + start + EDC_BLOCK_HEADER), &ring, time);
		++ring.opened;
		ring.begin_time = time;
		__atomic_store_n(&ring.pos, start + EDC_BLOCK_HEADER + EDC_BLOCK_COUNTS_BYTES, __ATOMIC_RELEASE);
		__atomic_store_n(&ring.end, start + EDC_BLOCK_SIZE, __ATOMIC_RELEASE);
	}
	const std::uint64_t record[] = {edc_token(EDC_ID_SCHED_WAKING, EDC_MODE_KERNEL, time, word & 0xffff), word};
	std::memcpy(memory + ring.pos, record, sizeof record);
	++ring.tokens;
	__atomic_store_n(&ring.last_time, time, __ATOMIC_RELEASE);
	__atomic_store_n(&ring.pos, ring.pos + sizeof record, __ATOMIC_RELEASE);
	return true;
}

void fill_block(CardMemory &card, unsigned cpu, unsigned level, std::uint64_t time, std::uint64_t word)
{
	const std::uint64_t closed = card.area(cpu).level[level].ring.closed;
	while (card.area(cpu).level[level].ring.closed == closed && post(card, cpu, level, time, word))
		;
}

std::vector<std::uint64_t> numbers(std::uint64_t count)
{
	std::vector<std::uint64_t> all(count);
	std::iota(all.begin(), all.end(), std::uint64_t{0});
	return all;
}

} // namespace fake
