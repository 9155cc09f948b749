// SPDX-License-Identifier: MIT
// The BPF card: loads the probes, decides how each is attached, and gives the recording its rings and counts. With the
// kernel module rings and most probes are the module's; what it does not probe is BPF's and posts through its kfuncs.
// Called by userspace/record/recording.cpp; next in the flow: record/drain.cpp takes the blocks.
// One thread loads and attaches; afterwards the areas are read by the drain thread alone.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "module_card.h"
#include "monitor/card.h"
#include "reset_events.h"

struct card;
struct bpf_link;
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
	unsigned cpus = 1;                 // possible CPUs
	std::uint64_t blocks_per_cpu = 0;
	std::array<std::uint8_t, 16> uuid{};
	std::vector<unsigned> counters_in_set; // record -m
	RatioPairs ratios;
	std::uint64_t sample_every_ns = 0;   // of all CPUs; the kernel module's
	std::uint64_t counters_every_ns = 0; // read them at an interrupt too if no switch came for so long
	std::vector<ResetEvent> resets;

	// Of each CPU: levels, and with resets lanes.
	unsigned rings() const { return resets.empty() ? EDC_CARD_LEVELS : EDC_CARD_RINGS; }
};

// How often the kernel refused to run a program because it was already running on that CPU.
struct ProgramMisses {
	std::string program;
	std::uint64_t misses = 0;
};

// The kernel's own count of a software event, all CPUs.
struct FaultCount {
	std::string event;
	std::uint64_t count = 0;
};

class BpfCard {
public:
	// Loads the programs; throws Error with the remedy when the kernel does not take them.
	explicit BpfCard(const CardOptions &options);
	~BpfCard();

	// Attach the probes of the chosen families, or those named: and no others (what was attached is taken off, but
	// a probe that is in progress there may still post), or besides. `classic`: the classes that may be preempted
	// attach as classic tracepoints.
	void attach(bool classic);
	void attach_only(bool classic, const std::vector<std::string> &names);
	void attach_more(bool classic, const std::vector<std::string> &names);

	// To calibrate, of what --reset-on asks for: at a place in a program's file, or where system calls
	// enter.
	bool attach_trial_reset(const std::string &program, std::uint64_t offset);

	// Detach all, wait until no probe runs any more. None posts before reset().
	void detach();

	// Counter `index` of a set on one CPU, opened by the caller. Before anything is attached.
	void set_counter(unsigned set, unsigned index, unsigned cpu, int fd);

	// Forget all tokens and counts. Only while nothing is attached.
	void reset();

	unsigned cpus() const { return options_.cpus; }
	const std::vector<ResetEvent> &resets() const { return options_.resets; }
	unsigned rings() const { return options_.rings(); }
	bool is_module() const { return module_ != nullptr; }
	const std::array<std::uint8_t, 16> &uuid() const { return options_.uuid; }
	edc_cpu &area(unsigned cpu) const;
	std::byte *memory(unsigned cpu) const { return areas().data() + cpu * area_bytes_; }
	std::uint64_t ring_bytes() const { return areas().size(); }
	edc_clock &clock() const;

	// Readable when a ring came to be half full since the last heard().
	int bell() const;
	void heard();

	std::vector<ProgramMisses> misses() const;
	// Since the last attach; final after detach().
	std::vector<FaultCount> fault_counts() const;

	// The file descriptors of one pass over all threads each are opened while there is the privilege to.
	void prepare_task_passes(unsigned passes);
	// Reads one prepared pass.
	std::vector<edc_task> list_tasks();

	// Select processes with all descendants (-p), or one whose children follow; or leave one out again.
	void select(const std::vector<int> &pids);
	void trace_process(int pid, bool is_traced = true);

	// Names of attached programs, and of asked-for classes that this kernel lacks.
	const std::vector<std::string> &attached() const { return attached_; }
	const std::vector<std::string> &lacking() const { return lacking_; }

private:
	struct LinkDeleter {
		void operator()(bpf_link *link) const;
	};
	using Link = std::unique_ptr<bpf_link, LinkDeleter>;
	struct BellDeleter {
		void operator()(ring_buffer *bell) const;
	};
	// Opened when first attached, and kept: the privilege to is given up when the recording starts.
	struct FaultEvent {
		std::string name;
		Fd fd;
	};

	const Mapping &areas() const { return module_ ? module_->areas() : areas_; }
	void configure();
	void configure_counters();
	void map_rings();
	void open_bell();
	bool is_of_module(const std::string &event) const;
	void wait_for_probes() const;
	void attach_counters_of(const std::string &name);
	bool try_attach(bpf_program *program);
	void attach_program(bpf_program *program);
	void attach_reset(std::size_t number);
	void open_fault_events(const std::string &name);
	void attach_fault_event(bpf_program *program, const std::string &name);
	bool wanted(const std::string &program) const;

	CardOptions options_;
	std::unique_ptr<ModuleCard> module_;
	::card *skeleton_ = nullptr;
	std::uint64_t area_bytes_ = 0;
	Mapping areas_;
	std::unique_ptr<ring_buffer, BellDeleter> bell_; // of our own rings
	Mapping traced_;                                 // a bit for each process, if options_.filtering
	std::vector<Link> links_;
	std::vector<FaultEvent> fault_events_;
	std::vector<FaultCount> final_fault_counts_;
	std::vector<Link> iterator_links_;
	std::vector<Fd> task_passes_;
	std::vector<std::string> attached_;
	std::vector<std::string> lacking_;
};

} // namespace monitor::card
