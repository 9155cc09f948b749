// SPDX-License-Identifier: MIT
// .monitor/recording.json: everything about a recording except its tokens. A new member is a line in a struct and one
// in its list of fields. Written by recording/session from the start on, so that it survives if the recorder is killed.
#pragma once

#include "calibration.h"
#include "cgroups.h"
#include "clocks.h"
#include "counters.h"
#include "counts.h"
#include "event_counts.h"
#include "flight.h"
#include "functions.h"
#include "stacks.h"
#include "statistics.h"
#include "triggers.h"
#include "user_card.h"

namespace monitor::recording_file {

// A trial of the probes.
struct PreflightCounts {
	std::uint64_t calls = 0;   // system calls made by several tasks of one CPU
	std::uint64_t missing = 0; // of these, not seen by the probes

	void fields(auto &v) { v("calls", calls, "missing", missing); }
};

// How long events were counted, from the attachment of the first probe.
struct Counted {
	std::optional<std::uint64_t> since; // trace time
	std::uint64_t ns = 0;

	void fields(auto &v) { v("since", since, "ns", ns); }
};

struct RecorderInfo {
	std::int64_t pid = 0; // 0: unknown, of a snapshot or an older recorder
	std::uint64_t cpu_ns = 0, wall_ns = 0, bytes = 0, dropped_blocks = 0, worst_ring_fill_permille = 0;
	std::optional<std::uint64_t> control_tokens; // of its own stream

	void fields(auto &v)
	{
		v.if_set("pid", pid);
		v("cpu_ns", cpu_ns, "wall_ns", wall_ns, "bytes", bytes, "dropped_blocks", dropped_blocks,
		  "worst_ring_fill_permille", worst_ring_fill_permille, "control_tokens", control_tokens);
	}
};

struct Contents {
	// Compiled once: contents.cpp.
	Contents();
	Contents(const Contents &);
	Contents(Contents &&) noexcept;
	Contents &operator=(const Contents &);
	Contents &operator=(Contents &&) noexcept;
	~Contents();

	std::vector<std::int64_t> other_recorders; // PIDs of those that ran at the start or the end
	std::uint64_t version = 0;
	std::string state, uuid; // complete: ended cleanly
	std::vector<std::string> command;
	std::int64_t command_pid = 0; // 0: no command
	std::string note, user, host, kernel, machine;
	bool is_virtual = false;         // a virtual machine
	bool irq_time_taken_out = false; // excluded from the kernel's own run times
	std::string boot_id, date;
	RecordedFilter filter;
	std::optional<StatisticsInfo> statistics; // sums of periods instead of events
	std::string attach;                       // tp, tp_btf
	PreflightCounts start_test;
	std::optional<Calibration> calibration;
	std::map<std::string, double> cost_ns; // by family, `rejected`: calibrated at the start
	Functions functions;
	AtBothEnds<std::vector<CallWitness>> witness;
	AtBothEnds<TscSkew> tsc_skew;
	AtBothEnds<std::map<std::string, std::uint64_t>> misses; // by program
	std::vector<Judgement> judgements;
	std::string card; // bpf, module, user
	std::uint64_t cpus = 0;
	std::vector<std::string> families, programs, lacking;
	std::vector<std::string> left_out;     // classes of these families, by -e
	std::vector<std::string> switch_flags; // EDC_SWITCH_* that could be read; others are unknown
	std::uint64_t ring_bytes = 0;
	std::vector<TriggerInfo> triggers;
	std::uint64_t triggers_forgotten = 0, triggers_without_token = 0; // the latter are known by number only
	// Trace times until which absent events were detected: of the kernel, and of programs.
	std::optional<std::uint64_t> triggers_until, program_triggers_until;
	std::uint64_t unsampled = 0;
	Pauses pauses;
	std::optional<bool> confined; // to its trace's directory
	Moment start;                 // all probes were attached
	std::vector<std::uint32_t> offline_at_start;
	std::optional<RecordedCounters> counting; // record -m
	std::optional<RecordedStates> states;
	bool has_tokens = true; // false: record --no-tokens
	AtBothEnds<std::optional<KernelCounts>> kernel_counts;
	std::map<std::string, std::string> interrupt_names; // by number: of /proc/interrupts, its handlers
	std::map<std::string, std::string> disk_names;      // by MAJOR:MINOR: of /proc/partitions
	AtBothEnds<std::optional<Cgroups>> cgroups;
	std::vector<LateCpu> late_cpus;
	std::vector<ClassCounts> classes;
	std::vector<std::uint64_t> lost_by_cpu;
	std::uint64_t clamped = 0, traced_refused = 0;     // the latter of older recorders
	std::map<std::string, std::uint64_t> fault_counts; // by class name
	std::optional<FlightInfo> flight;
	StackCounts stacks;
	std::optional<UserInfo> user_card;
	Counted counted;
	std::vector<EventCount> counts;
	std::vector<EventTime> times;
	RecorderInfo recorder;
	std::map<std::string, std::uint64_t> streams; // packets that were written, by the file's name
	Moment end;                                   // the probes were still attached
	std::string end_reason;
	std::optional<std::int64_t> command_exit;
	std::optional<std::uint64_t> time_shift; // recording/periods/lives.h
	std::uint64_t threads_since = 0;
	std::vector<Life>
	    lives; // earlier lives, oldest first. All counts are of the last life, which is not in this list

	bool complete() const { return state == "complete"; }
	bool is_of_this_boot() const;

	void origin_fields(auto &v)
	{
		v.if_set("other_recorders", other_recorders);
		v("version", version, "state", state, "uuid", uuid, "command", command);
		v.if_set("command_pid", command_pid);
		v("note", note, "user", user, "host", host, "kernel", kernel, "machine", machine, "virtual", is_virtual,
		  "irq_time_taken_out", irq_time_taken_out, "boot_id", boot_id, "date", date, "filter", filter,
		  "statistics", statistics);
		v.if_set("attach", attach, "start_test", start_test);
		v("calibration", calibration);
		v.if_set("cost_ns", cost_ns, "functions", functions, "witness", witness, "tsc_skew", tsc_skew, "misses",
			 misses, "judgements", judgements, "card", card, "cpus", cpus);
		if (v.reads || !card.empty())
			v("families", families, "programs", programs);
		v.if_set("left_out", left_out, "switch_flags", switch_flags);
		if (v.reads || cpus)
			v("lacking", lacking);
		v.if_set("ring_bytes", ring_bytes);
	}

	void result_fields(auto &v)
	{
		if (v.reads || !triggers.empty())
			v("triggers", triggers, "triggers_forgotten", triggers_forgotten);
		v.if_set("triggers_without_token", triggers_without_token);
		v("triggers_until", triggers_until);
		v.if_set("unsampled", unsampled, "pauses", pauses);
		v("program_triggers_until", program_triggers_until, "confined", confined);
		v.if_set("start", start, "offline_at_start", offline_at_start);
		v("counters", counting, "states", states);
		v.unless_true("tokens", has_tokens);
		v.if_set("kernel_counts", kernel_counts, "interrupt_names", interrupt_names, "disk_names", disk_names,
			 "cgroups", cgroups, "late_cpus", late_cpus);
		if (v.reads || !lost_by_cpu.empty())
			v("classes", classes, "lost_by_cpu", lost_by_cpu, "clamped", clamped);
		v.if_set("traced_refused", traced_refused, "fault_counts", fault_counts);
		v("flight", flight);
		v.if_set("stacks", stacks);
		v("user_card", user_card);
		v.if_set("counted", counted, "counts", counts, "times", times, "recorder", recorder, "streams", streams,
			 "end", end, "end_reason", end_reason);
		v("command_exit", command_exit, "time_shift", time_shift);
		if (v.reads || time_shift)
			v("threads_since", threads_since, "lives", lives);
	}

	void fields(auto &v)
	{
		origin_fields(v);
		result_fields(v);
	}
};

inline constexpr const char *file_name = ".monitor/recording.json";

std::string text_of(Contents contents);
// Empty if it is not a JSON object.
std::optional<Contents> parse(const std::string &untrusted);
// The file's text in this trace directory, "" if there is none; and its parsed contents.
std::string text_in(const std::string &directory);
std::optional<Contents> contents_in(const std::string &directory);

} // namespace monitor::recording_file
