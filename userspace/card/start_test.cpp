// SPDX-License-Identifier: MIT
#include "start_test.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "classes.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

constexpr int id_sys_enter = 320, id_sys_enter_compat = 321, id_sys_exit = 322;
constexpr int id_page_fault_user = 340, id_minor_fault = 342;
constexpr unsigned pinned_tasks = 4;
constexpr auto pinned_time = 12ms; // CPU time of each: several time slices
constexpr int chunks = 12;
constexpr int calls_per_chunk = 1000;
constexpr int round_trips_per_chunk = 50;
constexpr auto longest_round_trips = 80ms; // on a loaded machine each takes its turn
constexpr int pages_per_chunk = 256;

std::chrono::nanoseconds thread_cpu_time()
{
	timespec now;
	::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

void pin_to(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(static_cast<unsigned>(cpu), &set);
	::sched_setaffinity(0, sizeof set, &set);
}

// The cheapest of several chunks, in ns of CPU time per unit.
double cheapest(int units, const std::function<void()> &chunk)
{
	double best = 1e18;
	for (int i = 0; i < chunks; ++i) {
		const auto before = thread_cpu_time();
		chunk();
		const std::chrono::duration<double, std::nano> spent = thread_cpu_time() - before;
		best = std::min(best, spent.count() / units);
	}
	return best;
}

double time_calls()
{
	return cheapest(calls_per_chunk, [] {
		for (int i = 0; i < calls_per_chunk; ++i)
			::syscall(SYS_getppid);
	});
}

// Two threads of one CPU hand a byte to and fro; the CPU time of both, per round trip.
double time_round_trips(int cpu, const std::function<void()> &on_partner)
{
	int there[2], back[2];
	if (::pipe2(there, O_CLOEXEC) < 0)
		return 0;
	if (::pipe2(back, O_CLOEXEC) < 0) {
		::close(there[0]);
		::close(there[1]);
		return 0;
	}
	std::jthread partner([&] {
		pin_to(cpu);
		on_partner();
		char byte;
		while (::read(there[0], &byte, 1) == 1 && byte != 0)
			if (::write(back[1], &byte, 1) != 1)
				return;
	});
	char byte = 1;
	const auto trip = [&] { return ::write(there[1], &byte, 1) == 1 && ::read(back[0], &byte, 1) == 1; };
	double best = 1e18;
	const auto deadline = std::chrono::steady_clock::now() + longest_round_trips;
	for (int i = 0; i < chunks && (i == 0 || std::chrono::steady_clock::now() < deadline); ++i) {
		timespec before, after;
		::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
		for (int n = 0; n < round_trips_per_chunk && trip(); ++n)
			;
		::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
		const double ns = static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
				  static_cast<double>(after.tv_nsec - before.tv_nsec);
		best = std::min(best, ns / round_trips_per_chunk);
	}
	byte = 0;
	if (::write(there[1], &byte, 1) != 1)
		::close(there[1]);
	partner.join();
	for (int fd : {there[0], there[1], back[0], back[1]})
		::close(fd);
	return best;
}

double time_faults()
{
	const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
	return cheapest(pages_per_chunk, [page] {
		const std::size_t size = page * pages_per_chunk;
		void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return;
		::madvise(memory, size, MADV_NOHUGEPAGE);
		for (std::size_t at = 0; at < size; at += page)
			static_cast<volatile char *>(memory)[at] = 1;
		::munmap(memory, size);
	});
}

// Where a reset is tried: nobody else calls it. It begins as most functions do, with an instruction that the kernel
// emulates; one that it must let the CPU step through costs more.
#if defined(__x86_64__)
__attribute__((naked, noinline)) void reset_here()
{
	asm volatile("push %rax\n\tpop %rax\n\tret");
}
#else
__attribute__((noinline)) void reset_here()
{
	asm volatile("nop" ::: "memory");
}
#endif

double time_resets(bool at_functions)
{
	constexpr int resets_per_chunk = 200;
	return cheapest(resets_per_chunk, [at_functions] {
		for (int i = 0; i < resets_per_chunk; ++i)
			at_functions ? reset_here() : static_cast<void>(::syscall(SYS_getppid));
	});
}

// The place of a function in this program's file; 0: it cannot be found.
std::uint64_t place_in_file(std::uint64_t address)
{
	std::istringstream maps(read_text("/proc/self/maps"));
	for (std::string line; std::getline(maps, line);) {
		std::uint64_t begin = 0, end = 0, offset = 0;
		if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) == 3 &&
		    address >= begin && address < end)
			return address - begin + offset;
	}
	return 0;
}

// ns per reset with all that is read there; 0: it could not be tried.
double cost_of_reset(BpfCard &card)
{
	const bool at_functions = card.resets().back().tracepoint.empty();
	const double without = time_resets(at_functions);
	if (!card.attach_trial_reset("/proc/self/exe", place_in_file(reinterpret_cast<std::uintptr_t>(&reset_here))))
		return 0;
	return std::max(0.0, time_resets(at_functions) - without);
}

struct Times {
	double call = 0, round_trip = 0, fault = 0;
};

Times time_workloads(int cpu, const std::function<void()> &on_thread)
{
	return {time_calls(), time_round_trips(cpu, on_thread), time_faults()};
}

std::uint64_t enters_seen(const BpfCard &card, int cpu)
{
	std::uint64_t seen = 0;
	for (const edc_level &level : card.area(static_cast<unsigned>(cpu)).level)
		seen += level.seen[id_sys_enter - EDC_ID_KERNEL_FIRST] +
			level.seen[id_sys_enter_compat - EDC_ID_KERNEL_FIRST];
	return seen;
}

std::uint64_t misses_of_calls(const BpfCard &card)
{
	std::uint64_t misses = 0;
	for (const ProgramMisses &program : card.misses())
		if (program.program.ends_with("sys_enter"))
			misses += program.misses;
	return misses;
}

// A task of the highest class that wakes often and calls: where a probe can be preempted at all, it meets one that is.
// Without it a kernel that preempts lazily switches at system call exits only, and shows its misses later.
std::uint64_t call_in_between(int cpu, const std::atomic<bool> &stop)
{
	pin_to(cpu);
	sched_param highest{};
	highest.sched_priority = 1;
	::sched_setscheduler(0, SCHED_FIFO, &highest); // refused: then the others alone decide
	std::uint64_t calls = 0;
	while (!stop) {
		const timespec pause{0, 50'000};
		::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
		for (int i = 0; i < 5; ++i, ++calls)
			::syscall(SYS_getppid);
	}
	return calls;
}

// Several tasks of one CPU call in turn. Returns how many of their calls the probes did not see.
std::uint64_t missing_calls(const BpfCard &card, int cpu, std::uint64_t &calls_made)
{
	const std::uint64_t seen_before = enters_seen(card, cpu), misses_before = misses_of_calls(card);
	std::atomic<std::uint64_t> calls{0};
	std::atomic<bool> stop{false};
	std::jthread in_between([&] { calls += call_in_between(cpu, stop); });
	{
		std::vector<std::jthread> tasks;
		for (unsigned i = 0; i < pinned_tasks; ++i)
			tasks.emplace_back([&calls, cpu] {
				pin_to(cpu);
				std::uint64_t mine = 0;
				const auto end = thread_cpu_time() + pinned_time;
				do
					for (int n = 0; n < 100; ++n, ++mine)
						::syscall(SYS_getppid);
				while (thread_cpu_time() < end);
				calls += mine;
			});
	}
	stop = true;
	in_between.join();
	calls_made = calls;
	const std::uint64_t seen = enters_seen(card, cpu) - seen_before;
	const std::uint64_t unseen = seen < calls_made ? calls_made - seen : 0;
	return std::max(unseen, misses_of_calls(card) - misses_before);
}

const std::vector<std::string> trial_programs = {"sys_enter",    "sys_exit",        "sched_switch",
						 "sched_waking", "page_fault_user", "minor_fault"};

// Payload words of each kernel class, by id.
std::array<unsigned, 1 << EDC_ID_BITS> words_by_id()
{
	std::array<unsigned, 1 << EDC_ID_BITS> words{};
	for (const ClassRow &row : kernel_classes())
		words[row.id] = row.words;
	return words;
}

// The median time between a token `from` and a token `to` that follows it at once, in ticks: from what the trial left
// in the ring. 0: there is no such pair.
double usual_bracket(const BpfCard &card, int cpu, std::uint32_t from, std::uint32_t to)
{
	const auto words = words_by_id();
	const edc_ring &ring = card.area(static_cast<unsigned>(cpu)).level[0].ring;
	std::vector<std::uint32_t> brackets;
	for (std::uint64_t number = 0; number < std::min<std::uint64_t>(ring.closed, ring.blocks); ++number) {
		const std::byte *block = card.memory(static_cast<unsigned>(cpu)) + ring.first + number * EDC_BLOCK_SIZE;
		const std::uint64_t end = std::min<std::uint64_t>(
		    reinterpret_cast<const edc_block *>(block)->content_size / 8, EDC_BLOCK_SIZE);
		std::uint64_t before = 0;
		for (std::uint64_t at = EDC_BLOCK_HEADER; at + 8 <= end;) {
			std::uint64_t token;
			std::memcpy(&token, block + at, sizeof token);
			if (edc_token_id(before) == from && edc_token_id(token) == to)
				brackets.push_back(edc_token_time(token) - edc_token_time(before));
			before = token;
			at += 8 * (1 + words[edc_token_id(token)]);
		}
	}
	if (brackets.empty())
		return 0;
	std::ranges::nth_element(brackets, brackets.begin() + static_cast<std::ptrdiff_t>(brackets.size() / 2));
	return brackets[brackets.size() / 2];
}

// What a call or fault takes outside of its tokens; 0 if it was not measured.
double edge(double whole_ns, double bracket_ticks, double ticks_per_ns)
{
	return bracket_ticks > 0 ? std::max(0.0, whole_ns - bracket_ticks / ticks_per_ns) : 0;
}

double per_event(double with, double without, double already, double events)
{
	return std::max(0.0, (with - without - already) / events);
}

bool attached(const BpfCard &card, const std::string &event)
{
	return std::ranges::any_of(card.attached(), [&](const std::string &name) { return name.ends_with(event); });
}

void run_trial(BpfCard &card, bool filtering, int cpu, double ticks_per_ns, StartTest &result)
{
	pin_to(cpu);
	::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), -20); // soon over, also on a loaded machine
	const Times without = time_workloads(cpu, [] {});
	card.attach_only(false, trial_programs);
	// Whether a probe may be preempted is seen where calls are probed. Elsewhere the few probes that might be
	// (a process executes, exits, is renamed) attach the safe way, which costs more.
	if (attached(card, "sys_enter"))
		result.missing = missing_calls(card, cpu, result.calls);
	else
		result.classic = true;
	if (result.missing) {
		card.detach();
		card.reset();
		result.classic = true;
		card.attach_only(true, trial_programs);
		result.missing = missing_calls(card, cpu, result.calls);
	}
	const auto trace_me = [&] {
		if (filtering)
			card.trace_thread(::gettid());
	};
	const bool calls = attached(card, "sys_enter");
	if (filtering && calls)
		result.cost.rejected = per_event(time_calls(), without.call, 0, 2);
	trace_me();
	const Times with = time_workloads(cpu, trace_me);
	if (calls) {
		result.cost.syscall = per_event(with.call, without.call, 0, 2);
		result.cost.call_edge =
		    edge(with.call, usual_bracket(card, cpu, id_sys_enter, id_sys_exit), ticks_per_ns);
	}
	// A round trip has four system calls, two switches and two wakings.
	const double trip_events = attached(card, "sched_waking") ? 4 : 2;
	result.cost.sched = per_event(with.round_trip, without.round_trip, 8 * result.cost.syscall, trip_events);
	if (attached(card, "minor_fault"))
		result.cost.fault = per_event(with.fault, without.fault, 0, attached(card, "page_fault_user") ? 2 : 1);
	result.cost.fault_edge =
	    edge(with.fault, usual_bracket(card, cpu, id_page_fault_user, id_minor_fault), ticks_per_ns);
	if (!card.resets().empty())
		result.cost.reset = cost_of_reset(card);
	card.detach();
	card.reset();
}

} // namespace

StartTest start_test(BpfCard &card, bool filtering, double ticks_per_ns)
{
	StartTest result;
	std::exception_ptr failure;
	std::jthread([&] {
		try {
			run_trial(card, filtering, std::max(::sched_getcpu(), 0), ticks_per_ns, result);
		} catch (...) {
			failure = std::current_exception();
		}
	}).join();
	if (failure)
		std::rethrow_exception(failure);
	return result;
}

} // namespace monitor::card
