// SPDX-License-Identifier: MIT
// The fold of counters: what was counted between two readings of a CPU's set belongs to the thread that ran there in
// that time. Fed by ThreadFold as an Observer; read by answers/report/measurements_table.cpp and check.cpp.
//
// The tokens hold running values, so nothing is missed: after a loss of tokens the sum across it is `unknown`, and a
// CPU's total is still what the recorder read at the start and the end.
// Invariant: threads + idle + unknown = end - start, for every counter.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "counters_info.h"
#include "scope.h"
#include "thread_fold.h"

namespace monitor::analyze {

// Sums of the counts decoded from normalised ratios (monitor/ratio.h) of one pair.
struct RatioSums {
	std::uint64_t numerator = 0, denominator = 0;
	std::uint64_t below = 0,
		      over = 0; // codes whose numerator is rounded to 0, and codes above 1

	RatioSums &operator+=(const RatioSums &other);
};

struct CounterSums {
	std::vector<std::uint64_t> counts; // by counter, as counted: not scaled
	// By set: the time covered, how long the set was enabled, and how long it was multiplexed out.
	std::vector<std::uint64_t> ticks, enabled_ns, missed_ns;
	std::uint64_t occurrences = 0; // times on a CPU
	std::vector<RatioSums> ratios; // by ratio, if ratios were recorded
	std::uint64_t ratio_ticks = 0;

	CounterSums &operator+=(const CounterSums &other);
	CounterSums &operator-=(const CounterSums &other); // of an earlier state of the same sums
};

// What was counted in one part of the time (a time partition).
struct CounterPart {
	// By thread, and by the cgroup that it was in when the reading was made; 0: before that was known. A CPU's idle
	// thread has tid 0.
	std::unordered_map<const Thread *, std::map<std::uint64_t, CounterSums>> threads;
	std::map<std::uint32_t, CounterSums> cpus; // all that ran there, including idle and unknown
	CounterSums unknown;

	// Sum over all cgroups.
	CounterSums of(const Thread &thread) const;
};

class CounterFold : public Observer {
public:
	// `every_ticks`: the length of a part; 0: one part for all the time. A reading belongs to the part in which it
	// was made, and to none if that moment is outside the scope.
	CounterFold(const trace::Description &description, const CountersInfo &info, std::uint64_t begin = 0,
		    std::uint64_t every_ticks = 0, Scope scope = {});

	void counters(const Cpu &cpu, const trace::Event &event) override;
	// Called with ThreadFold::begin_window(), if there is one part: drops the counts of the window that has ended.
	void begin_window();
	// After ThreadFold::finish(): adds the counts from the last tokens to the readings at the end.
	void finish(const ThreadFold &fold);

	const CountersInfo &info() const { return info_; }
	// By number: part i starts at begin + i * every_ticks. Parts without a reading are missing.
	const std::map<std::uint64_t, CounterPart> &parts() const { return parts_; }
	// All 0, with a count for each counter, set and ratio.
	CounterSums none() const;
	// A thread's or CPU's counts up to the last reading, whatever the scope; only of the current part.
	CounterSums so_far(const Thread &thread) const;
	CounterSums so_far(std::uint32_t cpu) const;
	// Readings whose counts partly belong to earlier parts.
	std::uint64_t reaching_back() const { return reaching_back_; }
	// After finish(): CPUs that came online during the recording, which ended their counters: their later counts
	// are in no sum.
	const std::set<std::uint32_t> &uncounted() const { return uncounted_; }
	// Readings that decrease, or are no valid ratio: no counter can have produced them.
	std::uint64_t contradictions() const { return contradictions_; }

private:
	struct CounterClass { // an event class of readings
		bool known = false;
		unsigned set = 0;
		trace::FieldRef enabled, running;
		std::vector<trace::FieldRef> values;
	};
	struct RatioClass {
		bool known = false;
		std::vector<trace::FieldRef> codes; // by ratio
	};
	struct Reading { // of one set on one CPU
		bool known = false;
		std::uint64_t time = 0, enabled_ns = 0, missed_ns = 0;
		std::uint64_t until = ~0ull; // time of the reading at the end: later tokens do not count
		std::vector<std::uint64_t> values;
	};

	static Reading reading_of(const CounterReading &reading);
	std::uint64_t part_of(std::uint64_t time) const;
	template <class Add> CounterSums up_to_now(Add &&add) const;
	void add_class(const trace::EventClass &cls, unsigned set, bool scaled);
	void add_ratios(const Cpu &cpu, const trace::Event &event);
	CounterSums &sums_of(CounterPart &part, const Cpu &cpu, std::uint64_t since);
	CounterPart &part_at(const Cpu &cpu, std::uint64_t since, std::uint64_t time);
	Reading *last_reading(std::uint64_t cpu, std::uint64_t set);
	void add_reading(const Cpu &cpu, unsigned set, Reading &&now);
	void add_end_reading(const Cpu &cpu, unsigned set);
	void add_difference(CounterSums &sums, unsigned set, const Reading &before, const Reading &now) const;

	CountersInfo info_;
	trace::Clock clock_;
	std::vector<const CounterSums *> running_; // by CPU: to whom the previous reading was attributed
	std::vector<CounterClass> classes_;        // by class index
	RatioClass ratio_class_;
	std::vector<std::uint64_t> ratio_time_;  // by CPU: of the previous token; 0: none
	std::vector<std::vector<Reading>> last_; // by CPU and set
	std::uint64_t begin_, every_ticks_;
	std::map<std::uint64_t, CounterPart> parts_;
	Scope scope_;
	CounterPart outside_; // of the scope
	std::set<std::uint32_t> uncounted_;
	std::uint64_t contradictions_ = 0, reaching_back_ = 0;
};

} // namespace monitor::analyze
