// SPDX-License-Identifier: MIT
// The sample fold: what CPUs answer when all are asked, by process, and how far apart the answers are.
#include <catch2/catch.hpp>

#include "answers/report/samples_table.h"
#include "monitor/card.h"
#include "reading/analyze/samples.h"
#include "samples.h"

namespace test_samples {

using namespace monitor;

namespace {

const std::string switches =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;");
const std::string events =
    switches + samples::event_block(EDC_ID_SAMPLE, "sample", "u16_t doing; s32_t pid; s32_t tgid; u64_t number;");

struct Contradictions : analyze::Observer {
	unsigned count = 0;
	void contradiction(analyze::Contradiction, std::uint64_t, std::uint32_t, const analyze::Thread &) override
	{
		++count;
	}
};

struct History {
	std::vector<samples::StreamWriter> cpus = {{0, 0}, {1, 0}};

	History()
	{
		for (samples::StreamWriter &cpu : cpus)
			cpu.open(0);
	}
	void switches(unsigned cpu, std::uint64_t time, std::uint64_t prev, std::uint64_t next)
	{
		cpus[cpu].post(time, EDC_ID_SCHED_SWITCH, 0, {prev | next << 32});
	}
	void answers(unsigned cpu, std::uint64_t time, unsigned doing, std::uint64_t tid, std::uint64_t number)
	{
		cpus[cpu].post(time, EDC_ID_SAMPLE, doing, {tid | tid << 32, number});
	}
};

struct Sampled {
	explicit Sampled(History &history)
	    : trace(samples::trace(history.cpus, events)), machine(trace, {}), fold(machine)
	{
		machine.add(fold);
		machine.add(contradictions);
		analyze::fold(trace, machine);
		fold.finish();
	}

	trace::Trace trace;
	analyze::Machine machine;
	analyze::SampleFold fold;
	Contradictions contradictions;
};

} // namespace

TEST_CASE("samples: by process, and apart in time")
{
	History history;
	history.switches(0, 10, 0, 7);
	history.answers(0, 100, EDC_DOING_USER, 7, 1);
	history.answers(1, 103, EDC_DOING_IDLE, 0, 1);
	history.answers(1, 200, EDC_DOING_IDLE, 0, 2);
	history.answers(0, 205, EDC_DOING_KERNEL, 7, 2);
	history.answers(0, 300, EDC_DOING_USER, 7, 3); // the other CPU did not answer
	const Sampled sampled(history);
	CHECK(sampled.contradictions.count == 0);
	CHECK(sampled.fold.samples() == 5);
	CHECK(sampled.fold.rounds() == 3);
	CHECK(sampled.fold.complete() == 2);
	CHECK(sampled.fold.largest_spread() == 5);
	CHECK(sampled.fold.spreads().percentile(0.5) == 3);
	const auto processes = sampled.fold.processes();
	REQUIRE(processes.size() == 2);
	CHECK(processes[0].leader->tid == 7);
	CHECK(processes[0].user == 2);
	CHECK(processes[0].kernel == 1);
	CHECK(processes[1].leader->tid == 0);
	CHECK(processes[1].samples() == 2);
	const report::Table table = report::samples_table(sampled.fold);
	CHECK(std::get<double>(table.rows[0][table.column("share%")]) == 60);
	CHECK(report::samples_json(sampled.fold, sampled.trace.description().clock) ==
	      R"({"taken": 3, "complete": 2, "spread_ns": {"median": 3, "p99": 5, "max": 5}})");
}

TEST_CASE("samples: another thread than the switches tell is a contradiction")
{
	History history;
	history.switches(0, 10, 0, 7);
	history.answers(0, 100, EDC_DOING_USER, 8, 1);
	history.answers(1, 101, EDC_DOING_IDLE, 0, 1);
	CHECK(Sampled(history).contradictions.count == 1);
}

TEST_CASE("samples: many that not all answer cost no memory, and are counted")
{
	History history;
	for (unsigned number = 1; number <= 100; ++number)
		history.answers(0, 10 * number, EDC_DOING_IDLE, 0, number);
	history.answers(1, 1002, EDC_DOING_IDLE, 0, 100);
	const Sampled sampled(history);
	CHECK(sampled.fold.rounds() == 100);
	CHECK(sampled.fold.complete() == 1);
}

TEST_CASE("samples: none in a recording without them")
{
	std::vector<samples::StreamWriter> cpus = {{0, 0}};
	cpus[0].open(0);
	const trace::Trace trace = samples::trace(cpus, switches);
	const analyze::Machine machine(trace, {});
	CHECK_THROWS_WITH(analyze::SampleFold(machine), Catch::Contains("--sample-every"));
}

} // namespace test_samples
