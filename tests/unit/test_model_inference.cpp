// SPDX-License-Identifier: MIT
// Models learnt from steps of threads, which are made up here: what belongs together is found, what does not is not.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "reading/model/comparison.h"
#include "reading/model/inference.h"
#include "reading/model/model_text.h"

namespace test_model_inference {

using namespace monitor::model;
using Catch::Matchers::Contains;

// A recording, thread by thread; times in microseconds.
class Program {
public:
	Program()
	{
		recording_.steps.cpus = 2;
		thread("program"); // main()
	}

	std::uint32_t thread(const std::string &name)
	{
		ThreadSteps thread;
		thread.tid = static_cast<std::int32_t>(recording_.steps.threads.size() + 1);
		thread.name = name;
		recording_.steps.threads.push_back(thread);
		return static_cast<std::uint32_t>(recording_.steps.threads.size() - 1);
	}
	void lives(std::uint32_t thread, std::uint64_t from, std::uint64_t to)
	{
		recording_.steps.threads[thread].born = from * 1000;
		recording_.steps.threads[thread].ended = to * 1000;
	}
	void activity(std::uint32_t thread, const std::string &name, std::uint64_t key, std::uint64_t from,
		      std::uint64_t to, std::uint64_t cpu_us)
	{
		mark(thread, Step::Kind::begin, name, key, from);
		run(thread, cpu_us);
		mark(thread, Step::Kind::end, name, key, to);
	}
	void mark(std::uint32_t thread, Step::Kind kind, const std::string &name, std::uint64_t key, std::uint64_t time)
	{
		Step step;
		step.kind = kind;
		step.what = number_of(name);
		step.key = key;
		step.time = time * 1000;
		add(thread, step);
	}
	void run(std::uint32_t thread, std::uint64_t us)
	{
		Step step;
		step.ns = us * 1000;
		add(thread, step);
	}
	// `by`: a thread, or `interrupt`, `unknown`.
	void wait(std::uint32_t thread, std::uint64_t from, std::uint64_t us, std::uint32_t by, bool is_timed = false)
	{
		Step step;
		step.kind = Step::Kind::wait;
		step.what = by;
		step.time = from * 1000;
		step.ns = us * 1000;
		step.is_timed = is_timed;
		step.waking = ++wakings_;
		add(thread, step);
	}
	void wake(std::uint32_t thread, std::uint32_t woken)
	{
		Step step;
		step.kind = Step::Kind::wake;
		step.what = woken;
		step.waking = wakings_;
		add(thread, step);
	}
	Recording recording(const std::string &name = "RUN")
	{
		Recording made = recording_;
		made.steps.directory = name;
		made.found = find_instances(made.steps);
		made.roles = find_roles(made.steps, made.found.instances);
		return made;
	}
	std::string text() { return model_text(infer()); }
	Model infer() { return infer_model({recording()}); }

private:
	std::uint32_t number_of(const std::string &name)
	{
		auto &names = recording_.steps.activities;
		const auto found = std::ranges::find(names, name);
		const auto number = static_cast<std::uint32_t>(found - names.begin());
		if (found == names.end()) {
			names.push_back(name);
			recording_.steps.has_argument.push_back(true);
		}
		return number;
	}
	void add(std::uint32_t thread, const Step &step) { recording_.steps.threads[thread].steps.push_back(step); }

	Recording recording_;
	std::uint32_t wakings_ = 0;
};

// Two workers take turns; the second one is slower, so that items end in another order than they began. The key of the
// first item is `first_key`.
Program pipeline(int items = 100, bool is_in_order = true, std::uint64_t first_key = 0)
{
	Program program;
	const auto reader = program.thread("reader"), one = program.thread("worker"), two = program.thread("worker"),
		   writer = program.thread("writer");
	for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(items); ++i) {
		const std::uint64_t at = 1000 + i * 100;
		program.activity(reader, "check", first_key + i, at, at + 50, 50);
		program.run(reader, 5);
		const auto worker = i % 2 ? two : one;
		program.wait(worker, at - 20, 65, reader);
		program.wake(reader, worker);
		program.activity(worker, "squeeze", first_key + i, at + 60, at + (i % 2 ? 250 : 400), 150 + i % 2);
	}
	for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(items); ++i) {
		const std::uint64_t item = is_in_order ? i : i ^ 1, at = 1500 + i * 100;
		program.wait(writer, at - 40, 35, i % 2 ? two : one);
		program.activity(writer, "store", first_key + item, at, at + 30, 30);
	}
	return program;
}

std::string refusal_of(std::vector<Recording> recordings)
{
	try {
		infer_model(std::move(recordings));
	} catch (const Refused &refusal) {
		return refusal.what();
	}
	return "";
}

TEST_CASE("model inference: a queue, a pool, and an order")
{
	const Model model = pipeline().infer();
	const std::string text = model_text(model);
	CHECK_THAT(text, Contains("role reader 1: loop 100 { cpu check; put worker; cpu }\n") ||
			     Contains("role reader 1: loop 100 { cpu check; put worker }\n"));
	CHECK_THAT(text, Contains("role worker pool 2: { take; cpu squeeze; signal writer }\n"));
	CHECK_THAT(text, Contains("role writer 1 in order: loop 100 { await squeeze; cpu store }\n"));
	CHECK_THAT(text, Contains("because squeeze follows check of the same item: 100 of 100\n"));
	CHECK_THAT(text, !Contains("store follows check"));
	REQUIRE(model.sets.size() == 1);
	const RoleSamples &workers = model.sets[0].roles[1];
	CHECK(workers.items.size() == 100);
	CHECK(workers.items[7] == 7);
	CHECK(workers.threads[7] == 1);
	CHECK(workers.columns[0][7] == 151'000);
	const Model same = parse_model(text, "m");
	CHECK(same.roles == model.roles);
}

TEST_CASE("model inference: keys may be any 64 bits, and yet the samples can be read")
{
	const Model model = pipeline(100, true, ~std::uint64_t(0) - 99).infer();
	CHECK(model.sets == pipeline().infer().sets);
	Model same = parse_model(model_text(model), "m");
	CHECK_NOTHROW(parse_samples(samples_text(model), "s", same));
}

TEST_CASE("model inference: no two roles have one name, and none has no name")
{
	Program program; // `local` is done by a thread of the name that the role of the others gets
	const auto local = program.thread("update"), one = program.thread("p"), two = program.thread("q"),
		   nameless = program.thread("");
	for (std::uint64_t i = 0; i < 60; ++i) {
		program.activity(local, "local", i, 1000 + i * 100, 1010 + i * 100, 10);
		program.activity(i % 2 ? one : two, "update", i, 1030 + i * 100, 1040 + i * 100, 10);
		program.wait(nameless, 1050 + i * 100, 10, local);
	}
	const Model model = program.infer();
	REQUIRE(model.roles.size() == 3);
	CHECK(model.roles[0].name == "update");
	CHECK(model.roles[1].name == "update-2");
	CHECK(model.roles[2].name == "unnamed");
	CHECK(parse_model(model_text(model), "m").roles == model.roles);
}

TEST_CASE("model inference: several recordings are sample sets of one structure")
{
	const Model model = infer_model({pipeline().recording("A"), pipeline(120).recording("B")});
	CHECK(model.sets.size() == 2);
	CHECK(model.sets[1].roles[1].items.size() == 120);
	CHECK(model.roles[0].loop == 0); // as often as recorded: they differ
	CHECK_THAT(model_text(model), Contains("squeeze follows check of the same item: 220 of 220"));
	Program other = pipeline();
	other.activity(other.thread("worker"), "squeeze", 100, 20000, 20100, 100);
	CHECK(refusal_of({pipeline().recording("A"), pipeline(100, false).recording("B")}) ==
	      "B has another structure than other recordings: store is in the order of the items: 49 of 99");
	CHECK_THAT(refusal_of({pipeline().recording("A"), other.recording("B")}),
		   Contains("A and B are not recordings of one program with the same threads: role worker"));
}

TEST_CASE("model inference: what one recording has and another one contradicts is refused")
{
	Program locked, free;
	for (Program *program : {&locked, &free}) {
		const auto one = program->thread("a"), two = program->thread("a");
		for (std::uint64_t i = 0; i < 100; ++i) {
			program->wait(one, i * 100 + 995, 5, two);
			program->activity(one, "update", 1, i * 100 + 1000, i * 100 + 1050, 50);
			program->wait(two, i * 100 + 1010, 40, one);
			const std::uint64_t at = i * 100 + (program == &locked ? 1050 : 1020);
			program->activity(two, "update", 2, at, at + 50, 50);
		}
	}
	CHECK_THAT(locked.text(),
		   Contains("split 2: loop 200 { lock update { cpu update } }") &&
		       Contains("update: one thread at a time: 200 of 200, 100 would overlap by chance"));
	CHECK_THAT(free.text(), !Contains("lock"));
	CHECK_THAT(refusal_of({locked.recording("A"), free.recording("B")}),
		   Contains("B has another structure than other recordings: update: one thread at a time:"));
}

TEST_CASE("model inference: two activities under one lock, and each under its own")
{
	for (const bool is_one : {true, false}) {
		Program program;
		const auto one = program.thread("a"), two = program.thread("a");
		for (std::uint64_t i = 0; i < 100; ++i) {
			const std::uint64_t at = 1000 + i * 100;
			const auto first = i % 2 ? one : two, second = i % 2 ? two : one;
			program.wait(first, at - 5, 5, second);
			program.activity(first, i % 4 < 2 ? "read" : "write", first, at, at + 50, 50);
			program.wait(second, at + 10, 40, first);
			program.activity(second, i % 4 < 2 ? "write" : "read", second, at + (is_one ? 50 : 20),
					 at + (is_one ? 99 : 69), 49);
		}
		const std::string text = program.text();
		CHECK_THAT(text, Contains("lock read {"));
		CHECK((text.find("lock write {") == std::string::npos) == is_one);
		CHECK((text.find("read and write: one thread at a time") != std::string::npos) == is_one);
	}
}

TEST_CASE("model inference: who never waits for another one has no lock")
{
	Program program; // on one CPU no two overlap
	const auto one = program.thread("a"), two = program.thread("a");
	for (std::uint64_t i = 0; i < 100; ++i) {
		program.activity(one, "update", 1, i * 100 + 1000, i * 100 + 1050, 50);
		program.activity(two, "update", 2, i * 100 + 1050, i * 100 + 1100, 50);
	}
	CHECK_THAT(program.text(), !Contains("lock"));
}

TEST_CASE("model inference: a call, its reply, and a sleep")
{
	Program program;
	const auto client = program.thread("client"), server = program.thread("server");
	for (std::uint64_t i = 0; i < 60; ++i) {
		const std::uint64_t at = 1000 + i * 300;
		program.mark(client, Step::Kind::begin, "request", 5, at);
		program.run(client, 10);
		program.wait(server, at - 100, 110, client);
		program.wake(client, server);
		program.run(client, 2);
		program.activity(server, "handle", 5, at + 15, at + 65, 50);
		program.run(server, 4);
		program.wait(client, at + 12, 60, server);
		program.wake(server, client);
		program.run(client, 3);
		program.mark(client, Step::Kind::end, "request", 5, at + 80);
		program.wait(client, at + 90, 100, interrupt, true);
	}
	const std::string text = program.text();
	CHECK_THAT(text,
		   Contains("role client 1: loop 60 { cpu request; call server { cpu request }; cpu request; sleep }"));
	CHECK_THAT(text, Contains("role server pool 1: { take; cpu handle; cpu; reply }"));
	CHECK_THAT(text, Contains("handle is within request of the same item, in another thread: 60 of 60"));
	CHECK_THAT(text, Contains("59 sleeps"));
}

TEST_CASE("model inference: barriers between the steps of several threads")
{
	Program program;
	const auto one = program.thread("strip"), two = program.thread("strip");
	for (std::uint64_t i = 0; i < 50; ++i) {
		const std::uint64_t at = 1000 + i * 200;
		program.activity(one, "relax", i, at, at + 80 + i % 2 * 15, 80);
		program.activity(two, "relax", i, at + 2, at + 90, 90);
		program.wait(i % 2 ? two : one, at + 80, 10, i % 2 ? one : two);
		program.activity(one, "norm", i, at + 100, at + 150, 50);
		program.wait(two, at + 95, 55, one);
	}
	const std::string text = program.text();
	CHECK_THAT(text, Contains("role relax+norm 1: loop 50 { cpu relax; barrier relax; cpu norm; barrier norm }"));
	CHECK_THAT(text, Contains("role relax 1: loop 50 { cpu relax; barrier relax; barrier norm }"));
}

TEST_CASE("model inference: what only some iterations do is a branch")
{
	Program program;
	const auto thread = program.thread("a");
	for (std::uint64_t i = 0; i < 90; ++i) {
		const std::uint64_t at = 1000 + i * 100;
		program.activity(thread, "read", i, at, at + 10, 10);
		if (i % 3 == 0)
			program.activity(thread, "repair", i, at + 10, at + 30, 20);
		program.activity(thread, "write", i, at + 30, at + 40, 10);
	}
	const Model model = program.infer();
	CHECK_THAT(model_text(model), Contains("{ cpu read; branch { cpu repair }; cpu write }"));
	CHECK(model.roles[0].columns == std::vector<std::string>{"cpu read", "branch", "cpu repair", "cpu write"});
	const RoleSamples &samples = model.sets[0].roles[0];
	CHECK(samples.columns[1][3] == 1);
	CHECK(samples.columns[1][4] == 0);
	CHECK(samples.columns[2][3] == 20'000);
	CHECK(samples.columns[2][4] == 0);
}

TEST_CASE("model inference: wake-ups that nothing else explains are semaphores")
{
	Program program;
	const auto one = program.thread("ping"), two = program.thread("pong");
	for (std::uint64_t i = 0; i < 100; ++i) {
		const std::uint64_t at = 1000 + i * 100;
		program.activity(one, "throw", i * 2, at, at + 20, 20);
		program.wait(two, at - 40, 60, one);
		program.wake(one, two);
		program.activity(two, "return", i * 2 + 1, at + 30, at + 50, 20);
		program.wait(one, at + 25, 25, two);
		program.wake(two, one);
	}
	const std::string text = program.text();
	CHECK_THAT(text, Contains("{ cpu throw; branch { wake ping.pong }; branch { wait pong.ping } }"));
	CHECK_THAT(text, Contains("198 kept as wake-ups"));
}

TEST_CASE("model inference: waits that nobody explains are refused")
{
	Program program;
	const auto one = program.thread("a"), other = program.thread("other");
	for (std::uint64_t i = 0; i < 50; ++i) {
		program.activity(one, "work", i, 1000 + i * 100, 1020 + i * 100, 20);
		program.wait(one, 1020 + i * 100, 80, i % 2 ? other : unknown);
	}
	CHECK(refusal_of({program.recording()}) ==
	      "No activity or wake-up says what these threads wait for (100 % of their waits unexplained).");
}

TEST_CASE("model inference: a thread for each task is refused, as many threads at a time are not")
{
	const bool at_a_time = GENERATE(false, true);
	Program program;
	for (std::uint64_t i = 0; i < 30; ++i) {
		const auto task = program.thread("q");
		const std::uint64_t at = 1000 + i * 100;
		program.activity(task, "work", i, at, at + 50, 50);
		program.lives(task, at_a_time ? 900 + i : at - 10, at + 60);
	}
	CHECK(refusal_of({program.recording()}) ==
	      (at_a_time ? ""
			 : "Most threads of role q (29 of 30) were created after another one of them had ended: in a "
			   "model all are there from the start."));
}

TEST_CASE("model inference: functions, which have no argument, follow each other if those that do them wait")
{
	for (const bool waits : {true, false}) {
		Program program;
		const auto one = program.thread("a"), two = program.thread("b");
		for (std::uint64_t i = 0; i < 60; ++i) {
			program.activity(one, "make", 0, 1000 + i * 100, 1050 + i * 100, 50);
			program.wait(two, 1000 + i * 100, 50, waits ? one : interrupt);
			program.activity(two, "use", 0, 1055 + i * 100, 1080 + i * 100, 25);
		}
		Recording recording = program.recording();
		recording.steps.has_argument = {false, false};
		recording.found = find_instances(recording.steps);
		const std::string text = model_text(infer_model({recording}));
		CHECK((text.find("use follows make of the same item: 60 of 60") != std::string::npos) == waits);
	}
}

constexpr const char *example = R"model(# monitor model 1
role reader 1: loop 800 { cpu check; put workers }
role workers pool 2 capacity 8: { take; cpu squeeze; signal writer }
role writer 1 in order: loop 800 { await squeeze; lock table { cpu store } }
role client 2: loop { cpu 3us; cpu request 1us; call server { cpu request 1us } }
role server pool: { take; cpu handle 2us; reply }
role strips 2: loop 9 { cpu relax 1us; barrier one; barrier two }
role main 1: loop 9 { cpu relax 1us; barrier one; cpu norm 1us; barrier two }
)model";

TEST_CASE("model claims: of a model that a person wrote")
{
	std::vector<std::string> texts;
	for (const Relation &relation : claims_of(parse_model(example, "m"))) {
		texts.push_back(relation_text(relation, {}));
		texts.back().resize(texts.back().rfind(':'));
	}
	std::ranges::sort(texts);
	CHECK(texts == std::vector<std::string>{
			   "at most 11 items are between check and squeeze",
			   "handle is within request of the same item, in another thread",
			   "norm begins when all threads have ended relax of the item",
			   "relax of the next item begins when all threads have ended norm",
			   "squeeze follows check of the same item",
			   "store follows squeeze of the same item",
			   "store is in the order of the items",
			   "store: one thread at a time",
		       });
}

TEST_CASE("model claims: of a model with thousands of activities at one barrier are refused")
{
	const auto claims_at_barrier = [](int activities) {
		std::string body;
		for (int i = 0; i < activities; ++i)
			body += "cpu x" + std::to_string(i) + " 1us; barrier b; ";
		return claims_of(parse_model("# monitor model 1\nrole a: loop 9 { " + body + "}\n", "m")).size();
	};
	CHECK(claims_at_barrier(100) == 10'000u);
	CHECK_THROWS_WITH(claims_at_barrier(4000), Contains("claims more than 20000 relations"));
}

TEST_CASE("model comparison: its own recording fulfils a model, another order does not")
{
	const Model model = pipeline().infer();
	const Comparison own = compare(model, pipeline().recording());
	CHECK(own.violations() == 0);
	CHECK(own.claims.size() >= 3);
	CHECK(own.significance_of_each == Approx(0.01 / 3));
	const Comparison other = compare(model, pipeline(100, false).recording());
	CHECK(other.violations() > 0);
	for (const ClaimResult &claim : other.claims)
		CHECK(claim.holds() == (claim.relation.kind != Relation::Kind::in_order));
	Program none;
	none.activity(none.thread("a"), "check", 0, 1, 2, 1);
	CHECK(compare(model, none.recording()).violations() >= 3); // what is never done holds in 0 of 0
}

TEST_CASE("model comparison: what an iteration does twice is compared by its sum")
{
	Program program;
	const auto thread = program.thread("a");
	for (std::uint64_t i = 0; i < 100; ++i) {
		const std::uint64_t at = 1000 + i * 100;
		program.activity(thread, "read", i, at, at + 15, 10 + i % 5);
		program.activity(thread, "write", 2 * i, at + 20, at + 40, 10 + i % 7);
		program.activity(thread, "write", 2 * i + 1, at + 50, at + 70, 20);
	}
	const Comparison own = compare(program.infer(), program.recording());
	CHECK(own.violations() == 0);
	REQUIRE(own.times.size() == 2);
	for (const TimesResult &times : own.times) {
		CHECK(times.in_model == 100);
		CHECK(times.in_recording == 100);
		CHECK(times.distance == 0.0);
	}
}

TEST_CASE("model comparison: what a recording does not do any more differs, without any claim")
{
	Program other;
	const auto thread = other.thread("a");
	for (std::uint64_t i = 0; i < 100; ++i)
		other.activity(thread, "y", i, 1000 + i * 100, 1050 + i * 100, 50);
	const auto compared = [&](int times) {
		Model model = parse_model("# monitor model 1\nrole a: loop { cpu x }", "model");
		std::string samples = "# monitor model samples 1\nrecording 1s\nrole a: cpu x\n";
		for (int i = 0; i < times; ++i)
			samples += "0 " + std::to_string(i) + " 1000\n";
		parse_samples(samples, "samples", model);
		return compare(model, other.recording());
	};
	const Comparison often = compared(60);
	CHECK(often.claims.empty());
	REQUIRE(often.times.size() == 1);
	CHECK(often.times[0].in_recording == 0);
	CHECK(often.times[0].differs);
	CHECK(often.violations() == 1);
	CHECK(compared(59).violations() == 0);
	const Model by_hand = parse_model("# monitor model 1\nrole a: loop 9 { cpu x 1us }", "model");
	CHECK(compare(by_hand, other.recording()).violations() == 0);
}

TEST_CASE("model comparison: the test of Kolmogorov and Smirnov")
{
	CHECK(ks_distance({1, 2, 3, 4}, {3, 4, 5, 6}) == Approx(0.5));
	CHECK(ks_distance({1, 1, 1}, {1, 1}) == 0);
	CHECK(ks_distance({1, 2}, {3}) == 1);
	CHECK(ks_distance({}, {3}) == 0);
	// The critical values of large samples: 1.358 for 0.05, 1.628 for 0.01.
	CHECK(ks_probability(1.358 / std::sqrt(5000.), 10000, 10000) == Approx(0.05).margin(0.001));
	CHECK(ks_probability(1.628 / std::sqrt(5000.), 10000, 10000) == Approx(0.01).margin(0.0005));
	CHECK(ks_probability(0, 10, 10) == 1);
	CHECK(ks_probability(1, 1000, 1000) < 1e-12);
}

} // namespace test_model_inference
