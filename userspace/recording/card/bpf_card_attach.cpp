// SPDX-License-Identifier: MIT
// Attaches and detaches the probes of the BPF card.
#include "base/ranges.h"
#include "bpf_card.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "card.skel.h"
#include "program_names.h"

namespace monitor::card {

void BpfCard::attach(bool tp)
{
	std::vector<std::string> names = programs_.names();
	if (!options().keeps_tokens)
		std::erase_if(names, [this](const std::string &name) {
			const bool follows_children = options().filtering && name == "sched_wakeup_new"; // -p
			return !counted_.contains(class_of(name)) && !follows_children;
		});
	set_matching(true);
	attach_only(tp, names);
	for (std::size_t number = 0; number < options().resets.size(); ++number)
		attach_reset(number);
	if (options().has_probed_functions()) {
		functions_.attach({skeleton_->progs.function_entry, skeleton_->progs.function_exit},
				  options().functions, options().leaves_functions_out);
		skeleton_->bss->counting_functions = options().leaves_functions_out;
		attached_.insert(attached_.end(), {"function_entry", "function_exit"});
	}
	skeleton_->bss->stacks_running = 1;
	const auto is_sample = [](const std::string &name) { return class_of(name) == "sample"; };
	if (std::ranges::none_of(attached_, is_sample))
		return; // else its events are neither kept nor counted
	if (module() && options().sample_every_ns)
		module()->sample_every(options().sample_every_ns);
	else if (!module())
		samples_->start();
}

void BpfCard::attach_only(bool tp, const std::vector<std::string> &names)
{
	links_.clear();
	fault_events_.detach();
	stacks_->detach_timers();
	attached_.clear();
	if (module())
		module()->detach();
	attach_more(tp, names);
}

void BpfCard::attach_more(bool tp, const std::vector<std::string> &names)
{
	std::vector<std::string> of_module;
	for (const std::string &name : names) {
		if (programs_.is_of_module(name)) {
			if (programs_.wanted(name))
				of_module.push_back(name);
			attach_counters_of(name);
			continue;
		}
		bpf_program *program = programs_.find(name);
		bpf_program *twin = programs_.find("tp_" + name);
		if (tp && twin && bpf_program__autoload(twin) && try_attach(twin))
			program = twin; // the attempt fails if tracefs is not available
		else if (program && bpf_program__autoload(program))
			attach_program(program);
		else
			continue;
		if (!is_own_fault(name))
			attached_.push_back(bpf_program__name(program));
	}
	if (!module())
		return;
	module()->attach(of_module);
	attached_.insert(attached_.end(), of_module.begin(), of_module.end());
}

// Called before the module's probe is attached: what is attached first runs first.
void BpfCard::attach_counters_of(const std::string &name)
{
	bpf_program *program = programs_.find("counters_" + name);
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
		return fault_events_.attach(program, name, cpus());
	if (is_stack_timer(program))
		return stacks_->attach_timers(program);
	if (!try_attach(program))
		throw Error(errno, fmt::format("cannot attach the probe {} ({})", name, first_warning()));
}

bool BpfCard::attach_trial_reset(const std::string &program, std::uint64_t offset)
{
	Link link(options().resets_at_function()
		      ? bpf_program__attach_uprobe(programs_.trial_reset(), false, ::getpid(), program.c_str(), offset)
		      : bpf_program__attach_raw_tracepoint(programs_.trial_reset(), "sys_enter"));
	if (!link)
		return false;
	links_.push_back(std::move(link));
	return true;
}

void BpfCard::attach_reset(std::size_t number)
{
	const ResetEvent &event = options().resets[number];
	Link link(attach_reset_event(programs_.reset(number), event, number));
	if (!link)
		throw Error(errno,
			    fmt::format("--reset-on {}: cannot attach a probe ({})", event.name, first_warning()));
	links_.push_back(std::move(link));
}

// Turns the evaluation of events on or off, also in the module.
void BpfCard::set_matching(bool on)
{
	if (!options().matching)
		return;
	if (module())
		module()->match(on ? &skeleton_->data_matcher->matcher : nullptr, options().times, options().triggers);
	skeleton_->bss->judging = on;
}

// The open per-CPU events, by probe.
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
	if (new_cpus_.fd() < 0 || options().suspending)
		return;
	opened_late_ = own_events();
	std::ranges::move(others, std::back_inserter(opened_late_));
	auto attributes = list_of<perf_event_attr>(opened_late_, &OpenedLate::attributes);
	if (!attributes.empty())
		event_opener_ = std::make_unique<EventOpener>(std::move(attributes), user);
}

std::vector<recording_file::LateCpu> BpfCard::open_late_cpus()
{
	std::vector<recording_file::LateCpu> all;
	for (const unsigned cpu : new_cpus_.take()) {
		recording_file::LateCpu &late = all.emplace_back(recording_file::LateCpu{cpu, {}});
		for (std::size_t number = 0; number < opened_late_.size(); ++number) {
			Fd event = event_opener_->open(number, cpu);
			if (!event)
				continue;
			try {
				opened_late_[number].take(cpu, std::move(event));
				late.opened.push_back(opened_late_[number].name);
			} catch (const Error &) { // missing on that CPU
			}
		}
	}
	return all;
}

// Closing a link does not end its program where tracepoints are preemptible: a task may be between the tracepoint and
// the program. So stop the probes and wait for a grace period, after which no probe writes. Close the links first: else
// the next attachment to the same tracepoints would wait for another grace period.
void BpfCard::detach()
{
	// The fault events' own counts end exactly with their probe: disable first, then read.
	fault_events_.disable();
	stacks_->stop_timers();
	samples_->stop();
	if (module())
		module()->detach(); // also disables those events first
	stop_probes(true);
	links_.clear();
	wait_for_probes();
	final_fault_counts_ = fault_counts();
	skeleton_->bss->stacks_running = 0;
	set_matching(false);
	fault_events_.detach();
	stacks_->detach_timers();
	functions_.detach();
	attached_.clear();
}

void BpfCard::suspend()
{
	// In this order the events' own counts match what the probes saw.
	fault_events_.disable();
	stop_probes(true);
	links_.clear();
	stacks_->detach_timers();
}

unsigned BpfCard::resume(std::uint64_t since)
{
	const unsigned marked = mark_gaps(since);
	for (const std::string &name : attached_) {
		bpf_program *program = programs_.find(name);
		if (program && !is_fault_event(program))
			attach_program(program);
	}
	stop_probes(false);
	fault_events_.enable();
	return marked;
}

} // namespace monitor::card
