// SPDX-License-Identifier: MIT
// The rules of `monitor explain`, with hand-made evidence: each claims at its threshold and not below it, and never
// what the bound takes away.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/explain/finding.h"
#include "answers/explain/rules.h"
#include "answers/explain/slow_parts.h"
#include "answers/explain/thresholds.h"
#include "base/error.h"

namespace test_explain {

using namespace monitor;
using namespace monitor::explain;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const Thresholds &thresholds()
{
	static const Thresholds loaded = load_thresholds();
	return loaded;
}

// Of a command, with nothing that could be claimed.
Evidence of_command()
{
	Evidence evidence;
	evidence.directory = "trace";
	evidence.subject = "make";
	evidence.elapsed_ns = 2'000'000'000;
	evidence.cpus = 2;
	evidence.lost = 0;
	evidence.cost = "at least 1 ms = 0.05 % of one CPU (loops)";
	evidence.path.emplace();
	return evidence;
}

Evidence of_machine()
{
	Evidence evidence = of_command();
	evidence.path.reset();
	return evidence;
}

Evidence with_part(What what, double share, const std::string &detail = "fsync")
{
	Evidence evidence = of_command();
	evidence.path->parts = {{what, "cc1", detail, share}};
	return evidence;
}

std::vector<std::string> keys(const Evidence &evidence)
{
	std::vector<std::string> keys;
	for (const Finding &finding : judge(evidence, thresholds()).findings)
		keys.push_back(finding.key);
	return keys;
}

// What is said of how far the others can be trusted.
std::vector<std::string> caveats(const Evidence &evidence)
{
	std::vector<std::string> keys;
	for (const Finding &finding : judge(evidence, thresholds()).findings)
		if (finding.is_caveat)
			keys.push_back(finding.key);
	return keys;
}

bool claims(const Evidence &evidence, const std::string &key)
{
	return std::ranges::count(keys(evidence), key) > 0;
}

PathThread thread(const std::string &label, double ran, double share)
{
	return {label, "make", 1, label, ran, share};
}

Use use(const std::string &label, double cpus, double call_edges)
{
	Use use;
	use.label = label;
	use.cpus = cpus;
	use.calls_per_second = 1e6;
	use.call_edges = call_edges;
	return use;
}

constexpr double little = 1e-6;

// The share at which a rule begins to claim, with and without a bound.
void check_share(const std::string &key, double threshold, const std::function<Evidence(double)> &with)
{
	INFO(key);
	CHECK(claims(with(threshold + little), key));
	CHECK(!claims(with(threshold - little), key));
	Evidence unknown = with(threshold + 0.03);
	unknown.unknown = 0.04;
	CHECK(!claims(unknown, key));
	unknown.unknown = 0.02;
	CHECK(claims(unknown, key));
}

} // namespace

TEST_CASE("explain: a part of the path is claimed from a tenth on")
{
	const std::pair<What, const char *> parts[] = {{What::user, "user"},
						       {What::call, "call"},
						       {What::kernel, "call"},
						       {What::fault, "fault"},
						       {What::irq, "irq"},
						       {What::softirq, "softirq"},
						       {What::timer, "timer"},
						       {What::disk, "disk"},
						       {What::network, "network"},
						       {What::interrupt, "irq"},
						       {What::open, "call"},
						       {What::stopped, "call"},
						       {What::other_process, "call"},
						       {What::file_lock, "call"},
						       {What::throttled, "throttled"},
						       {What::ready_others, "waiting_others"},
						       {What::ready_own, "ready_unexplained"},
						       {What::ready_idle_long, "ready_unexplained"},
						       {What::ready_idle, "wakeup_latency"},
						       {What::memory_reclaim, "memory_reclaim"}};
	for (const auto &[what, key] : parts)
		check_share(key, thresholds().path, [what = what](double share) { return with_part(what, share); });
}

TEST_CASE("explain: what was not recorded is not claimed, and said")
{
	for (const char *key : {"disk", "timer", "network", "throttled", "memory_reclaim"}) {
		const std::map<std::string, What> whats = {{"disk", What::disk},
							   {"timer", What::timer},
							   {"network", What::network},
							   {"throttled", What::throttled},
							   {"memory_reclaim", What::memory_reclaim}};
		Evidence evidence = with_part(whats.at(key), 0.5);
		evidence.not_recorded = {key};
		const Explanation answer = judge(evidence, thresholds());
		INFO(key);
		CHECK(!claims(evidence, key));
		const auto said = std::ranges::find(answer.looked_for, key, &LookedFor::key);
		REQUIRE(said != answer.looked_for.end());
		CHECK(!said->is_recorded);
	}
}

TEST_CASE("explain: behind its own threads it waits for CPUs only if they are more than the CPUs")
{
	Evidence evidence = with_part(What::ready_own, 0.5, "middle");
	evidence.path->oversubscribed = thresholds().oversubscribed + little;
	CHECK(keys(evidence) == std::vector<std::string>{"waiting_own"});
	evidence.path->oversubscribed = thresholds().oversubscribed - little;
	CHECK(keys(evidence) == std::vector<std::string>{"ready_unexplained"});
	for (const Finding &finding : judge(evidence, thresholds()).findings)
		CHECK(finding.text.find("more CPUs would") == std::string::npos);
}

TEST_CASE("explain: one thread is one claim with what its code does")
{
	const auto with = [](double ran) {
		Evidence evidence = of_command();
		evidence.path->others_ran = 0.5;
		PathThread one = thread("cc1-7", ran, ran);
		one.parts = {{What::user, "cc1", "", ran - 0.02}, {What::fault, "cc1", "", 0.02}};
		evidence.path->parts = one.parts;
		evidence.path->threads = {one};
		return evidence;
	};
	check_share("one_thread", thresholds().one_thread, with);
	const Explanation answer = judge(with(0.9), thresholds());
	REQUIRE(answer.findings.size() == 1);
	CHECK(answer.findings[0].confidence == Confidence::medium);
	CHECK(answer.findings[0].text.find("88 % in user code") != std::string::npos);
	Evidence alone = with(0.9);
	alone.path->others_ran = thresholds().one_thread_others - little;
	CHECK(keys(alone) == std::vector<std::string>{"user"});
	Evidence other = with(0.9);
	other.path->parts[0].share += 0.05; // of another thread of this name
	CHECK(keys(other) == std::vector<std::string>{"one_thread"});
}

TEST_CASE("explain: user code names as few functions as have half of the samples, and how sure that is")
{
	Evidence evidence = with_part(What::user, 0.5);
	evidence.path->functions = {{"cc1", 100, {{"malloc", 26}, {"free", 14}, {"hash", 12}, {"walk", 10}}}};
	std::string text = judge(evidence, thresholds()).findings.at(0).text;
	CHECK(text == "50 % of it is user code of cc1. 52 % of 100 samples of it (95 % sure: 42 to 62 %) are in "
		      "malloc, free and 1 more.");
	evidence.path->functions = {{"cc1", 29, {}}};
	text = judge(evidence, thresholds()).findings.at(0).text;
	CHECK(text == "50 % of it is user code of cc1. Its 29 samples are too few to name functions.");
	evidence.has_stacks = true;
	CHECK(judge(evidence, thresholds()).findings.at(0).command.back() == "stacks");
	evidence.path->functions = {{"cc1", 0, {}}};
	const Finding unsampled = judge(evidence, thresholds()).findings.at(0);
	CHECK(unsampled.text == "50 % of it is user code of cc1. No sample of it was taken.");
	CHECK(unsampled.command.back() == "critical-path");
	evidence.path->functions = {{"ld", 100, {{"malloc", 100}}}};
	CHECK(judge(evidence, thresholds()).findings.at(0).text == "50 % of it is user code of cc1.");
}

TEST_CASE("explain: a path that is handed round by futexes")
{
	const auto with = [](double rate, double sleepers, double share, std::size_t threads) {
		Evidence evidence = of_command();
		evidence.path->futex_processes = {1};
		evidence.path->futex_handovers = rate;
		evidence.path->futex_sleepers = sleepers;
		for (std::size_t i = 0; i < threads; ++i)
			evidence.path->threads.push_back(thread("convoy", share, share));
		return evidence;
	};
	const Thresholds &at = thresholds();
	CHECK(claims(with(at.handover_rate, at.handover_sleepers, 0.3, 3), "handover"));
	CHECK(!claims(with(at.handover_rate - 1, at.handover_sleepers, 0.3, 3), "handover"));
	CHECK(!claims(with(at.handover_rate, at.handover_sleepers - 0.1, 0.3, 3), "handover"));
	CHECK(!claims(with(at.handover_rate, at.handover_sleepers, 0.3, 2), "handover"));
	CHECK(!claims(with(at.handover_rate, at.handover_sleepers, at.handover_thread - little, 9), "handover"));
	Evidence other = with(at.handover_rate, at.handover_sleepers, 0.3, 3);
	other.path->futex_processes = {2}; // the figures are of this one
	CHECK(!claims(other, "handover"));
	Evidence one = with(at.handover_rate, at.handover_sleepers, 0.2, 3);
	one.path->threads[0].share = at.handover_most;
	CHECK(!claims(one, "handover"));
	Evidence several = with(100, 1.5, 0.3, 3);
	several.path->futex_processes = {1, 2};
	several.path->threads[2].tgid = 2;
	REQUIRE(claims(several, "handover"));
	CHECK(judge(several, at).findings.at(0).text ==
	      "3 threads of 2 processes (make) take turns, by futex 100 times a second, and 1.5 of them sleep there on "
	      "average: a lock, or work handed round.");
	several.path->threads[2].tgid = 3; // shares no futex with them
	CHECK(!claims(several, "handover"));
}

TEST_CASE("explain: waiting for a lock of a file is one sentence, whoever has it")
{
	check_share("call", thresholds().path, [](double share) {
		Evidence evidence = of_command();
		evidence.path->file_locks = {{"sh in flock for rsync-7", share}};
		return evidence;
	});
	Evidence evidence = with_part(What::file_lock, 0.5, "flock for rsync-7");
	evidence.path->file_locks = {{"cc1 in flock for rsync-7", 0.5}};
	REQUIRE(keys(evidence) == std::vector<std::string>{"call"});
	CHECK(judge(evidence, thresholds()).findings[0].text ==
	      "50 % of it is waiting for a file lock that others had: cc1 in flock for rsync-7 50 %.");
	evidence = with_part(What::other_process, 0.5, "read for server-7");
	evidence.is_command = true;
	evidence.path->parts[0].process = 7;
	const Finding finding = judge(evidence, thresholds()).findings.at(0);
	CHECK(finding.text ==
	      "50 % of it is waiting for a process that is not of the command: cc1 in read for server-7 50 %.");
	CHECK(finding.command == std::vector<std::string>{"monitor", "explain", "trace", "--pid", "7"});
}

TEST_CASE("explain: the commands are about the same thread and time")
{
	using Command = std::vector<std::string>;
	const auto command = [](What what, const std::string &detail = "") {
		Evidence evidence = with_part(what, 0.5, detail);
		evidence.options = {{"--tid", "8"}, {"--pid", "7"}, {"--from", "0.5"}};
		evidence.path->parts[0].process = 9;
		return judge(evidence, thresholds()).findings.at(0).command;
	};
	CHECK(command(What::timer) == Command{"monitor", "report", "trace", "offcpu", "--pid", "7", "--from", "0.5"});
	CHECK(command(What::ready_others) ==
	      Command{"monitor", "report", "trace", "critical-path", "--tid", "8", "--from", "0.5"});
	CHECK(command(What::irq) == Command{"monitor", "report", "trace", "--by", "cpu", "--from", "0.5"});
	CHECK(command(What::other_process) == Command{"monitor", "explain", "trace", "--pid", "9", "--from", "0.5"});
	Evidence measured = of_command();
	measured.measurement = 0.5;
	measured.options = {{"--tid", "8"}, {"--pid", "7"}, {"--from", "0.5"}};
	CHECK(judge(measured, thresholds()).findings.at(0).command == Command{"monitor", "info", "trace"});
}

TEST_CASE("explain: a hundredth of the path is a priority inversion")
{
	const auto with = [](double share) {
		Evidence evidence = of_command();
		evidence.path->inversions = {{"high", "low", "middle", share}};
		return evidence;
	};
	CHECK(claims(with(thresholds().priority_inversion + little), "priority_inversion"));
	CHECK(!claims(with(thresholds().priority_inversion - little), "priority_inversion"));
	Evidence evidence = with(0.3); // of what others had, the rest is by size
	evidence.path->parts = {{What::ready_others, "low", "middle", 0.4}, {What::ready_others, "low", "other", 0.3}};
	const std::vector<Finding> found = judge(evidence, thresholds()).findings;
	REQUIRE(found.size() == 2);
	CHECK(found[0].text == "40 % of it is waiting for a CPU that others had: other 30 %, middle 10 %.");
}

TEST_CASE("explain: a storm of processes needs many creations, and the CPU time")
{
	const auto with = [](double creations, double share, double all = 1000) {
		Evidence evidence = of_command();
		evidence.storm = {creations, share, share / 2, static_cast<std::uint64_t>(all)};
		return evidence;
	};
	const Thresholds &at = thresholds();
	CHECK(claims(with(at.process_storm_creations, at.process_storm_cpu), "process_storm"));
	CHECK(!claims(with(at.process_storm_creations - 1, at.process_storm_cpu), "process_storm"));
	CHECK(claims(with(at.process_storm_creations, at.process_storm_cpu, at.process_storm_least), "process_storm"));
	CHECK(!claims(with(at.process_storm_creations, at.process_storm_cpu, at.process_storm_least - 1),
		      "process_storm"));
	CHECK(!claims(with(at.process_storm_creations, at.process_storm_cpu - little), "process_storm"));
}

TEST_CASE("explain: what enters and leaves calls")
{
	const auto with = [](double cpus, double edges) {
		Evidence evidence = of_command();
		evidence.machine.users = {use("redis-7", cpus, edges)};
		return evidence;
	};
	const Thresholds &at = thresholds();
	CHECK(claims(with(at.call_edges_user, at.call_edges), "call_edges"));
	CHECK(!claims(with(at.call_edges_user - little, at.call_edges), "call_edges"));
	CHECK(!claims(with(at.call_edges_user, at.call_edges - little), "call_edges"));
}

TEST_CASE("explain: interrupts on one CPU, and what the hypervisor took")
{
	const Thresholds &at = thresholds();
	Evidence evidence = of_command();
	evidence.machine.irqs = {at.irq_imbalance, at.irq_imbalance / at.irq_imbalance_ratio};
	CHECK(claims(evidence, "irq_imbalance"));
	evidence.machine.irqs = {at.irq_imbalance, at.irq_imbalance / at.irq_imbalance_ratio + little};
	CHECK(!claims(evidence, "irq_imbalance"));
	evidence.machine.irqs = {at.irq_imbalance - little, 0.0};
	CHECK(!claims(evidence, "irq_imbalance"));
	evidence.machine.irqs = {1.0, std::nullopt};
	CHECK(!claims(evidence, "irq_imbalance"));
	evidence.machine.irqs.clear();
	evidence.machine.steal_resolution = 0.01;
	evidence.machine.steal = at.steal + 0.01 + little;
	CHECK(claims(evidence, "steal"));
	evidence.machine.steal = at.steal + 0.01 - little;
	CHECK(!claims(evidence, "steal"));
}

TEST_CASE("explain: what is uncertain, and what measuring took, come first")
{
	Evidence evidence = with_part(What::user, 0.9);
	evidence.measurement = thresholds().measurement;
	CHECK(keys(evidence) == std::vector<std::string>{"measurement", "user"});
	evidence.measurement = thresholds().measurement - little;
	CHECK(keys(evidence) == std::vector<std::string>{"user"});
	evidence.unknown = thresholds().uncertain;
	CHECK(keys(evidence) == std::vector<std::string>{"uncertain", "user"});
	evidence.unknown = thresholds().uncertain - little;
	CHECK(keys(evidence) == std::vector<std::string>{"user"});
	evidence.lost = 1;
	CHECK(keys(evidence) == std::vector<std::string>{"uncertain", "user"});
	evidence.lost.reset();
	CHECK(keys(evidence) == std::vector<std::string>{"uncertain", "user"});
	CHECK(caveats(evidence) == std::vector<std::string>{"uncertain"});
	evidence.measurement = thresholds().measurement;
	CHECK(keys(evidence) == std::vector<std::string>{"uncertain", "measurement", "user"});
	CHECK(caveats(evidence) == std::vector<std::string>{"uncertain", "measurement"});
	CHECK(caveats(of_command()).empty());
}

TEST_CASE("explain: what was lost is said to be of the whole recording where a part is explained")
{
	Evidence evidence = of_command();
	evidence.lost = 3;
	evidence.is_part = true;
	const Explanation answer = judge(evidence, thresholds());
	CHECK(answer.head.find("; 3 events were lost in the whole recording; ") != std::string::npos);
	REQUIRE(answer.findings.size() == 1);
	CHECK(answer.findings[0].text == "3 events were lost in the whole recording: what follows may be wrong.");
}

TEST_CASE("explain: nothing is said to be usual only where enough is known")
{
	CHECK(keys(of_command()) == std::vector<std::string>{"nothing"});
	CHECK(keys(of_machine()) == std::vector<std::string>{"nothing"});
	Evidence machine = of_machine();
	CHECK(judge(machine, thresholds()).findings[0].text ==
	      "Nothing unusual: the CPUs were idle for 100 % of the time, 0.00 threads waited for one on average.");
	machine.not_recorded = {"waiting_others"};
	CHECK(judge(machine, thresholds()).findings[0].text ==
	      "Nothing unusual: the CPUs were idle for 100 % of the time.");
	for (Evidence evidence : {of_command(), of_machine()}) {
		evidence.lost = 3;
		CHECK(keys(evidence) == std::vector<std::string>{"uncertain"});
		evidence.lost = 0;
		evidence.unknown = thresholds().uncertain;
		CHECK(keys(evidence) == std::vector<std::string>{"uncertain"});
	}
}

TEST_CASE("explain: of a machine, who used half a CPU, and whether threads waited for one")
{
	const Thresholds &at = thresholds();
	check_share("user", at.machine_user, [](double cpus) {
		Evidence evidence = of_machine();
		evidence.machine.users = {use("cc1plus-7", cpus, 0)};
		return evidence;
	});
	check_share("waiting_others", at.machine_saturated, [](double share) {
		Evidence evidence = of_machine();
		evidence.machine.saturated = share;
		return evidence;
	});
	check_share("throttled", at.path, [](double share) {
		Evidence evidence = of_machine();
		evidence.machine.throttled = {{"/system.slice/db.service", share}};
		return evidence;
	});
	CHECK(!claims(of_machine(), "one_thread"));
}

TEST_CASE("explain: what is much in all is not said to be below what matters, and how sure that is")
{
	const auto denied = [](const Evidence &evidence) {
		const std::string text = to_text(judge(evidence, thresholds()), 0);
		return text.substr(text.find("Also looked for"));
	};
	Evidence evidence = of_command();
	for (const char *who : {"cc1", "as", "ld"})
		evidence.path->parts.push_back({What::user, who, "", 0.09});
	CHECK(denied(evidence).starts_with("Also looked for, below what matters: calls, faults,"));
	evidence.path->parts.resize(1);
	CHECK(denied(evidence).starts_with("Also looked for, below what matters: user code, calls,"));
	evidence.lost = 3;
	CHECK(denied(evidence).starts_with("Also looked for, below what matters as far as is known: user code,"));
}

TEST_CASE("explain: what no sentence is about is one line, so that the shares add up")
{
	const auto rest = [](const Evidence &evidence) { return judge(evidence, thresholds()).rest; };
	Evidence evidence = with_part(What::user, 0.86);
	evidence.path->parts.push_back({What::softirq, "cc1", "softirq:NET_RX", 0.09});
	evidence.path->parts.push_back({What::timer, "cc1", "nanosleep", 0.03});
	evidence.path->parts.push_back({What::unknown, "cc1", "?", 0.02});
	CHECK(rest(evidence) == "In no sentence: 14 % of it, of which softirqs 9.0 %, timers 3.0 %, not known 2.0 %.");
	CHECK(to_text(judge(evidence, thresholds()), 0).find("\nIn no sentence: 14 %") != std::string::npos);
	evidence.lost = 3; // then what is not known is said
	CHECK(rest(evidence) == "In no sentence: 12 % of it, of which softirqs 9.0 %, timers 3.0 %.");
	evidence.path->parts[1].share = 0.06;
	CHECK(rest(evidence).empty());
	// A lock's time is that of others, too: at least so much is in no sentence.
	evidence.path->parts[0].share = 0.09;
	evidence.path->parts.push_back({What::user, "as", "", 0.09});
	CHECK(rest(evidence).starts_with("In no sentence: 27 % of it, of which user code 18 %"));
	evidence.path->file_locks = {{"cc1 in flock for rsync-7", 0.13}};
	CHECK(rest(evidence) == "In no sentence: at least 14 % of it.");
	CHECK(rest(of_machine()).empty());
	CHECK(rest(with_part(What::edges, 0.12)) ==
	      "In no sentence: 12 % of it, of which entering and leaving calls and faults 12 %.");
}

TEST_CASE("explain: the largest first, in at most 25 lines, as text and as JSON")
{
	Evidence evidence = of_command();
	for (int i = 0; i < 9; ++i)
		evidence.path->parts.push_back({What::user, "cc" + std::to_string(i), "", 0.10 + 0.001 * i});
	evidence.subject = "\x1b[31mmake\n";
	const Explanation answer = judge(evidence, thresholds());
	CHECK(std::ranges::is_sorted(answer.findings, std::ranges::greater(), &Finding::share));
	for (const std::size_t width : {0, 1, 40, 80, 300}) {
		const std::string text = to_text(answer, width);
		CHECK(std::ranges::count(text, '\n') <= 25);
		CHECK(text.find('\x1b') == std::string::npos);
	}
	const auto json = nlohmann::json::parse(to_json(answer));
	std::vector<std::string> members;
	for (const auto &[name, value] : json["findings"][0].items())
		members.push_back(name);
	CHECK(members ==
	      std::vector<std::string>{"bound", "command", "confidence", "evidence", "key", "share", "text"});
	CHECK(json["findings"][0]["command"] ==
	      std::vector<std::string>{"monitor", "report", "trace", "critical-path"});
	CHECK(json["elapsed_ns"] == 2'000'000'000);
}

TEST_CASE("explain: thresholds are read from a table, which is complete")
{
	CHECK(thresholds().path == Approx(0.1));
	CHECK_THROWS_AS(parse_thresholds("path: 0.1\n", "some"), Error);
	CHECK_THROWS_AS(parse_thresholds("path: much\n", "some"), Error);
	for (const char *const wrong : {"-1", "0", "nan", "inf", "1e400", "0.1x", ""})
		CHECK_THROWS_WITH(
		    parse_thresholds(std::string("path: ") + wrong + "\n", "some"),
		    StartsWith("some, line 1: the threshold path is a number above 0, such as 0.10, not "));
	CHECK_THROWS_WITH(parse_thresholds("path: 0.1\npath: 0.2\n", "some"),
			  "some, line 2: there are two thresholds path: remove one");
	CHECK_THROWS_WITH(parse_thresholds("beauty: 1\n", "some"),
			  Contains("beauty is not a threshold: remove the line"));
}

namespace {

// 0.9 ms of code and so much of sleep.
Profile activity(double sleep_ms, double code_ms = 0.9)
{
	const double all = sleep_ms + code_ms;
	return {static_cast<std::uint64_t>(all * 1e6),
		{{What::user, "postgres", "", code_ms / all}, {What::timer, "walwriter", "fsync", sleep_ms / all}}};
}

} // namespace

TEST_CASE("explain: what slow activities did that ordinary ones did not")
{
	const std::vector<Profile> ordinary = {activity(0.1), activity(0.1, 0.8), activity(0.1, 1)};
	std::vector<Profile> slow(10, activity(9.1));
	const std::vector<SlowPart> found = compare(slow, ordinary, 1'000'000, 0.1);
	REQUIRE(found.size() == 1);
	CHECK(found[0].key == "timer");
	CHECK(found[0].in == 10);
	CHECK(found[0].share == Approx(1).margin(0.01));
	for (std::size_t i = 0; i < 4; ++i)
		slow[i] = activity(0.1, 9.1);
	CHECK(compare(slow, ordinary, 1'000'000, 0.1).size() == 1); // in 6 of 10; the other one is in 4
	slow[4] = activity(0.1, 9.1);
	CHECK(compare(slow, ordinary, 1'000'000, 0.1).empty());
	const SlowActivities made{SlowActivities::Of::calls, "fsync", 40, 10, 1'000'000, 10'000'000, 11'000'000, found};
	const auto json = nlohmann::json::parse(to_json(made));
	CHECK(json["parts"][0]["in"] == 10);
	CHECK(json["median_ns"] == 1'000'000);
	CHECK(to_text(made, "trace").find("The 10 slowest of 40 fsync took 10.00 ms to 11.00 ms, the median 1.00 ms") ==
	      0);
	CHECK_THAT(to_text(made, "trace"), Catch::Contains("\n    0 %  of the difference is in parts that are small"));
	SlowActivities selected = made;
	selected.of = SlowActivities::Of::activities;
	selected.activity = "parse(int)";
	selected.options = {"--pid", "7"};
	CHECK(to_text(selected, "trace")
		  .ends_with("\n      monitor report trace critical-path --activity 'parse(int)' --pid 7\n"));
}

TEST_CASE("explain: where parts of slow activities took less, the shares of the others sum to more, and a line says so")
{
	const std::vector<Profile> ordinary = {activity(0.1), activity(0.1)};
	const std::vector<Profile> slow(10, activity(10, 0.45)); // 9.45 ms more, of which sleep is 9.9 ms
	SlowActivities made{SlowActivities::Of::calls, "fsync", 40, 10, 1'000'000, 10'450'000, 10'450'000, {}};
	made.parts = compare(slow, ordinary, made.median_ns, 0.1);
	REQUIRE(made.parts.size() == 1);
	CHECK(made.parts[0].share == Approx(9.9 / 9.45));
	CHECK_THAT(to_text(made, "trace"),
		   Catch::Contains("\n  105 %  walwriter asleep in fsync until a timer") &&
		       Catch::Contains("\n   -5 %  of the difference: other parts took less\n"));
}

} // namespace test_explain
