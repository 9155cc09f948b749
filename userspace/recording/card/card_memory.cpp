// SPDX-License-Identifier: MIT
#include "card_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffering/ring_layout.h"
#include "base/error.h"
#include "card.skel.h"

namespace monitor::card {
namespace {

Mapping map_of(const bpf_map *map, std::size_t size, const char *what)
{
	void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (address == MAP_FAILED)
		throw Error(errno, fmt::format("cannot map {}", what));
	Mapping mapping(address, size);
	mapping.keep_from_children();
	return mapping;
}

RingBuffer open_wakeup(const bpf_map *map)
{
	const auto ignore = [](void *, void *, std::size_t) { return 0; };
	RingBuffer wakeup(ring_buffer__new(bpf_map__fd(map), ignore, nullptr, nullptr));
	if (!wakeup)
		throw Error(errno, "cannot map the wake-ups of the rings");
	return wakeup;
}

} // namespace

// One unused page after the blocks proves to the verifier that whatever starts within the blocks fits.
CardMemory::CardMemory(const CardOptions &options)
    : options_(options),
      module_(options.module ? std::make_unique<ModuleCard>(
				   options.uuid, options.cpus, buffering::blocks_by_ring(options.blocks_per_cpu, false),
				   options.filtering, options.overwriting, options.counters_in_set)
			     : nullptr),
      area_bytes_(module_ ? module_->area_bytes() : EDC_CPU_HEADER + (options.blocks_per_cpu + 1) * EDC_BLOCK_SIZE)
{
}

void CardMemory::map(const ::card &skeleton)
{
	if (module_)
		return;
	const auto &maps = skeleton.maps;
	areas_ = map_of(maps.rings, area_bytes_ * options_.cpus, "the rings");
	if (options_.traces())
		traced_ = map_of(maps.traced, EDC_PROCESS_NUMBERS / 8, "the filter");
	if (options_.times)
		pending_ = map_of(maps.pending, options_.times * sizeof(edc_pending_starts), "what is timed");
	if (options_.triggers)
		trigger_states_ = map_of(maps.trigger_states, options_.triggers * sizeof(edc_trigger_state),
					 "what triggers remember");
	wakeup_ = open_wakeup(maps.bell);
	if (options_.triggers)
		firing_wakeup_ = open_wakeup(maps.firing_bell);
}

void CardMemory::empty()
{
	if (module_)
		return module_->reset();
	for (const Mapping *mapping : {&traced_, &pending_, &trigger_states_})
		if (mapping->data())
			std::memset(mapping->data(), 0, mapping->size());
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		buffering::lay_out(area(cpu), cpu, options_.blocks_per_cpu, rings());
}

int CardMemory::wakeup_fd() const
{
	return module_ ? module_->wakeup_fd() : ring_buffer__epoll_fd(wakeup_.get());
}

void CardMemory::ack()
{
	if (module_)
		module_->ack();
	else
		ring_buffer__consume(wakeup_.get());
}

int CardMemory::firing_wakeup_fd() const
{
	return module_ ? module_->wakeup_fd() : ring_buffer__epoll_fd(firing_wakeup_.get());
}

short CardMemory::firing_events() const
{
	return module_ ? POLLPRI : POLLIN;
}

// The module's poll() looks at edc_reader.firings.
void CardMemory::heard_firings()
{
	if (!module_)
		ring_buffer__consume(firing_wakeup_.get());
}

std::vector<edc_pending_start> CardMemory::take_overdue(unsigned trigger, std::uint64_t before)
{
	if (module_)
		return module_->take_overdue(trigger, before);
	std::vector<edc_pending_start> overdue;
	auto *state = reinterpret_cast<edc_trigger_state *>(trigger_states_.data()) + trigger;
	for (edc_pending_start &entry : state->pending.entry) {
		edc_pending_start taken{};
		taken.begin = edc_pending_start_overdue(&entry, before, &taken.key);
		if (taken.begin)
			overdue.push_back(taken);
	}
	return overdue;
}

std::uint64_t CardMemory::unsampled() const
{
	std::uint64_t sum = 0;
	for (unsigned cpu = 0; cpu < cpus(); ++cpu)
		sum += __atomic_load_n(&area(cpu).firings.unsampled, __ATOMIC_RELAXED);
	return sum;
}

void CardMemory::trace_process(int pid, bool is_traced)
{
	if (module_)
		return module_->trace(pid, is_traced);
	if (pid <= 0 || pid >= EDC_PROCESS_NUMBERS)
		return; // not a valid PID
	auto *words = reinterpret_cast<std::uint64_t *>(traced_.data());
	const std::uint64_t bit = std::uint64_t(1) << (pid % 64);
	if (is_traced)
		__atomic_fetch_or(&words[pid / 64], bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&words[pid / 64], ~bit, __ATOMIC_RELAXED);
}

bool CardMemory::is_traced(int pid) const
{
	if (pid <= 0 || pid >= EDC_PROCESS_NUMBERS)
		return false;
	const auto *words = reinterpret_cast<const std::uint64_t *>(traced_.data());
	return __atomic_load_n(&words[pid / 64], __ATOMIC_RELAXED) >> (pid % 64) & 1;
}

void CardMemory::stop_probes(bool stopped) const
{
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		stop_probes_of(cpu, stopped);
}

void CardMemory::stop_probes_of(unsigned cpu, bool stopped) const
{
	if (module_)
		module_->stop(cpu, stopped);
	else
		__atomic_store_n(&area(cpu).stopped, stopped, __ATOMIC_SEQ_CST);
}

void CardMemory::wait_for_probes() const
{
	if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		::usleep(100'000); // refused under nohz_full: sleep far longer than any probe runs
	for (int tries = 0; tries < 100; ++tries) {
		bool busy = false;
		for (unsigned cpu = 0; cpu < options_.cpus; ++cpu) {
			busy |= __atomic_load_n(&area(cpu).depth, __ATOMIC_ACQUIRE) != 0;
			for (const edc_slot &slot : area(cpu).slot)
				busy |= __atomic_load_n(&slot.taken, __ATOMIC_ACQUIRE) != 0;
		}
		if (!busy)
			return;
		::usleep(1000);
	}
}

unsigned CardMemory::mark_gaps(std::uint64_t since) const
{
	unsigned marked = 0;
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu) {
		edc_ring &ring = area(cpu).level[0].ring; // no probe is running
		if (!ring.opened)
			continue; // before its first block everything is unknown anyway
		++marked;
		ring.discarded++;
		ring.last_time = std::max<__u64>(ring.last_time, since);
		ring.begin_time = ring.last_time - EDC_BLOCK_MAX_TICKS; // the next token opens a block
	}
	return marked;
}

} // namespace monitor::card
