// SPDX-License-Identifier: MIT
// The kernel module's card (monitor/device.h): its rings, and its probes of the families sched, irq, syscall,
// fault. They replace the rings and probes of BpfCard; BPF programs that probe the rest post into these
// rings too.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"
#include "monitor/device.h"

namespace monitor::card {

// Why the module cannot be used, as the end of a sentence with the remedy; "" if it can.
std::string why_no_module();

// The process that currently uses the module; 0: none, or no module.
pid_t holder_of_module();

class ModuleCard {
public:
	// `blocks`: blocks by ring, of each CPU. `filtering`: only processes of trace() and their children.
	// `overwriting`: a flight recorder. `counters_in_set`: for tokens that BPF programs post through its kfuncs.
	// Throws Error if the module rejects the request.
	ModuleCard(const std::array<std::uint8_t, 16> &uuid, unsigned cpus,
		   const std::array<std::uint64_t, EDC_CARD_RINGS> &blocks, bool filtering, bool overwriting,
		   const std::vector<unsigned> &counters_in_set);

	// Whether the module probes this class on this kernel.
	bool has(std::string_view name) const;

	// Attaches additional probes. Ignores names that the module does not probe.
	void attach(const std::vector<std::string> &names);
	void detach();
	void trace(int process, bool is_traced);
	// Stops or resumes the probes of this CPU.
	void stop(unsigned cpu, bool stopped) const;
	// Sets the matcher's tables; nullptr: all events are kept. `times`, `triggers`: their numbers in the tables.
	void match(const edc_matcher *tables, unsigned times, unsigned triggers);
	// As in BpfCard.
	std::vector<edc_pending_start> take_overdue(unsigned trigger, std::uint64_t before) const;
	// Readable if a ring was found half full since the last ack().
	int wakeup_fd() const { return device_.get(); }
	void ack() const;
	// Clear all tokens, counts and traced threads. Only while nothing is attached.
	void reset();
	// Every CPU posts a `sample` at this interval, until detach(). The class must be attached.
	void sample_every(std::uint64_t ns);
	// Samples once, now. False: the previous sample is in progress.
	bool sample_once() const;
	// The kernel's own counts since attach().
	edc_device_faults faults() const;

	// The CPUs' areas, contiguous. Each is read-only after its first page.
	const Mapping &areas() const { return areas_; }
	std::uint64_t area_bytes() const { return area_bytes_; }

private:
	void map(unsigned cpus);

	Fd device_;
	edc_device_classes classes_{};
	std::uint64_t area_bytes_ = 0;
	Mapping areas_;
};

} // namespace monitor::card
