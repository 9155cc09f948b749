// SPDX-License-Identifier: MIT
// Kernel events as Perfetto has them from ftrace: bundles per CPU, with switches and wake-ups in its compact form.
// Perfetto makes its own views and tables of them.
// A thread found on a CPU without a switch, at the start and after a loss, is written as a switch that ftrace did not
// have; so Perfetto's times are those of `monitor report`. While the thread is unknown, the CPU runs a thread
// [unknown]. Invariant: at most one bundle per CPU is in memory.
#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_feed.h"
#include "perfetto_packets.h"

namespace monitor::exporting::perfetto {

class Tracks;

class FtraceBundles : public KernelTarget {
public:
	// `flows`: is notified of running threads; may be null.
	FtraceBundles(PacketStream &packets, Tracks *flows) : packets_(packets), flows_(flows) {}

	void thread(std::uint64_t time, const analyze::Thread &thread) override;
	void runs(const EventContext &at, std::uint64_t since) override;
	void unknown(std::uint64_t time, std::uint32_t cpu) override;
	void lost(std::uint32_t cpu, const trace::Gap &gap) override;
	void sched_switch(const EventContext &at, std::int64_t state, const Task &next) override;
	void sched_waking(const EventContext &at, const Task &woken, std::int32_t prio,
			  std::uint32_t target_cpu) override;
	void created(const EventContext &at, const NewThread &thread) override;
	void executed(const EventContext &at, const Task &task, std::int32_t old_tid) override;
	void exited(const EventContext &at, const Task &task, std::int32_t tgid) override;
	void renamed(const EventContext &at, const Task &task, std::string_view old_name) override;
	void softirq(const EventContext &at, bool is_entry, std::uint32_t number) override;
	void irq(const EventContext &at, bool is_entry, const std::string &name, std::uint32_t number) override;
	void sys_enter(const EventContext &at, std::uint32_t call) override;
	void sys_exit(const EventContext &at, std::uint32_t call, std::int64_t result) override;
	bool other(const EventContext &at, const trace::Event &event) override;
	void clocks(std::uint64_t time, std::optional<std::uint64_t> monotonic_ns, std::uint64_t realtime_ns) override;

	// Writes the remaining bundles, and what was lost.
	void finish();

private:
	struct Listed {
		std::int32_t tgid, parent;
	};
	void list(std::uint64_t time, const Task &task, const Listed &listed);
	void list_again(std::uint64_t time, const Task &task);
	void add_generic(const EventContext &at, const char *name,
			 std::initializer_list<std::pair<const char *, std::int64_t>> values);

	// Parallel lists of Perfetto's compact form; times are deltas.
	struct Compact {
		std::vector<std::uint64_t> times;
		std::vector<std::int32_t> tids, prios;
		std::vector<std::uint32_t> names;
		std::uint64_t last_ns = 0;

		void add(std::uint64_t ns, std::int32_t tid, std::int32_t prio, std::uint32_t name)
		{
			times.push_back(ns - std::exchange(last_ns, ns));
			tids.push_back(tid);
			prios.push_back(prio);
			names.push_back(name);
		}
	};
	struct Switches : Compact {
		std::vector<std::int64_t> states;
	};
	struct Wakings : Compact {
		std::vector<std::int32_t> cpus;
		std::vector<std::uint32_t> flags;
	};
	struct Bundle {
		std::string events;
		Switches switches;
		Wakings wakings;
		std::vector<std::string> names;
		std::unordered_map<std::int32_t, std::uint32_t> name_of; // by TID: index in names
		std::size_t count = 0;
		bool has_loss = false; // before it
	};
	struct CpuState {
		Bundle bundle;
		std::int32_t runs = Task::unknown; // what Perfetto assumes
		std::string name;                  // of that thread
		bool is_compact = false;           // the next switch may be compact
		std::uint64_t lost = 0;

		void run(const Task &task, bool next_is_compact)
		{
			runs = task.tid;
			name = task.name;
			is_compact = next_is_compact;
		}
	};

	CpuState &state_of(std::uint32_t cpu);
	template <class Fill> void add(std::uint64_t time, std::uint32_t cpu, const Task &task, Tag tag, Fill &&fill);
	void add_switch(std::uint64_t time, std::uint32_t cpu, const Task &prev, std::int64_t state, const Task &next);
	std::uint32_t name_in(Bundle &bundle, const Task &task);
	void count(std::uint32_t cpu);
	void flush(std::uint32_t cpu);
	void write_stats(unsigned phase);

	PacketStream &packets_;
	Tracks *flows_;
	std::vector<CpuState> cpus_;
	std::unordered_map<std::int32_t, Listed> listed_; // by TID
};

} // namespace monitor::exporting::perfetto
