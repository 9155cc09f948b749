// SPDX-License-Identifier: MIT
#include "calibration.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <iterator>

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/card/classes.h"
#include "recording/card/own_code_offsets.h"
#include "recording/card/trial.h"
#include "workloads.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr auto max_time_of_each = 100ms; // workload
constexpr std::size_t max_rounds = 22;
constexpr std::size_t rounds_of_check = 9;

// Target of the trial uprobe, called by nothing else. Starts, as most functions do, with an instruction that the kernel
// emulates; one that it must single-step costs more.
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

double time_resets()
{
	constexpr int resets = 200;
	const auto start = cpu_time();
	for (int i = 0; i < resets; ++i)
		reset_here();
	return static_cast<double>((cpu_time() - start).count()) / resets;
}

// The times in ticks between each token `from` and a token `to` directly after it in the ring.
std::vector<double> brackets(const BpfCard &card, int cpu, std::uint32_t from, std::uint32_t to)
{
	const PayloadWords words = payload_words(card.options().counters_in_set);
	const edc_ring &ring = card.area(static_cast<unsigned>(cpu)).level[0].ring;
	std::vector<double> found;
	for (std::uint64_t number = 0; number < std::min<std::uint64_t>(ring.closed, ring.blocks); ++number) {
		const std::byte *block = card.memory(static_cast<unsigned>(cpu)) + ring.first + number * EDC_BLOCK_SIZE;
		const std::uint64_t end = std::min<std::uint64_t>(
		    reinterpret_cast<const edc_block *>(block)->content_size / 8, EDC_BLOCK_SIZE);
		std::uint64_t before = 0;
		for (std::uint64_t at = EDC_BLOCK_HEADER; at + 8 <= end;) {
			std::uint64_t token;
			std::memcpy(&token, block + at, sizeof token);
			if (edc_token_id(before) == from && edc_token_id(token) == to)
				found.push_back(
				    static_cast<std::uint32_t>(edc_token_time(token) - edc_token_time(before)));
			before = token;
			if (words[edc_token_id(token)] == unknown_words)
				break;
			at += 8 * (1 + words[edc_token_id(token)]);
		}
	}
	return found;
}

// This many rounds are measured while the probes are attached, and as many before and after while they are not; more on
// a machine that takes long to attach them.
constexpr std::size_t rounds_together = 2;

// Work in which each of these programs runs `times_each` times per unit.
struct Work {
	std::string what; // key in Calibration::costs
	Names programs;
	double times_each;
	std::function<double()> time;
	double events = 0; // per unit, of the programs that this kernel has
	std::vector<Round> rounds{};

	// Sets one member of the rounds that are measured together: the last ones.
	void measure(double Round::*part, std::size_t together)
	{
		for (std::size_t i = rounds.size() - together; i < rounds.size(); ++i)
			rounds[i].*part = time();
	}
};

// Every round measures all workloads, because re-attaching waits for an RCU grace period, and probes attached together
// share one. The CPU stays busy meanwhile, since it would be slower after sleeping. The probes of system calls come
// last, because round trips make calls, too.
class Trial {
public:
	Trial(BpfCard &card, const CalibrationOptions &options, int cpu)
	    : card_(card), options_(options), cpu_(cpu), trips_(cpu)
	{
		if (options.filtering)
			works_.push_back(&rejected_);
		if (options.probes && card.options().reads_apart())
			works_.push_back(&reset_);
	}

	// Alternates without and with probes, until there are enough rounds or the time is over.
	Calibration run()
	{
		if (options_.check) {
			together_ = rounds_of_check;
			measure_rounds();
		} else {
			measure_all_rounds();
		}
		if (!card_.options().resets_at_function()) // else it was measured with the system call probes attached
			for (std::size_t i = 0; i < reset_.rounds.size(); ++i)
				reset_.rounds[i].before = reset_.rounds[i].after = syscall_.rounds[i].with;
		if (discarded_.rounds.size() != syscall_.rounds.size())
			discarded_.events = 0;
		for (std::size_t i = 0; i < discarded_.rounds.size() && discarded_.events > 0; ++i)
			discarded_.rounds[i] = {syscall_.rounds[i].before, discarded_.rounds[i].with,
						syscall_.rounds[i].after};
		Calibration result;
		if (discarded_.events > 0)
			result.costs[discarded_.what] = estimate(discarded_.rounds, discarded_.events);
		for (const Work *work : works_)
			if (work->events > 0)
				result.costs[work->what] = estimate(work->rounds, work->events);
		result.call_edge = edge(syscall_, EDC_ID_SYS_ENTER, EDC_ID_SYS_EXIT);
		result.fault_edge = edge(fault_, EDC_ID_PAGE_FAULT_USER, EDC_ID_MINOR_FAULT);
		return result;
	}

private:
	void measure_all_rounds()
	{
		const auto start = Clock::now();
		const auto time = max_time_of_each * static_cast<int>(works_.size());
		auto end = start + time;
		for (int times = 1; sched_.rounds.size() < max_rounds && Clock::now() < end; ++times) {
			measure_rounds();
			if (Clock::now() >= end && sched_.rounds.size() < max_rounds)
				end = start + 2 * time; // a slow machine: with fewer the cost would be unknown
			choose_rounds_together((Clock::now() - start) / times, end - Clock::now());
		}
	}

	// Chooses how many rounds to measure together, so that enough fit into the time left.
	void choose_rounds_together(Clock::duration of_some, Clock::duration left)
	{
		const auto times = static_cast<std::size_t>(std::max<Clock::rep>(left / of_some, 1));
		const std::size_t missing = max_rounds - std::min(sched_.rounds.size(), max_rounds);
		together_ = std::min(std::max((missing + times - 1) / times, rounds_together), missing);
	}

	void measure_rounds()
	{
		for (Work *work : works_)
			work->rounds.resize(work->rounds.size() + together_);
		wait_for_grace_period();
		options_.clock->renew();
		for (Work *work : works_)
			work->measure(&Round::before, together_);
		trace_this_process(true);
		card_.attach_only(options_.tp, other_programs_);
		measure(sched_);
		measure(fault_);
		card_.attach_more(options_.tp, syscall_.programs);
		if (options_.filtering) {
			trace_this_process(false);
			measure(rejected_);
			trace_this_process(true);
		}
		measure(syscall_);
		if (syscall_.events > 0 && !card_.options().overwriting && !card_.options().counts_only)
			measure_discarded();
		if (works_.back() == &reset_ && card_.attach_trial_reset("/proc/self/exe", reset_offset_)) {
			reset_.events = 1;
			reset_.measure(&Round::with, together_);
		}
		card_.attach_only(options_.tp, {});
		grace_period_ =
		    std::async(std::launch::async, [] { ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0); });
		free_rings();
		for (Work *work : works_)
			work->measure(&Round::after, together_);
	}

	// Busy-waits at normal priority: the kernel thread that ends the grace period has normal priority, too, and
	// needs the CPU.
	void wait_for_grace_period()
	{
		if (!grace_period_.valid())
			return;
		const std::jthread busy([](const std::stop_token &stop) {
			::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 0);
			while (!stop.stop_requested())
				;
		});
		grace_period_.wait();
	}

	void measure(Work &work)
	{
		const Names &attached = card_.attached();
		const auto attached_programs = std::ranges::count_if(work.programs, [&](const std::string &program) {
			return std::ranges::any_of(attached,
						   [&](const std::string &name) { return name.ends_with(program); });
		});
		work.events = work.times_each * static_cast<double>(attached_programs);
		work.measure(&Round::with, together_);
	}

	// Makes the ring of this CPU full from its next block on. The time without probes is known from the calls whose
	// events are stored.
	void measure_discarded()
	{
		constexpr int max_calls = 4 * EDC_BLOCK_SIZE / 16, calls = 100;
		edc_cpu &area = card_.area(static_cast<unsigned>(cpu_));
		const edc_ring &ring = area.level[0].ring;
		const auto discarded = [&] { return __atomic_load_n(&ring.discarded, __ATOMIC_RELAXED); };
		const std::uint64_t before = discarded();
		__atomic_store_n(&area.reader.read[0],
				 __atomic_load_n(&ring.closed, __ATOMIC_ACQUIRE) + 1 - ring.blocks, __ATOMIC_RELEASE);
		for (int i = 0; i < max_calls && discarded() == before; ++i)
			::syscall(SYS_getppid);
		discarded_.events = syscall_.events;
		for (std::size_t i = 0; i < together_ && discarded() != before; ++i)
			discarded_.rounds.push_back({0, Calls::time(calls), 0});
		free_rings();
	}

	// Whether events of this process are recorded.
	void trace_this_process(bool is_traced)
	{
		if (options_.filtering)
			card_.trace_process(::getpid(), is_traced);
	}

	// A probe costs less with a full ring.
	void free_rings()
	{
		for (unsigned cpu = 0; cpu < card_.cpus(); ++cpu)
			for (unsigned level = 0; level < card_.rings(); ++level) {
				edc_cpu &area = card_.area(cpu);
				__atomic_store_n(&area.reader.read[level],
						 __atomic_load_n(&area.level[level].ring.closed, __ATOMIC_ACQUIRE),
						 __ATOMIC_RELEASE);
			}
	}

	// The time of a unit outside its two tokens.
	double edge(const Work &work, std::uint32_t from, std::uint32_t to) const
	{
		std::vector<double> units;
		std::ranges::transform(work.rounds, std::back_inserter(units), &Round::with);
		const std::vector<double> between = brackets(card_, cpu_, from, to);
		if (work.events == 0 || between.empty())
			return 0;
		const double ns =
		    quantile(units, 0.5) - quantile(between, 0.5) / (options_.clock->frequency_hz() / 1e9);
		return ns > 0 ? ns : 0; // not positive: not measured
	}

	BpfCard &card_;
	const CalibrationOptions &options_;
	int cpu_;
	RoundTrips trips_;
	Faults faults_;
	Calls calls_;
	const std::uint64_t reset_offset_ = offset_in_own_file(reinterpret_cast<std::uintptr_t>(&reset_here));
	Work sched_{"sched", {"sched_switch", "sched_waking"}, 2, [this] { return trips_.time(); }};
	Work fault_{"fault", {"page_fault_user", "minor_fault"}, 1, [this] { return faults_.time(); }};
	Work rejected_{"rejected", {"sys_enter", "sys_exit"}, 1, [this] { return calls_.time(); }};
	Work syscall_{"syscall", {"sys_enter", "sys_exit"}, 1, [this] { return calls_.time(); }};
	Work discarded_{"discarded", {}, 1, {}}; // measured together with the others
	Work reset_{
	    "reset", {}, 1, [this] { return card_.options().resets_at_function() ? time_resets() : calls_.time(); }};
	std::vector<Work *> works_{&sched_, &fault_, &syscall_};
	const Names other_programs_ = {"sched_switch", "sched_waking", "page_fault_user", "minor_fault"};
	std::size_t together_ = rounds_together;
	std::future<void> grace_period_;
};

void add_if_measured(Calibration &result, const char *what, const CalibratedCost &cost)
{
	if (cost.rounds > 0)
		result.costs[what] = cost;
}

} // namespace

Calibration calibrate(BpfCard &card, const CalibrationOptions &options)
{
	Calibration result;
	const int cpu = std::max(::sched_getcpu(), 0);
	card.reset();
	try {
		run_trial(cpu, [&] { result = Trial(card, options, cpu).run(); });
	} catch (const Error &) {
		card.detach();
		throw;
	}
	card.detach();
	card.reset();
	if (options.probes)
		add_if_measured(result, "function", card.time_function_event());
	try {
		add_if_measured(result, "sample", card.time_sample());
	} catch (const Error &) { // privileges were dropped: keep the result of the start
	}
	return result;
}

} // namespace monitor::card
