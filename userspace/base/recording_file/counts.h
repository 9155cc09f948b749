// SPDX-License-Identifier: MIT
// Independent counts to verify the tokens: by the probes (`classes`), by the kernel (`kernel_counts`), and by the
// recorder of its own system calls (`witness`).
#pragma once

#include "fields.h"

namespace monitor::recording_file {

// Of an event class, as the probes counted it.
struct ClassCounts {
	unsigned id = 0;
	std::string name, family;
	std::uint64_t seen = 0, discarded = 0, too_deep = 0, filtered = 0, paused = 0;

	std::uint64_t lost() const { return discarded + too_deep; }
	std::uint64_t written() const { return seen - discarded - too_deep - filtered - paused; }

	void fields(auto &v)
	{
		v("id", id, "name", name, "family", family, "seen", seen, "refused", discarded, "too_deep", too_deep,
		  "filtered", filtered);
		v.if_set("paused", paused);
	}
};

// The kernel's own figures at one moment, read between the trace times `before` and `after`.
struct KernelCounts {
	std::uint64_t before = 0, after = 0;
	std::uint64_t context_switches = 0, interrupts = 0;   // of all CPUs and vectors
	std::vector<std::uint64_t> steal_ns;                  // by CPU number
	std::map<std::string, std::uint64_t> interrupt_rows;  // /proc/interrupts, one sum per row
	std::map<std::string, std::string> interrupt_names{}; // written once: Contents::interrupt_names
	std::map<std::string, std::string> disk_names{};      // the same
	std::optional<std::uint64_t> softirqs{}, thread_creations{};
	std::uint64_t idle_before = 0, idle_after = 0; // trace times around the read of idle_ends
	std::optional<std::uint64_t> idle_ends{};      // idle states that ended, all CPUs; none: no cpuidle
	// record --count-only: what the probes had counted before and after the read, by class name.
	std::map<std::string, std::uint64_t> counted_before{}, counted_after{};

	void fields(auto &v)
	{
		v("before", before, "after", after, "context_switches", context_switches, "interrupts", interrupts,
		  "steal_ns", steal_ns, "interrupt_rows", interrupt_rows, "softirqs", softirqs, "births",
		  thread_creations);
		if (v.reads || idle_ends)
			v.group("idle", [&](auto &idle) {
				idle("before", idle_before, "after", idle_after, "ends", idle_ends);
			});
		v.group("counted",
			[&](auto &counted) { counted.if_set("before", counted_before, "after", counted_after); });
	}
};

// System calls that the recorder made on a CPU outside the recording, and what the probes saw:
// recording/calibration/witness.h.
struct CallWitness {
	unsigned cpu = 0;
	std::uint64_t calls = 0;              // made
	std::uint64_t entries = 0, exits = 0; // that the probes saw on that CPU during the calls
	bool alone = false;                   // no other thread ran there during the calls: then all three are equal
	std::uint64_t brackets = 0;           // calls whose tokens were found in the ring. In ticks:
	std::uint64_t width = 0;              // the narrowest bracket: from the read before a call to the one after it
	std::uint64_t outside = 0;            // the furthest that a token is outside its bracket
	std::uint64_t allowed = 0;            // offset of the probes' clock from the TSC there

	void fields(auto &v)
	{
		v("cpu", cpu, "calls", calls, "entries", entries, "exits", exits, "alone", alone, "brackets", brackets,
		  "width", width, "outside", outside, "allowed", allowed);
	}
};

} // namespace monitor::recording_file
