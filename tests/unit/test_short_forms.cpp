// SPDX-License-Identifier: MIT
// What a short form of an event lacks follows from earlier events: in filters, in the names that make rows, in rules.
// What does not follow is unknown, and that is noticed only where it matters.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/rules/run.h"
#include "reading/activities/keys.h"
#include "reading/events/merge.h"
#include "reading/filter/filter.h"
#include "short_forms.h"

namespace test_short_forms {

using namespace monitor;
using Times = std::vector<std::uint64_t>;

namespace {

struct Sample {
	std::vector<samples::StreamWriter> streams = short_forms::writers();
	trace::Trace trace = samples::trace(streams, short_forms::events);

	template <class Visit> void visit(Visit &&visit)
	{
		trace::Threads threads(trace);
		trace::merge(
		    trace, {},
		    [&](const trace::Event &event) {
			    visit(event, filter::Running{threads.before(event), &threads});
			    threads.after(event);
		    },
		    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) {
			    threads.gap(stream);
		    });
	}

	// When events match, and how many are undecided.
	std::pair<Times, std::uint64_t> matching(const std::string &expression,
						 filter::Evaluator evaluator = filter::Evaluator::reader)
	{
		const filter::Filter filter(expression, trace.description(), trace.begin_time(), {}, nullptr,
					    evaluator);
		Times times;
		visit([&](const trace::Event &event, const filter::Running &running) {
			if (filter.can_match(*event.cls) && filter.matches(event, running))
				times.push_back(event.time);
		});
		return {times, filter.undecided()};
	}

	rules::Outcome outcome(const std::string &rule)
	{
		return rules::run(trace, rules::parse_rules("rule: r\n" + rule, "test"), {5, false}).at(0);
	}
};

} // namespace

TEST_CASE("short forms: an exit is of the call that its thread entered")
{
	Sample sample;
	const std::string exits = "name == \"sys_exit\" and ";
	CHECK(sample.matching(exits + "id == \"openat\" and ret == -2") == std::pair(Times{1020}, 1UL));
	CHECK(sample.matching(exits + "id == \"openat\"") == std::pair(Times{1020, 1130}, 2UL));
	CHECK(sample.matching(exits + "id == 257") == std::pair(Times{1020, 1065, 1130}, 2UL));
	CHECK(sample.matching(exits + "id in {\"openat\", 0}") == std::pair(Times{1020, 1080, 1130}, 2UL));
	CHECK(sample.matching(exits + "id == \"read\"") == std::pair(Times{1080}, 2UL));
	CHECK(sample.matching(exits + "abi == \"compat\"") == std::pair(Times{1065}, 2UL));
	CHECK(sample.matching(exits + "id + 1 == 258 and ret < 0") == std::pair(Times{1020, 1065}, 1UL));
	// who cloned and who was cloned return from it
	CHECK(sample.matching(exits + "id == \"clone\"").first == Times{1160, 1180});
	CHECK(sample.matching(exits + "not has(id)") == std::pair(Times{1050, 1110}, 2UL));
}

TEST_CASE("short forms: what is unknown does not matter where the rest decides")
{
	Sample sample;
	CHECK(sample.matching("id == \"read\" and ret == -7") == std::pair(Times{}, 0UL));
	CHECK(sample.matching("ret == -2 or id == \"read\" and ret == 0").second == 1);
	CHECK(sample.matching("name == \"sys_exit\" and (ret == -2 or id == \"read\" or id != \"read\") and ret < 0") ==
	      std::pair(Times{1020, 1065, 1110}, 0UL));
}

TEST_CASE("short forms: a process exits by the name of its thread")
{
	Sample sample;
	CHECK(sample.matching("name == \"sched_process_exit\" and comm == \"kid\"") == std::pair(Times{1190}, 1UL));
	CHECK(sample.matching("name == \"sched_process_exit\" and comm ~ \"k*\" and pid == 7") ==
	      std::pair(Times{1190}, 0UL));
}

TEST_CASE("short forms: a probe knows the event alone, and says which form it leaves out")
{
	Sample sample;
	const std::string expression = "name == \"sys_exit\" and id == \"openat\"";
	CHECK(sample.matching(expression, filter::Evaluator::probe) == std::pair(Times{1130}, 0UL));
	const auto left_out = [&](const std::string &text, filter::Evaluator evaluator) {
		const filter::Filter filter(text, sample.trace.description(), 0, {}, nullptr, evaluator);
		return filter::left_out(filter, sample.trace.description(),
					[&](const trace::EventClass &cls) { return filter.can_match(cls); });
	};
	CHECK(left_out(expression, filter::Evaluator::probe).name == "id");
	CHECK(left_out(expression, filter::Evaluator::reader).form == nullptr);
	CHECK(left_out("name == \"other\" and at == 5", filter::Evaluator::reader).form->id == 301);
}

TEST_CASE("short forms: a row of an event without the field has that of the call it ends")
{
	Sample sample;
	const activities::Keys by({"id"}, sample.trace.description(), 0, "--by");
	std::string rows;
	sample.visit([&](const trace::Event &event, const filter::Running &running) {
		if (event.cls->name == "sys_exit")
			rows += by.cells(event, running).at(0).shown({}) + ",";
	});
	CHECK(rows == "openat,,257,read,,openat,clone,clone,");
	CHECK(by.needs_threads());
	CHECK_FALSE(by.derives(*sample.trace.description().by_id(EDC_ID_SYS_ENTER)));
	CHECK(by.derives(*sample.trace.description().by_id(EDC_ID_SYS_EXIT)));
}

TEST_CASE("short forms: a rule about what is unknown is not checked")
{
	using Verdict = rules::Outcome::Verdict;
	Sample sample;
	CHECK(sample.outcome("never: name == \"sys_exit\" and id == \"openat\" and ret == -2").tally.violated == 1);
	CHECK(sample.outcome("never: name == \"sys_exit\" and id == \"read\" and ret == -2").verdict ==
	      Verdict::not_checked);
	CHECK(sample.outcome("never: name == \"sys_exit\" and id == \"read\" and ret == -7").verdict == Verdict::holds);
	CHECK(sample.outcome("never: name == \"other\" and at == 5").verdict == Verdict::not_checked);
	CHECK(sample.outcome("for: name == \"sys_exit\" and ret == 7\nholds: id == \"clone\"").verdict ==
	      Verdict::holds);
}

} // namespace test_short_forms
