// SPDX-License-Identifier: MIT
// The memory shared by the probes of a card and the recorder: per-CPU areas with rings and counts, the set of recorded
// processes, and the state of --time and --trigger. In maps of the BPF programs, or of the kernel module. One thread
// reads the rings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "bpf_link.h"
#include "module_card.h"
#include "monitor/card.h"
#include "options.h"

struct card;

namespace monitor::card {

class CardMemory {
public:
	// Opens the kernel module if the options ask for it.
	explicit CardMemory(const CardOptions &options);

	const CardOptions &options() const { return options_; }
	unsigned cpus() const { return options_.cpus; }
	unsigned rings() const { return options_.rings(); }
	const std::array<std::uint8_t, 16> &uuid() const { return options_.uuid; }
	bool is_module() const { return module_ != nullptr; }
	// Null: the BPF card has all rings and probes.
	ModuleCard *module() const { return module_.get(); }

	edc_cpu &area(unsigned cpu) const { return *reinterpret_cast<edc_cpu *>(memory(cpu)); }
	std::byte *memory(unsigned cpu) const { return areas().data() + cpu * area_bytes_; }
	std::uint64_t area_bytes() const { return area_bytes_; }
	std::uint64_t ring_bytes() const { return areas().size(); }

	// Readable if a ring became half full since the last ack().
	int wakeup_fd() const;
	void ack();
	// The same for firings of triggers (edc_firings); poll() for these events. With CardOptions::triggers only.
	int firing_wakeup_fd() const;
	short firing_events() const;
	void heard_firings();
	// Takes a trigger's first events older than `before` that were not followed by a second one.
	std::vector<edc_pending_start> take_overdue(unsigned trigger, std::uint64_t before);
	// As in probes. pause_storing(): whether it began a pause; resume_storing(): the start of the pause that it
	// ended, 0: none.
	bool pause_storing(std::uint64_t time) { return edc_pause(&area(0).reader.paused, time); }
	std::uint64_t resume_storing() { return edc_resume(&area(0).reader.paused); }
	std::uint64_t unsampled() const; // samples that probes could not take

	// Select a process, whose children are recorded, too; or deselect it.
	void trace_process(int pid, bool is_traced = true);
	bool is_traced(int pid) const; // with options().traces(), not of the module

	// Nothing is recorded while probes are stopped.
	void stop_probes(bool stopped) const;
	void stop_probes_of(unsigned cpu, bool stopped) const;
	// Waits until all probes that began before they were stopped or detached have ended.
	void wait_for_probes() const;

protected:
	// Maps the BPF card's memory after loading. Throws Error.
	void map(const ::card &skeleton);
	// Clears all tokens, counts and traced processes.
	void empty();
	// Marks a gap by one discarded token after `since` in each stream that has a block. Returns the number of
	// streams. Only while no probe runs.
	unsigned mark_gaps(std::uint64_t since) const;

private:
	const Mapping &areas() const { return module_ ? module_->areas() : areas_; }

	CardOptions options_;
	std::unique_ptr<ModuleCard> module_;
	std::uint64_t area_bytes_ = 0;
	Mapping areas_;
	RingBuffer wakeup_; // of the rings in areas_
	RingBuffer firing_wakeup_;
	Mapping traced_;         // one bit per process, if options_.traces()
	Mapping pending_;        // an edc_pending_starts for each of options_.times
	Mapping trigger_states_; // an edc_trigger_state for each of options_.triggers
};

} // namespace monitor::card
