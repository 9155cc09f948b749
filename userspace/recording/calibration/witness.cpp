// SPDX-License-Identifier: MIT
#include "witness.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <initializer_list>

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock_ns.h"
#include "base/tsc.h"
#include "recording/card/classes.h"
#include "recording/card/preflight_checks.h"
#include "recording/card/trial.h"

namespace monitor::card {
namespace {

constexpr std::size_t calls_per_cpu = 1000; // a loss of one in 64 shows as 15
constexpr int max_tries = 30;               // until no other thread ran on the CPU during the calls
constexpr int clock_reads = 20;

struct Bracket {
	std::uint64_t before = 0, after = 0;
};
using Brackets = std::array<Bracket, calls_per_cpu>;

long switches_of_this_thread()
{
	rusage usage{};
	::getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

std::uint64_t seen(const edc_cpu &area, std::initializer_list<unsigned> ids)
{
	std::uint64_t sum = 0;
	for (const unsigned id : ids) {
		const unsigned slot = id - EDC_ID_KERNEL_FIRST;
		sum += __atomic_load_n(&area.too_deep[slot], __ATOMIC_RELAXED);
		for (const edc_level &level : area.level)
			sum += __atomic_load_n(&level.seen[slot], __ATOMIC_RELAXED);
	}
	return sum;
}

// Offset of the probes' trace time (monotonic time converted by the clock set) from the TSC, plus the width of the
// read.
std::uint64_t clock_error(const edc_clock &clock)
{
	std::uint64_t width = ~0ull, time = 0, ns = 0;
	for (int i = 0; i < clock_reads; ++i) {
		const std::uint64_t before = read_tsc(), now = clock_ns(CLOCK_MONOTONIC), after = read_tsc();
		if (after - before >= width)
			continue;
		width = after - before;
		time = before + width / 2;
		ns = now;
	}
	std::uint64_t number = __atomic_load_n(&clock.newest, __ATOMIC_ACQUIRE);
	while (number > 0 && clock.set[number % EDC_CLOCK_SETS].from_ns > ns)
		--number; // published ahead
	const std::uint64_t theirs = edc_clock_at(&clock.set[number % EDC_CLOCK_SETS], ns);
	return (theirs > time ? theirs - time : time - theirs) + width;
}

// How far a token's 32 bits of time are outside the bracket.
std::uint64_t outside(std::uint32_t time, const Bracket &bracket)
{
	const auto early = static_cast<std::int32_t>(static_cast<std::uint32_t>(bracket.before) - time);
	const auto late = static_cast<std::int32_t>(time - static_cast<std::uint32_t>(bracket.after));
	return static_cast<std::uint64_t>(std::max({early, late, 0}));
}

// The ring's write position: a block's number, and an offset in it if the block is open.
struct RingPosition {
	std::uint64_t block = 0, pos = 0;
};

RingPosition position_of(const edc_ring &ring)
{
	return ring.end ? RingPosition{ring.opened - 1, ring.pos} : RingPosition{ring.opened, 0};
}

// Compares the calls' tokens, which are in the ring of level 0 from `from` on, in the order of the calls.
void compare_times(const BpfCard &card, unsigned cpu, RingPosition from, const Brackets &brackets, CallWitness &found)
{
	static const auto words = payload_words();
	const edc_ring &ring = card.area(cpu).level[0].ring;
	std::size_t entries = 0, exits = 0;
	std::uint64_t furthest = 0;
	const auto compare = [&](std::size_t &count, std::uint64_t token) {
		if (count < brackets.size())
			furthest = std::max(furthest, outside(edc_token_time(token), brackets[count]));
		++count;
	};
	for (std::uint64_t number = from.block; number < ring.opened; ++number) {
		const std::uint64_t start = ring.first + number % ring.blocks * EDC_BLOCK_SIZE;
		const auto *block = reinterpret_cast<const edc_block *>(card.memory(cpu) + start);
		const bool open = ring.end == start + EDC_BLOCK_SIZE;
		const auto end =
		    std::min<std::uint64_t>(open ? ring.pos : start + block->content_size / 8, start + EDC_BLOCK_SIZE);
		for (std::uint64_t at = number == from.block && from.pos ? from.pos : start + EDC_BLOCK_HEADER;
		     at + 8 <= end;) {
			std::uint64_t token;
			std::memcpy(&token, card.memory(cpu) + at, sizeof token);
			const unsigned id = edc_token_id(token);
			if (words[id] == unknown_words)
				return; // counters: of varying length
			if (id == EDC_ID_SYS_ENTER)
				compare(entries, token);
			else if (id == EDC_ID_SYS_EXIT || id == EDC_ID_SYS_EXIT_LONG)
				compare(exits, token);
			at += 8 * (1 + words[id]);
		}
	}
	if (entries < brackets.size() || exits < brackets.size())
		return; // filtered, or the ring was full; tokens after the calls do not matter
	found.brackets = brackets.size();
	found.outside = furthest;
	found.width = ~0ull;
	for (const Bracket &bracket : brackets)
		found.width = std::min(found.width, bracket.after - bracket.before);
}

// One round on the CPU that this thread is pinned to. Between the two reads of `seen` nothing else calls here.
CallWitness make_calls(const BpfCard &card, unsigned cpu, Brackets &brackets)
{
	const edc_cpu &area = card.area(cpu);
	CallWitness found;
	found.cpu = cpu;
	const bool comparable = has_invariant_tsc();
	const bool converts = comparable && !card.is_module();
	const std::uint64_t error_before = converts ? clock_error(card.clock()) : 0;
	const long switches = switches_of_this_thread();
	const std::uint64_t entries = seen(area, {EDC_ID_SYS_ENTER, EDC_ID_SYS_ENTER_COMPAT});
	const std::uint64_t exits = seen(area, {EDC_ID_SYS_EXIT, EDC_ID_SYS_EXIT_LONG});
	const RingPosition position = position_of(area.level[0].ring);
	for (Bracket &bracket : brackets) {
		bracket.before = read_tsc();
		::syscall(SYS_getppid);
		bracket.after = read_tsc();
	}
	found.calls = brackets.size();
	found.entries = seen(area, {EDC_ID_SYS_ENTER, EDC_ID_SYS_ENTER_COMPAT}) - entries;
	found.exits = seen(area, {EDC_ID_SYS_EXIT, EDC_ID_SYS_EXIT_LONG}) - exits;
	found.alone = switches_of_this_thread() == switches;
	if (comparable && found.alone)
		compare_times(card, cpu, position, brackets, found);
	if (converts)
		found.allowed = std::max(error_before, clock_error(card.clock()));
	return found;
}

CallWitness witness_on(const BpfCard &card, unsigned cpu)
{
	Brackets brackets; // touched before the first round
	CallWitness found;
	for (int round = 0; round < max_tries && !found.alone; ++round)
		found = make_calls(card, cpu, brackets);
	return found;
}

bool is_probed(const BpfCard &card, const char *event)
{
	return std::ranges::any_of(card.attached(), [&](const std::string &name) { return name.ends_with(event); });
}

// Only one CPU posts at a time, so that the others' rings do not fill up.
std::vector<CallWitness> witness_each_cpu(const BpfCard &card)
{
	cpu_set_t allowed;
	std::memset(&allowed, 0xff, sizeof allowed);
	::sched_setaffinity(0, sizeof allowed, &allowed);
	CPU_ZERO(&allowed);
	::sched_getaffinity(0, sizeof allowed, &allowed);
	card.stop_probes(true);
	std::vector<CallWitness> all;
	for (unsigned cpu = 0; cpu < card.cpus() && cpu < CPU_SETSIZE; ++cpu) {
		if (!CPU_ISSET(cpu, &allowed) || !pin_to(cpu))
			continue;
		card.stop_probes_of(cpu, false);
		all.push_back(witness_on(card, cpu));
		card.stop_probes_of(cpu, true);
	}
	return all;
}

} // namespace

// Returns nothing if memory, a thread, or the privilege to attach is missing; the recording works without it.
std::vector<CallWitness> witness_calls(BpfCard &card, bool tp, bool filtering)
{
	std::vector<CallWitness> all;
	card.reset();
	try {
		card.attach_only(tp, {"sys_enter", "sys_exit"});
		if (filtering)
			card.trace_process(::getpid());
		if (is_probed(card, "sys_enter") && is_probed(card, "sys_exit"))
			run_trial(std::max(::sched_getcpu(), 0), [&] { all = witness_each_cpu(card); });
	} catch (const std::exception &) {
		all.clear();
	}
	card.detach();
	card.reset();
	return all;
}

} // namespace monitor::card
