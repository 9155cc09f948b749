// SPDX-License-Identifier: MIT
// What `monitor check` says of the time in which threads were throttled, and of what the kernel says of it.
#include <catch2/catch.hpp>

#include "answers/check/throttled.h"
#include "quota_history.h"
#include "reading/analyze/feed.h"

namespace test_throttled_check {

using namespace monitor;
using namespace quota_history;
using check::Verdict;

namespace {

constexpr std::uint64_t ms = 1'000'000;

struct Judged {
	std::uint64_t kernel_ms = 500;
	bool has_all = true;
	std::uint64_t hierarchy = 2;
	std::vector<std::string> further_groups; // whose quota was used up, too

	// 7 is throttled for 500 ms on CPU 0, of which another thread runs for 100; then until the end.
	check::Statement operator()() const
	{
		Machine machine;
		machine.switches(0, 10 * ms, 0, 0, 7);
		machine.switches(0, 100 * ms, 7, throttled, 0);
		machine.switches(0, 500 * ms, 0, 0, 9);
		machine.switches(0, 600 * ms, 9, history::sleeping, 7);
		machine.switches(0, 900 * ms, 7, throttled, 0);
		analyze::RecordingInfo info = info_of("6.18.1", 1000 * ms);
		info.cgroups.start->hierarchy = hierarchy;
		info.cgroups.start->has_all = has_all;
		info.cgroups.end = info.cgroups.start;
		std::vector<std::string> all = further_groups;
		all.insert(all.begin(), "/limited");
		for (const std::string &path : all)
			for (auto *read : {&info.cgroups.start, &info.cgroups.end}) {
				analyze::CgroupFigures &figures = (*read)->groups.emplace_back();
				figures.path = path;
				figures.quota_us = 20'000;
				figures.period_us = 100'000;
				figures.throttled_us = 7000 + (read == &info.cgroups.end ? kernel_ms * 1000 : 0);
			}
		const std::map<std::uint64_t, std::string> paths = {{group, "/limited/inner"}, {other_group, "/"}};
		trace::Trace trace = samples::trace(machine.all(), events);
		analyze::ThreadFold fold(trace, info);
		check::ThrottledTime time(fold, info, paths);
		fold.add(time);
		analyze::feed(trace, fold, [&](const trace::Event &event) { time.after(event); });
		check::Statements statements;
		time.judge(trace.description().clock, true, statements);
		REQUIRE(!statements.empty());
		return statements.front();
	}
};

} // namespace

TEST_CASE("throttled: check compares it with the kernel's own")
{
	// It may have ended as the other thread began to run; the one at the end may count or not.
	for (const std::uint64_t kernel_ms : {300u, 400u, 500u, 600u})
		CHECK(Judged{kernel_ms}().verdict == Verdict::holds);
	for (const std::uint64_t kernel_ms : {290u, 610u, 0u})
		CHECK(Judged{kernel_ms}().verdict == Verdict::fails);
	CHECK(Judged{500, false}().verdict == Verdict::not_witnessed);
	CHECK(Judged{500, true, 2, {"/limited/inner"}}().verdict == Verdict::not_witnessed);
	CHECK(Judged{500, true, 2, {"/limite"}}().verdict == Verdict::holds);
	CHECK(Judged{500, true, 1}().verdict == Verdict::holds);
	CHECK(Judged{500, true, 1, {"/any"}}().verdict == Verdict::not_witnessed);
}

} // namespace test_throttled_check
