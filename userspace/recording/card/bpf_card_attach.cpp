// SPDX-License-Identifier: MIT
// Attaches and detaches the probes of the BPF card.
#include "bpf_card.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "card.skel.h"
#include "classes.h"
#include "kernel_features.h"
#include "program_names.h"

namespace monitor::card {

void BpfCard::attach(bool tp)
{
	std::vector<std::string> names;
	for (const ClassRow &row : kernel_classes())
		if (is_of_module(row.name) && wanted(row.name))
			names.emplace_back(row.name);
	bpf_program *program;
	bpf_object__for_each_program(program, skeleton_->obj)
	{
		const std::string name = bpf_program__name(program);
		if (bpf_program__autoload(program) && !is_iterator(program) && !is_tp_program(name) &&
		    !is_counters(name) && !is_reset(name) && !is_function(name) &&
		    program != skeleton_->progs.match_values && program != skeleton_->progs.sample_here &&
		    program != skeleton_->progs.cgroup_mkdir && program != skeleton_->progs.cpuhp_enter)
			names.push_back(name);
	}
	if (!options_.keeps_tokens)
		std::erase_if(names, [this](const std::string &name) {
			const bool follows_children = options_.filtering && name == "sched_wakeup_new"; // -p
			return !counted_.contains(class_of(name)) && !follows_children;
		});
	judge(true);
	attach_only(tp, names);
	for (std::size_t number = 0; number < options_.resets.size(); ++number)
		attach_reset(number);
	if (options_.has_probed_functions()) {
		functions_.attach({skeleton_->progs.function_entry, skeleton_->progs.function_exit}, options_.functions,
				  options_.leaves_functions_out);
		skeleton_->bss->counting_functions = options_.leaves_functions_out;
		attached_.insert(attached_.end(), {"function_entry", "function_exit"});
	}
	skeleton_->bss->stacks_running = 1;
	const auto is_sample = [](const std::string &name) { return class_of(name) == "sample"; };
	if (std::ranges::none_of(attached_, is_sample))
		return; // or they are neither kept nor counted
	if (module_ && options_.sample_every_ns)
		module_->sample_every(options_.sample_every_ns);
	else if (!module_)
		samples_->start();
}

void BpfCard::attach_only(bool tp, const std::vector<std::string> &names)
{
	links_.clear();
	fault_events_.detach();
	stacks_->detach_timers();
	attached_.clear();
	if (module_)
		module_->detach();
	attach_more(tp, names);
}

void BpfCard::attach_more(bool tp, const std::vector<std::string> &names)
{
	std::vector<std::string> of_module;
	for (const std::string &name : names) {
		if (is_of_module(name)) {
			if (wanted(name))
				of_module.push_back(name);
			attach_counters_of(name);
			continue;
		}
		bpf_program *program = bpf_object__find_program_by_name(skeleton_->obj, name.c_str());
		bpf_program *twin = bpf_object__find_program_by_name(skeleton_->obj, ("tp_" + name).c_str());
		if (tp && twin && bpf_program__autoload(twin) && try_attach(twin))
			program = twin; // the attempt fails if tracefs is not available
		else if (program && bpf_program__autoload(program))
			attach_program(program);
		else
			continue;
		if (!is_own_fault(name))
			attached_.push_back(bpf_program__name(program));
	}
	if (!module_)
		return;
	module_->attach(of_module);
	attached_.insert(attached_.end(), of_module.begin(), of_module.end());
}

// Called before the module's probe is attached: what is attached first runs first.
void BpfCard::attach_counters_of(const std::string &name)
{
	bpf_program *program = bpf_object__find_program_by_name(skeleton_->obj, ("counters_" + name).c_str());
	if (!program || !bpf_program__autoload(program))
		return;
	attach_program(program);
	attached_.push_back(bpf_program__name(program));
}

bool BpfCard::try_attach(bpf_program *program)
{
	Link link(bpf_program__attach(program));
	if (!link)
		return false;
	links_.push_back(std::move(link));
	return true;
}

void BpfCard::attach_program(bpf_program *program)
{
	const std::string name = bpf_program__name(program);
	if (is_fault_event(program))
		return fault_events_.attach(program, name, options_.cpus);
	if (is_stack_timer(program))
		return stacks_->attach_timers(program);
	if (!try_attach(program))
		throw Error(errno, fmt::format("cannot attach the probe {} ({})", name, why_refused()));
}

bpf_program *BpfCard::reset_program_of(std::size_t number) const
{
	return bpf_object__find_program_by_name(skeleton_->obj, reset_program(options_.resets[number], number).c_str());
}

bpf_program *BpfCard::trial_reset() const
{
	return resets_at_function() ? skeleton_->progs.reset_at_uprobe : skeleton_->progs.reset_at_tracepoint_0;
}

bool BpfCard::attach_trial_reset(const std::string &program, std::uint64_t offset)
{
	Link link(resets_at_function()
		      ? bpf_program__attach_uprobe(trial_reset(), false, ::getpid(), program.c_str(), offset)
		      : bpf_program__attach_raw_tracepoint(trial_reset(), "sys_enter"));
	if (!link)
		return false;
	links_.push_back(std::move(link));
	return true;
}

void BpfCard::attach_reset(std::size_t number)
{
	const ResetEvent &event = options_.resets[number];
	Link link(attach_reset_event(reset_program_of(number), event, number));
	if (!link)
		throw Error(errno, fmt::format("--reset-on {}: cannot attach a probe ({})", event.name, why_refused()));
	links_.push_back(std::move(link));
}

// The module's probes judge too; the tables are theirs until the next call.
void BpfCard::judge(bool on)
{
	if (!options_.matching)
		return;
	if (module_)
		module_->match(on ? &skeleton_->data_matcher->matcher : nullptr, options_.times, options_.triggers);
	skeleton_->bss->judging = on;
}

// What is open, by probe.
std::vector<OpenedLate> BpfCard::own_events()
{
	std::vector<OpenedLate> all;
	const auto add = [&](const char *name, CpuEvents &events) {
		if (!events.empty())
			all.push_back({name, events.attributes(),
				       [&events](unsigned cpu, Fd event) { events.add(cpu, std::move(event)); }});
	};
	for (const char *name : FaultEvents::names)
		add(name, fault_events_.of(name));
	add("stack_sample", stacks_->timers());
	if (!samples_->timers().empty())
		all.push_back({"sample", samples_->timers().attributes(),
			       [this](unsigned cpu, Fd event) { samples_->start_late(cpu, std::move(event)); }});
	return all;
}

void BpfCard::prepare_late_cpus(const record::User &user, std::vector<OpenedLate> others)
{
	if (late_cpus_.fd() < 0 || options_.suspending)
		return;
	opened_late_ = own_events();
	std::ranges::move(others, std::back_inserter(opened_late_));
	std::vector<perf_event_attr> attributes;
	for (const OpenedLate &late : opened_late_)
		attributes.push_back(late.attributes);
	if (!attributes.empty())
		event_opener_ = std::make_unique<EventOpener>(std::move(attributes), user);
}

std::vector<recording_file::LateCpu> BpfCard::open_late_cpus()
{
	std::vector<recording_file::LateCpu> all;
	for (const unsigned cpu : late_cpus_.take()) {
		recording_file::LateCpu &late = all.emplace_back(recording_file::LateCpu{cpu, {}});
		for (std::size_t number = 0; number < opened_late_.size(); ++number) {
			Fd event = event_opener_->open(number, cpu);
			if (!event)
				continue;
			try {
				opened_late_[number].take(cpu, std::move(event));
				late.opened.push_back(opened_late_[number].name);
			} catch (const Error &) { // it is missing there
			}
		}
	}
	return all;
}

// Closing a link does not end its program where tracepoints are preemptible: a task may be between the tracepoint and
// the program. So make the probes stop and wait for a grace period; after that no probe writes any more.
void BpfCard::detach()
{
	// The fault events' own counts end exactly with their probe: disable first, then read.
	fault_events_.disable();
	stacks_->stop_timers();
	samples_->stop();
	if (module_)
		module_->detach(); // also disables those events first
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		__atomic_store_n(&area(cpu).reader.stopped, 1, __ATOMIC_SEQ_CST);
	wait_for_probes();
	final_fault_counts_ = fault_counts();
	skeleton_->bss->stacks_running = 0;
	judge(false);
	links_.clear();
	fault_events_.detach();
	stacks_->detach_timers();
	functions_.detach();
	attached_.clear();
}

void BpfCard::suspend()
{
	// In this order the events' own counts are those of what the probes saw.
	fault_events_.disable();
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		__atomic_store_n(&area(cpu).reader.stopped, 1, __ATOMIC_SEQ_CST);
	links_.clear();
	stacks_->detach_timers();
}

void BpfCard::wait_for_probes() const
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

unsigned BpfCard::resume(std::uint64_t since)
{
	unsigned marked = 0;
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu) {
		edc_ring &ring = area(cpu).level[0].ring; // no probe writes it now
		if (!ring.opened)
			continue; // what is before its first block is unknown anyway
		++marked;
		ring.discarded++;
		ring.last_time = std::max<__u64>(ring.last_time, since);
		ring.begin_time = ring.last_time - EDC_BLOCK_MAX_TICKS; // the next token opens a block
	}
	for (const std::string &name : attached_) {
		bpf_program *program = bpf_object__find_program_by_name(skeleton_->obj, name.c_str());
		if (program && !is_fault_event(program))
			attach_program(program);
	}
	for (unsigned cpu = 0; cpu < options_.cpus; ++cpu)
		__atomic_store_n(&area(cpu).reader.stopped, 0, __ATOMIC_SEQ_CST);
	fault_events_.enable();
	return marked;
}

} // namespace monitor::card
