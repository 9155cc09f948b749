// SPDX-License-Identifier: MIT
// The BPF card: attaches the probes, and gives the recording their rings (card_memory.h), counts and thread lists. With
// the kernel module, the rings and most probes are the module's; BPF programs probe the rest and post through the
// module's kfuncs. bpf_card_attach.cpp attaches and detaches them, bpf_card.cpp has the other operations of a
// recording. One thread loads and attaches; afterwards only the drain thread reads the rings.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/event_matcher.h"
#include "base/fd.h"
#include "base/recording_file/clocks.h"
#include "bpf_link.h"
#include "card_memory.h"
#include "card_programs.h"
#include "event_opener.h"
#include "fault_events.h"
#include "function_probes.h"
#include "monitor/card.h"
#include "monitor/progress.h"
#include "program_ring.h"
#include "sample_timers.h"
#include "stack_probes.h"
#include "task_lists.h"

struct card;
struct bpf_program;

namespace monitor::card {

// A per-CPU perf event, and the callback that gets it for a CPU that came online; it may throw Error.
struct OpenedLate {
	std::string name;
	perf_event_attr attributes{};
	std::function<void(unsigned cpu, Fd event)> take;
};

class BpfCard : public CardMemory {
public:
	// Loads the programs; throws Error with the remedy if the kernel rejects them.
	explicit BpfCard(const CardOptions &options);

	// attach(): the probes of the chosen families. attach_only(): those named and no others (a probe that is in
	// progress when detached may still post). attach_more(): those named, in addition. `tp`: the classes that may
	// be preempted attach as plain tracepoint programs (BPF_PROG_TYPE_TRACEPOINT).
	void attach(bool tp);
	void attach_only(bool tp, const std::vector<std::string> &names);
	void attach_more(bool tp, const std::vector<std::string> &names);

	// For the calibration of resets: attaches one at an offset in a program's file, if there are some at functions,
	// or at system call entry.
	bool attach_trial_reset(const std::string &program, std::uint64_t offset);

	// How often the probes of each function were hit so far, with leaves_functions_out.
	std::vector<std::uint64_t> function_hits() const;
	// Stops recording this function. Needs no privilege.
	void leave_out_function(std::size_t number) { functions_.detach(number); }

	// What an event of a function costs; no rounds: unknown, or --functions was not requested. Clears the rings.
	CalibratedCost time_function_event();

	// The same of a sample; no rounds: also if the module samples. Clears the rings.
	CalibratedCost time_sample();

	// Detach all probes and wait until none runs any more. None posts before reset().
	void detach();

	// A phase without probes: with CardOptions::suspending, between attach() and detach(), in any one thread.
	// suspend() detaches the probes (those of page faults are only disabled); call wait_for_probes() before
	// resume(), which attaches them again. Needs no privilege, but may throw Error on kernels before 5.19. resume()
	// returns how many CPU streams it has marked with a gap, by one discarded token that did not exist. `since`:
	// the time before suspend().
	void suspend();
	unsigned resume(std::uint64_t since);
	std::vector<edc_progress> list_progress() const;

	// cgroup v2 groups created since the card was loaded or since the last call, in order; any one thread. The
	// descriptor is readable when there are some; -1: not supported by the kernel.
	int new_cgroups() const { return new_cgroups_.fd(); }
	std::vector<edc_new_cgroup> take_new_cgroups() { return new_cgroups_.take(); }

	// CPUs that come online, or come back, whose earlier perf events ended. prepare_late_cpus(): after the probes
	// are attached and before privileges are dropped; starts a process of this user that keeps the privilege.
	// late_cpus() is readable when there are some; -1: not supported by the kernel. open_late_cpus(): opens the
	// per-CPU events there, including `others`; by the thread that detaches.
	void prepare_late_cpus(const record::User &user, std::vector<OpenedLate> others);
	int late_cpus() const { return new_cpus_.fd(); }
	std::vector<recording_file::LateCpu> open_late_cpus();

	// Counter `index` of a set on one CPU, opened by the caller. Call before anything is attached.
	void set_counter(unsigned set, unsigned index, unsigned cpu, int fd);

	// With CardOptions::matching, before attach().
	void set_matcher(const EventMatcher &matcher);
	// The cost in ns of evaluating this matcher, by class; only classes whose events are evaluated. Empty: not
	// measured, because the module evaluates. Clears the counts. Needs the privilege to run a program.
	std::map<unsigned, double> time_judgements(const EventMatcher &matcher);

	// Clear all tokens and counts. Only while nothing is attached.
	void reset();

	edc_clock &clock() const;

	// With CardOptions::stacks only.
	StackMemory stack_memory() const { return stacks_->memory(); }
	// See StackProbes. For the thread that detaches; time_stack_interrupt() after detach().
	void follow_command() { stacks_->follow_command(); }
	void stop_stack_timers() { stacks_->detach_timers(); }
	double time_stack_interrupt() { return stacks_->time_interrupt(); }

	// Samples all CPUs: each posts a `sample`. `began_on`: the CPU whose token a probe has already posted with this
	// `number`; else EDC_CPU_UNKNOWN, and 0 for the next number. With the module the probe has already sampled all
	// CPUs. False: failed.
	bool sample_all(std::uint32_t began_on, std::uint64_t number);
	// How often the kernel refused to run a program because it was already running on that CPU, by name.
	std::map<std::string, std::uint64_t> misses() const;
	// Since the last attach; final after detach().
	std::map<std::string, std::uint64_t> fault_counts() const;

	// See task_lists.h, also for list_progress(). Call prepare_task_lists() while the process has the privilege.
	void prepare_task_lists(unsigned lists);
	std::vector<edc_task> list_tasks();

	// Select processes with all their descendants (-p).
	void select(const std::vector<int> &pids);

	// Names of attached programs, and of requested classes that this kernel lacks.
	const std::vector<std::string> &attached() const { return attached_; }
	const std::vector<std::string> &lacking() const { return programs_.lacking(); }

private:
	void attach_counters_of(const std::string &name);
	bool try_attach(bpf_program *program);
	void attach_program(bpf_program *program);
	void attach_reset(std::size_t number);
	std::vector<OpenedLate> own_events();
	void set_matching(bool on);

	CardPrograms programs_;
	::card *skeleton_;
	std::unique_ptr<StackProbes> stacks_;
	std::unique_ptr<SampleTimers> samples_;
	FunctionProbes functions_;
	ProgramRing<edc_new_cgroup> new_cgroups_;
	ProgramRing<__u32> new_cpus_;
	std::vector<OpenedLate> opened_late_; // by its number for:
	std::unique_ptr<EventOpener> event_opener_;
	std::map<std::string, std::uint64_t> final_fault_counts_;
	TaskLists task_lists_;
	std::set<std::string> counted_; // names of classes, by set_matcher()
	std::vector<std::string> attached_;
	FaultEvents fault_events_;
	std::vector<Link> links_;
};

} // namespace monitor::card
