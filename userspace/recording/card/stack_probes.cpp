// SPDX-License-Identifier: MIT
#include "stack_probes.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ranges.h"
#include "monitor/card.h" // ahead of the skeleton, which has its structs
#include "monitor/matcher.h"

#include "base/clock_ns.h"
#include "base/error.h"
#include "card.skel.h"
#include "classes.h"

namespace monitor::card {
namespace {

constexpr auto max_absence =
    std::chrono::seconds(1); // time after the command left a CPU until the timer there is stopped
constexpr std::uint8_t every_event = 1, some_calls = 2; // stacks_at

std::uint8_t kind_of(std::string_view event)
{
	return event == "sched_switch"            ? EDC_STACK_KIND_SWITCH
	       : event == "sched_waking"          ? EDC_STACK_KIND_WAKING
	       : event.starts_with("page_fault_") ? EDC_STACK_KIND_FAULT
						  : EDC_STACK_KIND_OTHER;
}

// At most a 32nd of the machine's memory.
std::uint32_t rows_for_this_machine(bool is_unasked)
{
	const std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
				    static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 32;
	return static_cast<std::uint32_t>(std::min<std::uint64_t>(
	    is_unasked ? EDC_UNWIND_ROWS_UNASKED : EDC_UNWIND_ROWS, bytes / sizeof(edc_unwind_row)));
}

Mapping map_of(const bpf_map *map, std::size_t element_bytes)
{
	const auto page = static_cast<std::size_t>(::getpagesize());
	const std::size_t bytes = (element_bytes * bpf_map__max_entries(map) + page - 1) / page * page;
	void *address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (address == MAP_FAILED)
		throw Error(errno, "cannot map the memory of the stacks");
	Mapping mapping(address, bytes);
	mapping.keep_from_children();
	return mapping;
}

perf_event_attr timer(unsigned hz)
{
	perf_event_attr attributes{};
	attributes.size = sizeof attributes;
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.config = PERF_COUNT_SW_CPU_CLOCK;
	attributes.freq = 1;
	attributes.sample_freq = hz;
	return attributes;
}

template <class T> std::span<T> elements(const Mapping &mapping, std::size_t count)
{
	return {reinterpret_cast<T *>(mapping.data()), count};
}

} // namespace

std::uint64_t StackMemory::spent_ns() const
{
	std::uint64_t sum = 0;
	for (const edc_stack_cpu &cpu : cpus) {
		sum += __atomic_load_n(&cpu.timer_ns, __ATOMIC_RELAXED);
		for (const edc_stack_account &account : cpu.at)
			sum += __atomic_load_n(&account.spent_ns, __ATOMIC_RELAXED);
	}
	return sum;
}

std::uint64_t StackMemory::timer_taken() const
{
	return sum_of_all<std::uint64_t>(
	    cpus, [](const edc_stack_cpu &cpu) { return __atomic_load_n(&cpu.timer_taken, __ATOMIC_RELAXED); });
}

void StackMemory::set_space(std::int32_t process, std::int64_t space) const
{
	const auto key = static_cast<__u32>(process), value = static_cast<__u32>(space);
	if (space < 0)
		bpf_map_delete_elem(processes, &key);
	else
		bpf_map_update_elem(processes, &key, &value, BPF_ANY);
}

StackProbes::StackProbes(::card *skeleton, const StackOptions &options, unsigned cpus)
    : skeleton_(skeleton), options_(options), cpus_(cpus), number_of_rows_(rows_for_this_machine(options.of_command)),
      ran_(cpus)
{
}

void StackProbes::configure()
{
	const auto &progs = skeleton_->progs;
	bpf_program__set_autoload(progs.stack_sample, options_.timer_hz != 0);
	bpf_program__set_autoload(progs.own_fault, options_.any() && bpf_program__autoload(progs.page_fault_kernel));
	if (!options_.any())
		return;
	skeleton_->rodata->stacks_on = 1;
	skeleton_->rodata->stacks_of_command = options_.of_command;
	std::random_device random;
	const_cast<volatile __u64 &>(skeleton_->rodata->stack_seed) = std::uint64_t{random()} << 32 | random();
	auto *at = const_cast<__u8 *>(skeleton_->rodata->stacks_at);
	auto *kinds = const_cast<__u8 *>(skeleton_->rodata->stack_kinds);
	std::set<std::uint8_t> used_kinds;
	if (options_.at_triggers)
		used_kinds.insert(EDC_STACK_KIND_OTHER);
	for (const ClassRow &row : kernel_classes()) {
		kinds[row.id - EDC_ID_KERNEL_FIRST] = kind_of(row.name);
		if (std::ranges::find(options_.events, row.name) == options_.events.end())
			continue;
		const bool some = std::string_view(row.name) == "sys_enter" && !options_.calls.empty();
		at[row.id - EDC_ID_KERNEL_FIRST] = some ? some_calls : every_event;
		used_kinds.insert(kind_of(row.name));
	}
	if (!used_kinds.empty())
		skeleton_->rodata->stack_budget_permille =
		    10 * EDC_STACK_BUDGET_PERCENT / static_cast<__u32>(used_kinds.size());
	auto *calls = const_cast<__u64 *>(skeleton_->rodata->stacks_of_call);
	for (const unsigned call : options_.calls)
		calls[call / 64] |= std::uint64_t{1} << call % 64;
	const auto &maps = skeleton_->maps;
	bpf_map__set_max_entries(maps.unwind_rows, number_of_rows_);
	bpf_map__set_max_entries(maps.unwind_mappings, EDC_UNWIND_MAPPINGS);
	bpf_map__set_max_entries(maps.unwind_spaces, EDC_UNWIND_SPACES);
	bpf_map__set_max_entries(maps.spaces, EDC_UNWIND_PROCESSES);
	bpf_map__set_max_entries(maps.stack_cpus, cpus_);
	bpf_map__set_max_entries(maps.stacks_known, cpus_ * EDC_STACK_KNOWN);
	bpf_map__set_max_entries(maps.stack_walks, cpus_ * EDC_CARD_LEVELS);
}

void StackProbes::map()
{
	if (!options_.any())
		return;
	rows_ = map_of(skeleton_->maps.unwind_rows, sizeof(edc_unwind_row));
	mappings_ = map_of(skeleton_->maps.unwind_mappings, sizeof(edc_unwind_mapping));
	spaces_ = map_of(skeleton_->maps.unwind_spaces, sizeof(edc_unwind_space));
	wanted_ = map_of(skeleton_->maps.unwind_wanted, sizeof(edc_unwind_wanted));
	cpu_counts_ = map_of(skeleton_->maps.stack_cpus, sizeof(edc_stack_cpu));
	known_ = map_of(skeleton_->maps.stacks_known, sizeof(std::uint64_t));
}

void StackProbes::reset()
{
	for (const Mapping *mapping : {&wanted_, &cpu_counts_, &known_})
		if (mapping->data())
			std::memset(mapping->data(), 0, mapping->size());
	std::ranges::fill(ran_, std::chrono::steady_clock::now());
}

StackMemory StackProbes::memory() const
{
	return {elements<edc_unwind_row>(rows_, number_of_rows_),
		elements<edc_unwind_mapping>(mappings_, EDC_UNWIND_MAPPINGS),
		elements<edc_unwind_space>(spaces_, EDC_UNWIND_SPACES),
		elements<const edc_stack_cpu>(cpu_counts_, cpus_),
		options_.of_command ? elements<const edc_unwind_wanted>(wanted_, 1).data() : nullptr,
		bpf_map__fd(skeleton_->maps.spaces)};
}

std::uint64_t StackProbes::own_faults() const
{
	std::uint64_t sum = 0;
	for (const edc_stack_cpu &cpu : elements<const edc_stack_cpu>(cpu_counts_, cpu_counts_.data() ? cpus_ : 0))
		sum += __atomic_load_n(&cpu.own_faults, __ATOMIC_RELAXED);
	return sum;
}

void StackProbes::attach_timers(bpf_program *program)
{
	if (!options_.timer_hz)
		return;
	timers_.open(timer(options_.timer_hz), cpus_,
		     "the timer of the stacks (--rate is at most /proc/sys/kernel/perf_event_max_sample_rate)");
	timers_.attach(program);
}

void StackProbes::follow_command()
{
	const auto now = std::chrono::steady_clock::now();
	const std::span<edc_stack_cpu> cpus = elements<edc_stack_cpu>(cpu_counts_, cpus_);
	for (unsigned cpu = 0; cpu < cpus_; ++cpu) {
		if (__atomic_exchange_n(&cpus[cpu].command_ran, 0, __ATOMIC_RELAXED))
			ran_[cpu] = now;
		timers_.set_on(cpu, now - ran_[cpu] < max_absence);
	}
}

// Compares the fastest runs of a loop with and without the timer: disturbances only add.
double StackProbes::time_interrupt()
{
	constexpr std::uint64_t period_ns = 50'000, loop_ns = 1'000'000;
	constexpr int rounds = 4;
	const int cpu = ::sched_getcpu();
	const auto event = std::ranges::find(timers_.events(), static_cast<unsigned>(cpu), &CpuEvents::Event::cpu);
	cpu_set_t here, before;
	CPU_ZERO(&here);
	CPU_SET(static_cast<unsigned>(cpu), &here);
	std::uint64_t period = period_ns;
	if (event == timers_.events().end() || ::sched_getaffinity(0, sizeof before, &before) < 0 ||
	    ::sched_setaffinity(0, sizeof here, &here) < 0)
		return 0;
	const auto time = [](std::uint64_t turns) {
		const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
		for (volatile std::uint64_t turn = 0; turn < turns;)
			turn = turn + 1;
		return clock_ns(CLOCK_MONOTONIC) - begin;
	};
	constexpr std::uint64_t few = 100'000;
	time(few);
	const std::uint64_t turns = few * loop_ns / std::max<std::uint64_t>(time(few), 1);
	std::uint64_t with = UINT64_MAX, without = UINT64_MAX;
	bool is_set = ::ioctl(event->fd.get(), PERF_EVENT_IOC_PERIOD, &period) == 0;
	for (int round = 0; round < rounds && is_set; ++round) {
		without = std::min(without, time(turns));
		is_set = ::ioctl(event->fd.get(), PERF_EVENT_IOC_ENABLE, 0) == 0;
		with = std::min(with, time(turns));
		::ioctl(event->fd.get(), PERF_EVENT_IOC_DISABLE, 0);
	}
	::sched_setaffinity(0, sizeof before, &before);
	return is_set && with > without ? static_cast<double>((with - without) * period_ns) / static_cast<double>(with)
					: 0;
}

std::string why_no_stack_timer(unsigned hz)
{
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, nullptr) != 1)
		return "this kernel's BPF has no loops (Linux 5.17)";
	perf_event_attr attributes = timer(hz);
	attributes.disabled = 1;
	const Fd event(static_cast<int>(
	    ::syscall(SYS_perf_event_open, &attributes, -1, std::max(::sched_getcpu(), 0), -1, PERF_FLAG_FD_CLOEXEC)));
	return event ? "" : fmt::format("the kernel refuses the timer ({})", std::strerror(errno));
}

} // namespace monitor::card
