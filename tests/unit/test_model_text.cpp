// SPDX-License-Identifier: MIT
// Models as text: what is printed reads as the same model, and what is no model is refused in one sentence with a line.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "reading/model/model_text.h"

namespace test_model_text {

using namespace monitor::model;
using Catch::Matchers::Contains;

constexpr const char *pipeline = R"model(# monitor model 1: 5 recordings, 1.313 s
cpus 2 realtime; marks functions; latency 24us 36us 61us; wakecost 7.8us; fixed 12ms
distribution service exponential 120us
distribution pages 4ns 8ns 8ns
distribution "a b" uniform 1us 1.000001s
role reader 1: loop 800 { cpu check; cpu; put workers }
role workers pool 2 capacity 8: { take; cpu squeeze; signal writer }
role writer 1 in order: loop 800 { await squeeze; lock table { cpu store of service; cpu 3us } }
role server pool 1: { take; cpu handle; reply; cpu }
role client 4: { cpu prepare; call server { cpu of pages }; branch { sleep } else { wake own s }; branch 0.25 { wait s } }
role strips split 2: loop { cpu "f(int, char)"; barrier b; fork { cpu "of" 1ms | lock a { lock b {  } } | sleep 0ns } }
because squeeze follows check of the same item: 800 of 800
because # is no comment in here; nor is ; a separator
)model";

std::string refusal_of(const std::string &text)
{
	try {
		parse_model(text, "m");
	} catch (const monitor::Error &error) {
		return error.what();
	}
	return "";
}

std::string refusal_of_body(const std::string &body)
{
	return refusal_of("# monitor model 1\nrole a: { " + body + " }\n");
}

TEST_CASE("model text: printed and read, it is the same")
{
	const Model model = parse_model(pipeline, "m");
	CHECK(model_text(model) == pipeline);
	CHECK(parse_model(model_text(model), "m") == model);
	CHECK(model.about == "5 recordings, 1.313 s");
	REQUIRE(model.roles.size() == 6);
	CHECK(model.latency_ns == std::vector<std::uint64_t>{24000, 36000, 61000});
	CHECK(model.wake_cost_ns == 7800);
	CHECK(model.roles[0].body[2].role == 1);
	CHECK(model.roles[1].mode == Role::Mode::pool);
	CHECK(model.roles[1].capacity == 8);
	CHECK(model.roles[2].in_order);
	CHECK(model.roles[5].loop == 0);
	CHECK(model.roles[4].columns == std::vector<std::string>{"cpu prepare", "branch", "sleep"});
	CHECK(model.roles[5].body[2].blocks.size() == 3);
	CHECK(model.because.size() == 2);
}

TEST_CASE("model text: lines, blanks and comments as a person writes them")
{
	const Model model =
	    parse_model("# monitor model 1\n\n# mine\ncpus 4\nrole a :  loop 3 { # the loop\n\tcpu x 1.5us\n\n\tcpu x\n"
			"\tsleep 2ms; cpu x; }\n",
			"m");
	CHECK(model.roles[0].body.size() == 4);
	CHECK(model.roles[0].columns == std::vector<std::string>{"cpu x 2", "cpu x 3"});
	CHECK(model.roles[0].body[3].column == 1);
	CHECK(is_model("# monitor model 1"));
	CHECK(is_model("# monitor model 1: x\n"));
	CHECK_FALSE(is_model("# monitor model 12"));
	CHECK_FALSE(is_model(""));
}

TEST_CASE("model text: durations are exact")
{
	for (const auto &[ns, text] : std::vector<std::pair<std::uint64_t, std::string>>{{0, "0ns"},
											 {999, "999ns"},
											 {1000, "1us"},
											 {7800, "7.8us"},
											 {1000001, "1.000001ms"},
											 {1313051482, "1.313051482s"},
											 {60000000000, "60s"}}) {
		CHECK(duration_text(ns) == text);
		const Model model = parse_model("# monitor model 1\nfixed " + text + "\nrole a: { cpu }", "m");
		CHECK(model.fixed_ns == ns);
	}
}

TEST_CASE("model text: what is wrong is said with its line")
{
	CHECK(refusal_of("monitor model 1") == "m: it is not a model: the first line of one is `# monitor model 1`");
	CHECK_THAT(refusal_of("# monitor model 1\n"), Contains("m, line 2: the model has no role: add one"));
	CHECK_THAT(refusal_of("# monitor model 1\nrule a: { }"),
		   Contains("m, line 2: rule does not start a statement") && Contains("Did you mean role?"));
	CHECK_THAT(refusal_of("# monitor model 1\n\ncpus 0"),
		   Contains("m, line 3: a number of CPUs is a number from 1"));
	CHECK_THAT(refusal_of("# monitor model 1\nlatency 3"), Contains("3 is not a duration, such as 120us"));
	CHECK_THAT(refusal_of("# monitor model 1\nfixed -3us"), Contains("-3us is not a duration"));
	CHECK_THAT(refusal_of("# monitor model 1\ndistribution d uniform 2us 1us"), Contains("the smaller one first"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole a: { cpu } role b: { cpu }"),
		   Contains("a statement ends before role"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole a: { cpu }\nrole a: { cpu }"),
		   Contains("line 3: there are two roles a"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole \"a\n\": { cpu }"),
		   Contains("line 2: this name has no closing quote"));
	CHECK_THAT(refusal_of_body("cpus x"), Contains("cpus is not an operation") && Contains("Did you mean cpu?"));
	CHECK_THAT(refusal_of_body("cpu x cpu y"), Contains("`;` or a new line is expected between two operations"));
	CHECK_THAT(refusal_of_body("put workers"), Contains("there is no role workers"));
	CHECK_THAT(refusal_of_body("cpu x of d"), Contains("there is no distribution d"));
	CHECK_THAT(refusal_of_body("branch 1.5 { cpu }"), Contains("a probability is from 0 to 1, not 1.5"));
	CHECK_THAT(refusal_of_body("lock l { cpu"),
		   Contains("line 2: `}` is expected before the end of the text") || Contains("is not an operation"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole a: {"), Contains("the end of the text is not an operation"));
}

TEST_CASE("model text: operations that mean nothing together")
{
	CHECK_THAT(refusal_of_body("take; cpu"), Contains("`take` is the first operation of a pool"));
	CHECK_THAT(refusal_of_body("reply"), Contains("only a pool replies"));
	CHECK_THAT(refusal_of_body("put a"), Contains("a is not a pool"));
	CHECK_THAT(refusal_of_body("signal a"), Contains("it signals a, which has no `await`"));
	CHECK_THAT(refusal_of_body("await x"), Contains("no role has `signal a`"));
	CHECK_THAT(refusal_of_body("lock l { lock l { cpu } }"), Contains("it would wait for the lock l that it has"));
	CHECK(refusal_of_body("lock l { cpu }; lock l { cpu }").empty());
	CHECK_THAT(refusal_of("# monitor model 1\nrole a pool 2: { cpu }"),
		   Contains("the first operation of a pool is `take`"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole a pool 2: loop 3 { take }"), Contains("a pool has no `loop`"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole a capacity 3: { cpu }"), Contains("only a pool has a capacity"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole p pool: { take }\nrole a: { call p }"),
		   Contains("line 3: role a: it calls p, which has no `reply`"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole p pool: { take; barrier b }"),
		   Contains("cannot take part in a barrier"));
}

TEST_CASE("model text: sizes are bounded")
{
	std::string deep;
	for (int i = 0; i < 100000; ++i)
		deep += "fork { ";
	CHECK_THAT(refusal_of_body(deep), Contains("blocks within each other are not supported"));
	std::string many;
	for (int i = 0; i < 10001; ++i)
		many += "cpu;";
	CHECK_THAT(refusal_of_body(many), Contains("more than 10000 operations are not supported"));
	CHECK_THAT(refusal_of("# monitor model 1\nrole a 100000: { cpu }\nrole b: { cpu }"),
		   Contains("more than 100000 threads are not supported"));
	CHECK_THAT(refusal_of("# monitor model 1\n" + std::string(max_text_bytes, '\n')), Contains("has at most"));
	for (int c = 0; c < 256; ++c) // whatever follows, it is refused or read, and does not crash
		refusal_of("# monitor model 1\nrole a: { cpu " + std::string(1, static_cast<char>(c)) + " }");
}

Model sampled(const std::string &body = "cpu x; cpu \"f(a, b)\"; branch { sleep }")
{
	return parse_model("# monitor model 1\nrole a 2: loop { " + body + " }\nrole b: { cpu 1us }\n", "m");
}

std::string samples_refusal(const std::string &text)
{
	Model model = sampled();
	try {
		parse_samples(text, "s", model);
	} catch (const monitor::Error &error) {
		return error.what();
	}
	return "";
}

constexpr const char *samples = R"samples(# monitor model samples 1
recording 1.313s
role a: cpu x, cpu "f(a, b)", branch, sleep
0 0 100 7 1 20
1 1 200 8 0 0
role b:
recording 1.2s
role a: cpu x, cpu "f(a, b)", branch, sleep
0 0 300 9 0 0
role b:
)samples";

TEST_CASE("model samples: printed and read, they are the same")
{
	Model model = sampled();
	parse_samples(samples, "s", model);
	CHECK(samples_text(model) == samples);
	REQUIRE(model.sets.size() == 2);
	CHECK(model.sets[0].elapsed_ns == 1313000000);
	CHECK(model.sets[0].roles[0].threads == std::vector<std::uint32_t>{0, 1});
	CHECK(model.sets[0].roles[0].columns[1] == std::vector<std::uint64_t>{7, 8});
	CHECK(model.sets[1].roles[0].columns[0] == std::vector<std::uint64_t>{300});
}

TEST_CASE("model samples: an operation that a person gives a duration needs none")
{
	Model model = sampled("cpu x; cpu \"f(a, b)\" 1us; branch 0.5 { sleep }");
	parse_samples(samples, "s", model);
	CHECK(model.roles[0].columns == std::vector<std::string>{"cpu x", "sleep"});
	CHECK(model.sets[0].roles[0].columns[1] == std::vector<std::uint64_t>{20, 0});
	Model more = sampled("cpu x; cpu y");
	CHECK_THROWS_WITH(parse_samples(samples, "s", more),
			  Contains("s, line 3: it has no samples of `cpu y` of the role a"));
}

TEST_CASE("model samples: what is wrong is said with its line")
{
	const std::string head = "# monitor model samples 1\n",
			  role = head + "recording 1s\nrole a: cpu x, cpu \"f(a, b)\", branch, sleep\n";
	CHECK_THAT(samples_refusal(""), Contains("s: it does not have the samples of a model"));
	CHECK_THAT(samples_refusal("x\n"), Contains("s: it does not have the samples of a model"));
	CHECK_THAT(samples_refusal(head + "role a: cpu x\n"),
		   Contains("s, line 2: `recording` is expected before the first role"));
	CHECK_THAT(samples_refusal(head + "0 1\n"), Contains("`recording` is expected before the first iteration"));
	CHECK_THAT(samples_refusal(head + "recording soon\n"), Contains("soon is not how long a recording took"));
	CHECK_THAT(samples_refusal(head + "recording 0s\n"), Contains("0s is not how long a recording took"));
	CHECK_THAT(samples_refusal(head + "recording 1s\nrole a: cpu x, cpu x, cpu \"f(a, b)\", branch, sleep\n"),
		   Contains("s, line 3: the column `cpu x` appears twice"));
	CHECK_THAT(samples_refusal(role), Contains("has no iterations of the role a"));
	CHECK_THAT(samples_refusal(role + "0 0 1 2 3"), Contains("s, line 4: the line has no end"));
	CHECK_THAT(samples_refusal(role + "0 0 1 2 3\n"), Contains("an iteration is a line of numbers"));
	CHECK_THAT(samples_refusal(role + "0 0 1 2 3 4 5\n"), Contains("an iteration of this role has 6 numbers"));
	CHECK_THAT(samples_refusal(role + "0 0 1 2 -3 4\n"), Contains("an iteration is a line of numbers"));
	CHECK_THAT(samples_refusal(role + "100000 0 1 2 3 4\n"), Contains("a thread has a number below 100000"));
	CHECK_THAT(samples_refusal(role + "99999 0 1 2 3 4\nrole b:\n0 0\n"),
		   Contains("the recording before this has more than 100000 threads"));
	CHECK(samples_refusal(role + "99999 0 1 2 3 4\nrole b:\n").empty());
	CHECK_THAT(samples_refusal(role + "0 18446744073709551615 1 2 3 4\n"),
		   Contains("an item has a number below 9223372036854775808"));
	CHECK_THAT(samples_refusal(role + "0 0 1 2 99999999999999999999 4\n"),
		   Contains("an iteration is a line of numbers"));
}

} // namespace test_model_text
