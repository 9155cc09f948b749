// SPDX-License-Identifier: MIT
#include "calibration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "classes.h"
#include "trial.h"
#include "workloads.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

constexpr int call_entry_id = 320, call_exit_id = 322;
constexpr int fault_entry_id = 340, fault_exit_id = 342;
constexpr auto longest_calibration = 300ms;
constexpr int most_rounds = 21;

// Where a reset is tried: nobody else calls it. It starts as most functions do, with an instruction that the kernel
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

double time_resets()
{
	constexpr int resets = 200;
	const auto start = cpu_time();
	for (int i = 0; i < resets; ++i)
		reset_here();
	return static_cast<double>((cpu_time() - start).count()) / resets;
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

// Payload words of each kernel class, by id.
std::array<unsigned, 1 << EDC_ID_BITS> words_by_id()
{
	std::array<unsigned, 1 << EDC_ID_BITS> words{};
	for (const ClassRow &row : kernel_classes())
		words[row.id] = row.words;
	return words;
}

// The times between a token `from` and a token `to` that follows it at once, in ticks: from what lies in the ring.
std::vector<double> brackets(const BpfCard &card, int cpu, std::uint32_t from, std::uint32_t to)
{
	const auto words = words_by_id();
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
			at += 8 * (1 + words[edc_token_id(token)]);
		}
	}
	return found;
}

class Trial {
public:
	Trial(BpfCard &card, const CalibrationOptions &options, int cpu) : card_(card), options_(options), cpu_(cpu) {}

	Calibration run()
	{
		calls();
		switches();
		faults();
		if (options_.resets && !card_.resets().empty())
			resets();
		return result_;
	}

private:
	// Off, on, off and so on, until there are rounds enough or the time is over.
	std::vector<Round> rounds(const std::function<double()> &work, const std::function<void()> &attach)
	{
		std::vector<Round> done;
		double before = work();
		while (done.size() < most_rounds && (done.empty() || std::chrono::steady_clock::now() < end_)) {
			attach();
			const double with = work();
			card_.attach_only(options_.classic, {});
			free_rings();
			const double after = work();
			done.push_back({before, with, after});
			before = after;
		}
		return done;
	}

	std::vector<Round> rounds(const std::function<double()> &work, const Names &programs)
	{
		return rounds(work, [&] { card_.attach_only(options_.classic, programs); });
	}

	// A probe that finds no room costs something else.
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

	// How many of the programs can be attached here: the events of a unit of work in which each fires once.
	std::size_t available(const Names &programs)
	{
		card_.attach_only(options_.classic, programs);
		const Names attached = card_.attached();
		card_.attach_only(options_.classic, {});
		return static_cast<std::size_t>(std::ranges::count_if(programs, [&](const std::string &program) {
			return std::ranges::any_of(attached,
						   [&](const std::string &name) { return name.ends_with(program); });
		}));
	}

	void trace_me()
	{
		if (options_.filtering)
			card_.trace_process(::getpid());
	}

	// The time of a unit outside of its two tokens.
	double edge(const std::vector<Round> &rounds, std::uint32_t from, std::uint32_t to) const
	{
		std::vector<double> units;
		units.reserve(rounds.size());
		for (const Round &round : rounds)
			units.push_back(round.with);
		const std::vector<double> between = brackets(card_, cpu_, from, to);
		if (units.empty() || between.empty())
			return 0;
		const double ns = quantile(units, 0.5) - quantile(between, 0.5) / options_.ticks_per_ns;
		return ns > 0 ? ns : 0; // shorter than what it contains: then it was not measured
	}

	void calls()
	{
		const Names programs = {"sys_enter", "sys_exit"};
		const std::size_t events = available(programs);
		if (!events)
			return trace_me();
		if (options_.filtering)
			result_.costs["rejected"] = estimate(rounds(time_calls, programs), static_cast<double>(events));
		trace_me();
		const std::vector<Round> all = rounds(time_calls, programs);
		result_.costs["syscall"] = estimate(all, static_cast<double>(events));
		result_.call_edge = edge(all, call_entry_id, call_exit_id);
	}

	void switches()
	{
		const Names programs = {"sched_switch", "sched_waking"};
		RoundTrips trips(cpu_, [this] { trace_me(); });
		const std::size_t events = 2 * available(programs);
		result_.costs["sched"] =
		    estimate(rounds([&] { return trips.time(); }, programs), static_cast<double>(events));
	}

	void faults()
	{
		const Names programs = {"page_fault_user", "minor_fault"};
		const std::size_t events = available(programs);
		if (!events)
			return;
		Faults faults;
		const std::vector<Round> all = rounds([&] { return faults.time(); }, programs);
		result_.costs["fault"] = estimate(all, static_cast<double>(events));
		result_.fault_edge = edge(all, fault_entry_id, fault_exit_id);
	}

	void resets()
	{
		const bool at_function = card_.resets().back().tracepoint.empty();
		const std::uint64_t place = place_in_file(reinterpret_cast<std::uintptr_t>(&reset_here));
		const auto attach = [&] { return card_.attach_trial_reset("/proc/self/exe", place); };
		const bool possible = attach();
		card_.attach_only(options_.classic, {});
		if (possible)
			result_.costs["reset"] = estimate(rounds(at_function ? time_resets : time_calls, attach), 1);
	}

	BpfCard &card_;
	const CalibrationOptions &options_;
	int cpu_;
	std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + longest_calibration;
	Calibration result_;
};

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
	return result;
}

} // namespace monitor::card
