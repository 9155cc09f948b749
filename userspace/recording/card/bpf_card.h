// SPDX-License-Identifier: MIT
// The BPF card: loads the probes, decides how each is attached, and provides the recording with its rings and counts.
// With the kernel module, the rings and most probes are the module's; BPF programs probe the rest and post through the
// module's kfuncs. bpf_card_load.cpp loads them, bpf_card_attach.cpp attaches and detaches them, bpf_card.cpp has the
// operations of a recording. Called by Recording; next in the flow: recording/rings/drain.cpp takes the blocks. One
// thread loads and attaches; afterwards only the drain thread reads the rings.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/event_matcher.h"
#include "base/fd.h"
#include "base/recording_file/clocks.h"
#include "bpf_link.h"
#include "event_opener.h"
#include "fault_events.h"
#include "function_probes.h"
#include "late_cpus.h"
#include "module_card.h"
#include "monitor/card.h"
#include "monitor/progress.h"
#include "reset_events.h"
#include "sample_timers.h"
#include "stack_probes.h"
#include "task_lists.h"

struct card;
struct bpf_program;
struct ring_buffer;

namespace monitor::card {

// Ratios that the card posts instead of counts (monitor/ratio.h): pairs of counters, each set * EDC_COUNTERS_IN_SET +
// index.
struct RatioPairs {
	unsigned bits = 0; // EDC_RATIO_BITS_*; 0: counts
	std::vector<std::pair<unsigned, unsigned>> pairs;
};

struct CardOptions {
	bool module = false;               // rings and most probes are the kernel module's (module_card.h)
	std::vector<std::string> families; // of card.h; the identity of threads is always recorded
	bool filtering = false;            // only processes that are traced
	bool overwriting = false;          // a flight recorder's rings (ring.h)
	bool counts_only = false;          // nothing is posted, only counted by class; but no exits from calls
	bool matching = false;             // set_matcher() decides what is kept, from attach() to detach()
	// By class, from EDC_ID_KERNEL_FIRST: edc_match_class.in_probe of that matcher.
	std::array<std::uint16_t, EDC_CARD_CLASSES> decisions{};
	unsigned times = 0;            // how many times it has
	unsigned triggers = 0;         // and triggers
	bool pausing = false;          // of which some stop storing
	bool sampling = false;         // and some sample all CPUs
	unsigned start_triggers = 0;   // and these start it again: bits
	unsigned stack_triggers = 0;   // and these take a stack: bits
	unsigned reading_triggers = 0; // and these read the counters: bits
	bool keeps_tokens = true;      // else only classes of which set_matcher() counts events are attached
	unsigned cpus = 1;             // possible CPUs
	std::uint64_t blocks_per_cpu = 0;
	std::array<std::uint8_t, 16> uuid{};
	std::vector<unsigned> counters_in_set; // record -m
	RatioPairs ratios;
	std::uint64_t sample_every_ns = 0;   // of all CPUs
	std::uint64_t counters_every_ns = 0; // also read them at an interrupt if no switch occurred for this long
	std::vector<ResetEvent> resets;
	StackOptions stacks;
	std::vector<Function> functions;
	bool suspending = false;           // record --calibrate: suspend() and resume() will be called
	bool leaves_functions_out = false; // any of them may be detached during the recording; their hits are counted

	bool has_probed_functions() const { return std::ranges::any_of(functions, &Function::is_probed); }

	// Counters are not only read where it is the turn of a switch, a timer or a sample (bpf/reset.bpf.c).
	bool reads_apart() const { return !resets.empty() || reading_triggers; }
	// Rings of each CPU: the levels, and with probes that may be preempted or that read apart the slots.
	unsigned rings() const { return reads_apart() || has_probed_functions() ? EDC_CARD_RINGS : EDC_CARD_LEVELS; }
};

// An event of each CPU, and who takes it where a CPU came online, which may throw Error.
struct OpenedLate {
	std::string name;
	perf_event_attr attributes{};
	std::function<void(unsigned cpu, Fd event)> take;
};

class BpfCard {
public:
	// Loads the programs; throws Error with the remedy if the kernel rejects them.
	explicit BpfCard(const CardOptions &options);
	~BpfCard();

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
	// From now on it is not recorded any more. Needs no privilege.
	void leave_out_function(std::size_t number) { functions_.detach(number); }

	// What an event of a function costs; no rounds: unknown, or --functions was not requested. Clears the rings.
	CalibratedCost time_function_event();

	// The same of a sample; no rounds: also if the module samples. Clears the rings.
	CalibratedCost time_sample();

	// Detach all probes and wait until none runs any more. None posts before reset().
	void detach();

	// With CardOptions::suspending, between attach() and detach(), any one thread: a phase without probes. They
	// are detached, except that those of page faults are only disabled; nothing is recorded until resume() has
	// attached them again. It needs no privilege, but may throw Error on kernels before 5.19, which refuse it.
	// Before resume(), wait_for_probes(). Returns how many streams of CPUs it has marked with a gap: one discarded
	// token in each, which there was not. `since`: the time before suspend().
	void suspend();
	void wait_for_probes() const;
	unsigned resume(std::uint64_t since);
	std::vector<edc_progress> list_progress() const;

	// Groups of cgroup 2 that were made since the card was loaded or this was called last, in their order; any one
	// thread. The descriptor is readable when there are some; -1: the kernel does not tell.
	int new_cgroups() const;
	void take_new_cgroups(const std::function<void(const edc_new_cgroup &)> &take);

	// CPUs that come online, or come back, which ended what was opened for them. prepare_late_cpus(): when the
	// probes are attached and before the privilege is dropped: a process of its own, which is this user's, keeps
	// it. late_cpus() is readable when there are some; -1: the kernel does not tell. open_late_cpus(): what is
	// opened for each CPU is opened there, by the thread that detaches; also what `others` have.
	void prepare_late_cpus(const record::User &user, std::vector<OpenedLate> others);
	int late_cpus() const { return late_cpus_.fd(); }
	std::vector<recording_file::LateCpu> open_late_cpus();

	// Counter `index` of a set on one CPU, opened by the caller. Call before anything is attached.
	void set_counter(unsigned set, unsigned index, unsigned cpu, int fd);

	// With CardOptions::matching, before attach().
	void set_matcher(const EventMatcher &matcher);
	// What a judgement of this matcher takes in ns, by class that is not decided as a whole; empty: not measured,
	// because the module judges. Clears the counts. Needs the privilege to run a program.
	std::map<unsigned, double> time_judgements(const EventMatcher &matcher);

	// Clear all tokens and counts. Only while nothing is attached.
	void reset();

	unsigned cpus() const { return options_.cpus; }
	const std::vector<unsigned> &counters_in_set() const { return options_.counters_in_set; }
	const std::vector<ResetEvent> &resets() const { return options_.resets; }
	bool reads_apart() const { return options_.reads_apart(); }
	bool resets_at_function() const
	{
		return !options_.resets.empty() && options_.resets.back().tracepoint.empty();
	}
	unsigned rings() const { return options_.rings(); }
	bool is_module() const { return module_ != nullptr; }
	const std::array<std::uint8_t, 16> &uuid() const { return options_.uuid; }
	edc_cpu &area(unsigned cpu) const;
	std::byte *memory(unsigned cpu) const { return areas().data() + cpu * area_bytes_; }
	std::uint64_t ring_bytes() const { return areas().size(); }
	edc_clock &clock() const;

	// With CardOptions::stacks only.
	StackMemory stack_memory() const { return stacks_->memory(); }

	// Readable if a ring became half full since the last ack().
	int wakeup_fd() const;
	void ack();
	// The same for firings of triggers (edc_firings); poll() for these events. With CardOptions::triggers only.
	int firing_wakeup_fd() const;
	short firing_events() const;
	void heard_firings();
	// First events of a trigger from before this time, that were not followed by a second one. Each is taken once.
	std::vector<edc_pending_start> take_overdue(unsigned trigger, std::uint64_t before);
	// As probes do. pause(): whether that began one, resume(): when the one that it ended began, 0: none.
	bool pause(std::uint64_t time);
	std::uint64_t resume();
	// What all CPUs do, each posts as a `sample`. `began_on`: whose token with this number a probe posted; or
	// EDC_CPU_UNKNOWN, and 0 for the next number. With the module, which has numbers of its own, the probe has them
	// all posted. False: it could not be taken.
	bool sample_all(std::uint32_t began_on, std::uint64_t number);
	std::uint64_t unsampled() const; // samples that probes could not take

	// How often the kernel refused to run a program because it was already running on that CPU, by name.
	std::map<std::string, std::uint64_t> misses() const;
	// Since the last attach; final after detach().
	std::map<std::string, std::uint64_t> fault_counts() const;

	// See task_lists.h; so does list_progress(). prepare_task_lists(): while the process has the privilege.
	void prepare_task_lists(unsigned lists);
	std::vector<edc_task> list_tasks();

	// Select processes with all their descendants (-p), or one whose children follow it; or deselect one.
	void select(const std::vector<int> &pids);
	void trace_process(int pid, bool is_traced = true);

	// Names of attached programs, and of requested classes that this kernel lacks.
	const std::vector<std::string> &attached() const { return attached_; }
	const std::vector<std::string> &lacking() const { return lacking_; }

private:
	struct WakeupDeleter {
		void operator()(ring_buffer *wakeup) const;
	};

	const Mapping &areas() const { return module_ ? module_->areas() : areas_; }
	void configure();
	void configure_counters();
	void map_rings();
	void open_wakeups();
	void watch_cgroups();
	void empty();
	bool is_of_module(const std::string &event) const;
	void attach_counters_of(const std::string &name);
	bool try_attach(bpf_program *program);
	void attach_program(bpf_program *program);
	bpf_program *reset_program_of(std::size_t number) const;
	bpf_program *trial_reset() const;
	void attach_reset(std::size_t number);
	std::vector<OpenedLate> own_events();
	void judge(bool on);
	bool wanted(const std::string &program) const;

	CardOptions options_;
	std::unique_ptr<ModuleCard> module_;
	::card *skeleton_ = nullptr;
	std::unique_ptr<StackProbes> stacks_;
	std::unique_ptr<SampleTimers> samples_;
	FunctionProbes functions_;
	std::uint64_t area_bytes_ = 0;
	Mapping areas_;
	std::unique_ptr<ring_buffer, WakeupDeleter> wakeup_; // of the rings in areas_
	std::unique_ptr<ring_buffer, WakeupDeleter> firing_wakeup_;
	Link cgroups_link_;
	std::unique_ptr<ring_buffer, WakeupDeleter> new_cgroups_;
	std::function<void(const edc_new_cgroup &)> take_cgroup_;
	Mapping traced_;         // one bit per process, if options_.filtering
	Mapping pending_;        // an edc_pending_starts for each of options_.times
	Mapping trigger_states_; // an edc_trigger_state for each of options_.triggers
	std::vector<Link> links_;
	FaultEvents fault_events_;
	LateCpus late_cpus_;
	std::vector<OpenedLate> opened_late_; // by its number for:
	std::unique_ptr<EventOpener> event_opener_;
	std::map<std::string, std::uint64_t> final_fault_counts_;
	TaskLists task_lists_;
	std::set<std::string> counted_; // names of classes, by set_matcher()
	std::vector<std::string> attached_;
	std::vector<std::string> lacking_;
};

} // namespace monitor::card
