// SPDX-License-Identifier: MIT
// The replay of models: cases computed by hand, and random ones against closed forms.
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "reading/model/model_text.h"
#include "reading/simulation/iterations.h"
#include "reading/simulation/replay.h"
#include "reading/simulation/series_parallel.h"

namespace test_replay {

using namespace monitor::simulation;
using Catch::Matchers::Contains;
using monitor::model::Model;

namespace {

Model parse(const std::string &text)
{
	return monitor::model::parse_model("# monitor model 1\n" + text, "model");
}

Replayed run(const std::string &text, const Change &change = {}, const ReplaySettings &settings = {})
{
	return replay(parse(text), nullptr, change, settings);
}

// In us
double elapsed(const std::string &text, const Change &change = {}, const ReplaySettings &settings = {})
{
	return static_cast<double>(run(text, change, settings).elapsed) / 1000;
}

Change faster(const std::string &activity, double times)
{
	Change change;
	change.faster[activity] = times;
	return change;
}

Change threads(const std::string &role, std::uint32_t number)
{
	Change change;
	change.threads[role] = number;
	return change;
}

Change cpus(std::uint32_t number)
{
	Change change;
	change.cpus = number;
	return change;
}

std::string refusal(const std::string &text)
{
	try {
		run(text);
	} catch (const monitor::Error &error) {
		return error.what();
	}
	return "";
}

} // namespace

TEST_CASE("replay: threads, CPUs, and what is before and after")
{
	const std::string two = "cpus 2; fixed 5us\nrole a 2: loop 3 { cpu x 100us }";
	CHECK(elapsed(two) == 305);
	CHECK(elapsed(two, cpus(1)) == 605);
	CHECK(elapsed(two, faster("x", 2)) == 155);
	CHECK(elapsed(two, faster("y", 2)) == 305);
	CHECK(elapsed(two, threads("a", 4)) == 605);
	CHECK(run(two, cpus(1)).limit.name == "CPUs");
	CHECK(run(two, cpus(4)).limit.name == "x");
	// What changes nothing of the most of the time does not limit it.
	const Load fixed = run("cpus 4; fixed 600us\nrole a 2: loop 4 { cpu x 100us }").limit;
	CHECK(fixed.name == "fixed");
	CHECK(fixed.share == 0.6);
	CHECK(elapsed("cpus 2\nrole a split 2: loop 5 { cpu x 100us }") == 300);
	CHECK(elapsed("cpus 2\nrole a: loop 2 { cpu x 100us; sleep 50us; cpu 10us }") == 320);
}

TEST_CASE("replay: one thread at a time has a lock")
{
	// 0-100 both local, 100-200 one has the lock, 200-300 the other, who comes back at 400, when the first one
	// leaves
	const std::string locks = "cpus 2\nrole a split 2: loop 4 { cpu local 100us; lock l { cpu update 100us } }";
	CHECK(elapsed(locks) == 500);
	CHECK(elapsed(locks, threads("a", 1)) == 800);
	CHECK(elapsed(locks, faster("update", 2)) == 350);
	const Load limit =
	    run("cpus 4\nrole a split 4: loop 400 { cpu local 100us; lock l { cpu update 100us } }").limit;
	CHECK(limit.name == "lock l");
	CHECK(limit.share > 0.99);
}

TEST_CASE("replay: a queue, its capacity, and an order")
{
	const std::string pipe = "cpus 4\nrole reader: loop 4 { cpu check 10us; put workers }\n"
				 "role workers pool 2 capacity 1: { take; cpu squeeze 40us; signal writer }\n"
				 "role writer in order: loop 4 { await squeeze; cpu store 5us }\n";
	// squeeze 10-50, 20-60, 50-90, 60-100; store 50-55, 60-65, 90-95, 100-105
	CHECK(elapsed(pipe) == 105);
	CHECK(elapsed(pipe, threads("workers", 1)) == 10 + 4 * 40 + 5);
	CHECK(elapsed(pipe, faster("squeeze", 8)) == 40 + 5 + 5);
	CHECK(run(pipe, threads("workers", 1)).limit.name == "squeeze");
	// One worker, no capacity: the reader does not wait; a capacity of one: its last item is put at 90
	const std::string ends = "cpus 4\nrole reader: loop 4 { cpu 10us; put w }\n";
	CHECK(elapsed(ends + "role w pool 1: { take; cpu x 40us }\nrole t: { sleep 1us }") == 170);
}

TEST_CASE("replay: calls, semaphores, branches")
{
	// Two clients of one server: it is never idle after the first request.
	const std::string served = "cpus 3\nrole server pool 1: { take; cpu handle 30us; reply }\n"
				   "role client 2: loop 2 { cpu prepare 10us; call server { cpu 1us } }\n";
	CHECK(elapsed(served) == 10 + 4 * 30);
	CHECK(elapsed(served, threads("client", 1)) == 2 * 40);
	// A call waits for a full queue, as put does: of three at 0 one is taken, one waits in the queue, the third
	// one has the queue at 30 and only then begins what it does until the reply.
	CHECK(elapsed("cpus 4\nrole server pool 1 capacity 1: { take; cpu handle 30us; reply }\n"
		      "role client 3: { call server { cpu 100us } }\n") == 130);
	// Any thread of a fork may reply. 0-10 the first request, 10-30 the server's end of it, 30-40 and 40-60 the
	// second one.
	CHECK(elapsed("cpus 4\nrole server pool 1: { take; fork { cpu 5us | cpu 10us; reply }; cpu 20us }\n"
		      "role client: loop 2 { call server { cpu 1us } }\n") == 60);
	CHECK(elapsed("cpus 2\nrole a: loop 3 { cpu 10us; wake s }\nrole b: loop 3 { wait s; cpu 20us }") == 70);
	CHECK(elapsed("cpus 4\nrole a 2: loop 3 { cpu 10us; wake own s }\nrole b 2: loop 3 { wait own s; cpu 20us }") ==
	      70);
	CHECK(elapsed("role a: loop 3 { branch 1 { cpu 5us } else { cpu 9us }; branch 0 { cpu 100us } }") == 15);
	const double sometimes = elapsed("role a: loop 10000 { branch 0.25 { cpu 4us } }");
	CHECK(std::abs(sometimes - 10000) < 700);
}

TEST_CASE("replay: threads that meet at a barrier share the work of an iteration")
{
	const std::string grid = "cpus 4\nrole first: loop 10 { cpu relax 40us; barrier b; cpu norm 5us; barrier b }\n"
				 "role others 1: loop 10 { cpu relax 30us; barrier b; barrier b }\n";
	CHECK(elapsed(grid) == 450);
	CHECK(elapsed(grid, threads("others", 3)) == 250); // 20us each
	CHECK(elapsed(grid, faster("norm", 5)) == 410);
	const Model model = parse(grid);
	CHECK(work_factor(model, threads("others", 3), "relax") == 0.5);
	CHECK(work_factor(model, threads("others", 3), "norm") == 1);
	// who has ended is not waited for
	CHECK(elapsed("cpus 2\nrole a: loop 1 { cpu 10us; barrier b }\nrole b: loop 3 { cpu 10us; barrier b }") == 30);
}

TEST_CASE("replay: forks within forks")
{
	CHECK(elapsed("cpus 4\nrole a: loop 2 { cpu 1us; fork { cpu 10us | cpu 2us; fork { cpu 5us | cpu 12us } | }; "
		      "cpu 1us }") == 32);
	CHECK(elapsed("cpus 1\nrole a: { fork { cpu 10us | cpu 10us | cpu 10us } }") == 30);
	// What the threads of a did is not b's load.
	const Load limit = run("cpus 4\nrole a: { fork { cpu 1us | cpu p 10us; cpu q 10us }; wake s }\n"
			       "role b: { wait s; fork { cpu 1us | cpu r 10us; cpu t 10us } }")
			       .limit;
	CHECK(limit.name == "a");
	CHECK(limit.share == 0.5);
}

TEST_CASE("replay: wake-ups on idle CPUs take time, and cost the waker")
{
	const std::string ping = "cpus 2; latency 20us; wakecost 3us\nrole a: loop 10 { cpu 10us; wake x; wait y }\n"
				 "role b: loop 10 { wait x; cpu 10us; wake y }\n";
	// at 10 a wakes b, and works until 13; b has a CPU at 30, wakes a at 40, and a has one at 60
	CHECK(elapsed(ping) == 10 * 60);
	CHECK(elapsed(ping, {}, {Policy::fair, Wakes::all_local}) == 200);
	CHECK(elapsed(ping, {}, {Policy::fair, Wakes::all_remote}) == 10 * 60);
	CHECK(elapsed(
		  "cpus 1; latency 20us\nrole a: loop 10 { cpu 10us; wake x }\nrole b: loop 10 { wait x; cpu 10us }") ==
	      200);
}

TEST_CASE("replay: recorded sequences, copies of them, and draws")
{
	const auto recorded = [](const std::string &text, const std::string &samples, const Change &change,
				 bool resamples) {
		Model model = parse(text);
		monitor::model::parse_samples("# monitor model samples 1\nrecording 1s\n" + samples, "samples", model);
		return replay(model, &model.sets.at(0), change, {.resamples = resamples}).elapsed;
	};
	// Items find their rows: 300 for item 7, 100 for item 5.
	const std::string pipe =
	    "cpus 8\nrole reader: loop { cpu check; put workers }\nrole workers pool 1: { take; cpu squeeze }";
	const std::string sequence = "role reader: cpu check\n0 5 10\n0 7 20\n0 6 30\nrole workers: cpu squeeze\n"
				     "0 7 300\n0 5 100\n0 6 200\n";
	CHECK(recorded(pipe, sequence, {}, false) == 10 + 100 + 300 + 200);
	// A reader more runs the same, from another iteration on.
	CHECK(recorded(pipe, sequence, threads("reader", 2), false) == 10 + 2 * (100 + 300 + 200));
	// Twice as many iterations as were recorded
	CHECK(recorded("role a: loop 6 { cpu x }", "role a: cpu x\n0 0 10\n0 1 20\n0 2 30\n", {}, false) == 120);
	const std::string own = "role a: cpu x\n0 0 10\n1 1 1000\n0 2 10\n1 3 1000\n";
	CHECK(recorded("cpus 2\nrole a 2: loop { cpu x }", own, {}, false) == 2000);
	CHECK(recorded("cpus 2\nrole a split 2: loop { cpu x }", own, {}, false) == 2000);
	CHECK(recorded("cpus 2\nrole a split 2: loop { cpu x }", own, threads("a", 1), false) == 2020);
	CHECK(recorded("cpus 2\nrole a 2: loop { cpu x }", own, threads("a", 1), false) == 20);
	std::string flip = "role a: cpu x\n";
	for (int i = 0; i < 1000; ++i)
		flip += "0 " + std::to_string(i) + (i < 500 ? " 1000\n" : " 3000\n");
	const auto drawn = static_cast<double>(recorded("role a: loop { cpu x }", flip, {}, true));
	CHECK(std::abs(drawn - 2e6) < 4 * std::sqrt(1000) * 1000);
	CHECK(drawn != 2e6);
}

TEST_CASE("replay: which rows the threads run")
{
	const auto rows = [](const std::string &text, const std::string &samples, std::uint32_t threads) {
		Model model = parse(text);
		monitor::model::parse_samples("# monitor model samples 1\nrecording 1s\n" + samples, "samples", model);
		const Iterations iterations(model.roles[0], &model.sets[0].roles[0], threads, 100);
		std::string all;
		for (std::uint32_t thread = 0; thread < threads; ++thread) {
			for (std::uint64_t i = 0; i < iterations.count(thread); ++i)
				all += std::to_string(iterations.at(thread, i).row) + ':' +
				       std::to_string(iterations.at(thread, i).item) + ' ';
			all += "| ";
		}
		return all;
	};
	const std::string own = "role a: cpu x\n0 1 10\n0 2 10\n0 3 10\n1 4 10\n1 5 10\n";
	CHECK(rows("role a 2: loop { cpu x }", own, 3) == "0:1 1:2 2:3 | 3:4 4:5 | 1:2 2:3 0:1 | ");
	CHECK(rows("role a 2: loop 4 { cpu x }", own, 1) == "0:1 1:2 2:3 0:101 | ");
	CHECK(rows("role a split 2: loop { cpu x }", own, 3) == "0:1 3:4 | 1:2 4:5 | 2:3 | ");
	// Fewer rows than threads
	CHECK(rows("role a split 2: loop 14 { cpu x }", own, 7) ==
	      "0:1 0:101 | 1:2 1:102 | 2:3 2:103 | 3:4 3:104 | 4:5 4:105 | 0:1 1:2 | 0:1 1:2 | ");
}

TEST_CASE("replay: an activity within a lock is longer after another thread had it, or not")
{
	Model model = parse("cpus 2\nrole a split 2: loop { cpu local; lock l { cpu update } }");
	monitor::model::parse_samples("# monitor model samples 1\nrecording 1s\nrole a: cpu local, cpu update\n"
				      "0 0 10 100\n1 1 400 500\n0 2 10 100\n",
				      "samples", model);
	const Replayed replayed = replay(model, &model.sets.at(0), {}, {});
	REQUIRE(replayed.locked.size() == 1);
	CHECK(replayed.locked[0].name == "update");
	CHECK(replayed.locked[0].after_itself == std::vector<double>{100, 100});
	CHECK(replayed.locked[0].after_others == std::vector<double>{500});
}

TEST_CASE("replay: what waits for ever is refused")
{
	CHECK_THAT(refusal("role a: loop 2 { cpu 1us; wait s }"),
		   Contains("thread 1 of role a waits for ever in its iteration 1 (at `wait`)"));
	CHECK_THAT(refusal("cpus 2\nrole a: { lock l { cpu 1us; lock m { cpu 1us } } }\n"
			   "role b: { lock m { cpu 1us; lock l { cpu 1us } } }"),
		   Contains("thread 1 of role a waits for ever in its iteration 1 (at `lock`)"));
	CHECK_THAT(refusal("cpus 2\nrole a: loop 3 { put p }\nrole p pool 1: { take; wait s; cpu 1s }"),
		   Contains("3 of 3 items of role p are never done"));
	CHECK_THAT(refusal("cpus 2\nrole a: loop 1 { put p }\nrole p pool 2: { take; wait s; cpu 1s }"),
		   Contains("1 of 1 items of role p are never done"));
	// Both put the items 0 to 4, and after the first 4 comes no 5.
	CHECK_THAT(refusal("cpus 3\nrole a: loop 5 { put p }\nrole b: loop 5 { put p }\n"
			   "role p pool 1 in order: { take; cpu 1us }"),
		   Contains("5 of 10 items of role p are never done"));
	ReplaySettings few;
	few.max_operations = 1000;
	CHECK_THROWS_WITH(run("role a: loop 1000000000 { cpu 0ns }", {}, few),
			  Contains("has more than 1000 operations"));
}

TEST_CASE("replay: times too long to count are refused")
{
	const std::string refused = "compute and sleep for more than 90 years";
	CHECK_THAT(refusal("role a: loop 10 { cpu 10000d }"), Contains(refused));
	CHECK_THAT(refusal("role a: loop 10 { sleep 10000d }"), Contains(refused));
	CHECK_THAT(refusal("cpus 9\nrole a 9: { cpu 10000d }"), Contains(refused));
	CHECK_THAT(refusal("cpus 8; wakecost 10000d\nrole a 6: { barrier b }"), Contains(refused));
	CHECK_THAT(
	    refusal("cpus 2; latency 10000d\nrole a: loop 9 { wake x; wait y }\nrole b: loop 9 { wait x; wake y }"),
	    Contains(refused));
	CHECK_THROWS_WITH(run("role a: { cpu x 1d }", faster("x", 1e-6)), Contains(refused));
	CHECK(elapsed("role a: loop 3 { cpu 10000d }") == 3 * 10000 * 86400e6);
	Model model = parse("role a: loop { cpu x; sleep }");
	monitor::model::parse_samples("# monitor model samples 1\nrecording 1s\nrole a: cpu x, sleep\n"
				      "0 0 1000 18446744073709551615\n",
				      "samples", model);
	CHECK_THROWS_WITH(replay(model, &model.sets.at(0), {}, {}), Contains(refused));
}

TEST_CASE("replay: what takes minutes to replay is refused")
{
	const std::string refused = "takes minutes to replay";
	ReplaySettings few;
	few.max_operations = 10000;
	// 2 threads on a CPU have time slices of 4 ms: more than 10000 in a minute
	CHECK_THROWS_WITH(run("role a 2: { cpu 1m }", {}, few), Contains(refused));
	CHECK(elapsed("cpus 2\nrole a 2: { cpu 1m }", {}, few) == 60e6);
	CHECK(elapsed("role a 2: { cpu 1s }", {}, few) == 2e6);
	// Each event looks through all CPUs
	const std::string loop = "role a: loop 100 { cpu 1us }";
	CHECK(elapsed(loop, {}, few) == 100);
	CHECK_THROWS_WITH(run("cpus 65536\n" + loop, {}, few), Contains(refused));
	// So does each through the queue of a CPU
	CHECK_THROWS_WITH(run("role a 700: { cpu 1us }", {}, few), Contains(refused));
	CHECK(elapsed("role a 100: { cpu 1us }", {}, few) == 100);
	// An order: the odd items come late, and each is searched for behind thousands of even ones
	std::string samples = "# monitor model samples 1\nrecording 1s\nrole r: sleep\n";
	for (int i = 0; i < 10000; ++i)
		samples += "0 " + std::to_string(2 * i) + " 0\n1 " + std::to_string(2 * i + 1) +
			   (i == 0 ? " 1000000000\n" : " 1000\n");
	Model model = parse("cpus 4\nrole r 2: loop { sleep; put p }\nrole p pool 1 in order: { take; cpu 0ns }");
	monitor::model::parse_samples(samples, "samples", model);
	few.max_operations = 250'000; // 140,000 without the search
	CHECK_THROWS_WITH(replay(model, &model.sets.at(0), {}, few), Contains("has more than 250000 operations"));
}

TEST_CASE("replay: threads that take too much memory are refused")
{
	ReplaySettings small;
	small.max_busy_times = 1000; // 20 threads with 10 activities
	std::string many;
	for (int i = 0; i < 10; ++i)
		many += "cpu x" + std::to_string(i) + " 1us;";
	const std::string refused = "too many threads to replay";
	CHECK(elapsed("role a 20: { " + many + " }", {}, small) == 200);
	CHECK_THROWS_WITH(run("role a 30: { " + many + " }", {}, small), Contains(refused));
	CHECK_THROWS_WITH(run("role a 15: { " + many + "}", threads("a", 30), small), Contains(refused));
	CHECK(elapsed("role a 10: { fork { sleep 1us | sleep 1us } }", {}, small) == 1);
	CHECK_THROWS_WITH(run("role a 20: { fork { sleep 1us | sleep 1us } }", {}, small), Contains(refused));
}

TEST_CASE("replay: the longest of exponential times is as long as the harmonic number says")
{
	// of n with the mean m: m (1 + 1/2 + ... + 1/n), with the variance m^2 (1 + 1/4 + ... + 1/n^2)
	std::string fork;
	double mean = 0, variance = 0;
	constexpr int loop = 5000;
	for (int n = 1; n <= 5; ++n) {
		fork += (n > 1 ? " | " : "") + std::string("cpu x of e");
		mean += 100.0 / n;
		variance += 1e4 / n / n;
		const std::string text =
		    "cpus 8\ndistribution e exponential 100us\nrole a: loop 5000 { fork { " + fork + " } }";
		const double sampled = elapsed(text);
		CHECK(std::abs(sampled - loop * mean) < 4 * std::sqrt(variance * loop));
		const GridDistribution exact = elapsed_distribution(parse(text), {});
		CHECK(exact.mean() / 1000 == Approx(loop * mean).epsilon(1e-4));
		CHECK(exact.deviation() / 1000 == Approx(std::sqrt(variance * loop)).epsilon(1e-2));
	}
}

} // namespace test_replay
