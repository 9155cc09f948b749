// SPDX-License-Identifier: MIT
// A fold whose events do not come from files: blocks that are still in memory, one after the other, in streams that the
// source did not have at first. One tick is one nanosecond.
#include <catch2/catch.hpp>

#include "monitor/card.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/cursor.h"
#include "samples.h"

namespace test_source {

using namespace monitor;

namespace {

constexpr std::uint64_t begin = 1000, block_ticks = 1000, blocks = 8, end = begin + blocks * block_ticks;

const std::string events =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKING, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(EDC_ID_SYS_ENTER, "sys_enter", "u12_t id;") +
    samples::event_block(EDC_ID_SYS_EXIT, "sys_exit", "s16_t ret;");

std::uint64_t pair(std::uint32_t low, std::uint32_t high)
{
	return low | static_cast<std::uint64_t>(high) << 32;
}

// Thread 7 sleeps in a call that begins in one block and ends in the next; 8 runs meanwhile.
samples::StreamWriter kernel_stream()
{
	samples::StreamWriter writer(0, 0);
	for (std::uint64_t time = begin; time < end; time += block_ticks) {
		writer.open(time);
		if (time == begin) {
			writer.post(time + 50, EDC_ID_SCHED_SWITCH, 0, {pair(0, 7)});
		} else {
			writer.post(time + 100, EDC_ID_SCHED_WAKING, 0, {pair(7, 120)});
			writer.post(time + 150, EDC_ID_SCHED_SWITCH, 0, {pair(8, 7)});
			writer.post(time + 200, EDC_ID_SYS_EXIT, 0);
		}
		writer.post(time + 700, EDC_ID_SYS_ENTER, 35);
		writer.post(time + 800, EDC_ID_SCHED_SWITCH, 1, {pair(7, 8)});
	}
	return writer;
}

analyze::RecordingInfo some_info()
{
	analyze::RecordingInfo info;
	info.present = true;
	info.state = "complete";
	info.start.time = begin;
	info.end.time = end;
	info.programs = {"sched_switch", "sched_waking", "sys_enter", "sys_exit"};
	return info;
}

struct Seen : activities::Observer {
	std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
	void finished(const activities::Finished &activity) override { all.emplace_back(activity.begin, activity.end); }
};

struct Fold {
	explicit Fold(const analyze::FoldInput &input)
	    : fold(input, some_info()), tracker(input, fold, activities::Tracker::Options())
	{
		fold.add(tracker);
		tracker.add(reported);
	}

	analyze::ThreadFold fold;
	activities::Tracker tracker;
	Seen reported;
};

} // namespace

TEST_CASE("source: blocks in memory are folded like the files that they become")
{
	const auto description = samples::description(events);
	samples::StreamWriter in_memory = kernel_stream();
	const std::span<const std::byte> bytes = in_memory.bytes();
	REQUIRE(bytes.size() == blocks * EDC_BLOCK_SIZE);

	std::vector<samples::StreamWriter> writers{kernel_stream()};
	trace::Trace file = samples::trace(writers, events);
	Fold of_file(analyze::input_of(file, some_info()));
	feed(file, of_file.fold);

	Fold live({*description, {begin, end}, {}, false, {}, {}}); // no stream is known yet
	trace::Problems problems;
	for (std::uint64_t block = 0; block < blocks; ++block) {
		const trace::Stream stream("kernel_cpu0", bytes.first((block + 1) * EDC_BLOCK_SIZE), samples::uuid);
		live.fold.add_stream(stream.info());
		live.tracker.add_stream(stream.info());
		trace::Cursor cursor(stream, *description, problems, begin);
		for (auto item = cursor.start_at(block); item == trace::Cursor::Item::event; item = cursor.advance())
			live.fold.event(cursor.event());
	}
	live.fold.finish();

	CHECK(problems.empty());
	CHECK(live.reported.all == of_file.reported.all);
	CHECK(live.reported.all.size() == 2 * (blocks - 1) + 1); // calls and sleeps; the last one is asleep at the end
	REQUIRE(live.fold.threads().size() == of_file.fold.threads().size());
	for (std::size_t i = 0; i < live.fold.threads().size(); ++i) {
		const analyze::Usage &usage = live.fold.threads()[i].usage, &expected = of_file.fold.threads()[i].usage;
		CHECK(usage.ticks == expected.ticks);
		CHECK(usage.blocked == expected.blocked);
		CHECK(usage.waiting == expected.waiting);
		CHECK(usage.voluntary == expected.voluntary);
		CHECK(usage.syscalls == expected.syscalls);
	}
	CHECK(live.fold.cpus().size() == 1);
	CHECK(live.fold.tokens() == of_file.fold.tokens());
}

} // namespace test_source
