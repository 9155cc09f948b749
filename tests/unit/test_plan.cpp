// SPDX-License-Identifier: MIT
// The simulated recorder: losses that can be computed by hand, and the rules that it shares with the real one.
#include <numeric>
#include <string>

#include <catch2/catch.hpp>

#include "answers/plan/factorial.h"
#include "answers/plan/fit.h"
#include "answers/plan/plan.h"
#include "answers/plan/plan_text.h"
#include "answers/plan/pool_model.h"
#include "answers/plan/ring_model.h"
#include "base/buffering/drain_pace.h"
#include "base/byte_size.h"
#include "history.h"
#include "monitor/card.h"
#include "monitor/ring.h"

namespace test_plan {

using namespace std::chrono_literals;
using namespace monitor::plan;
using monitor::buffering::DrainPace;
using Time = DrainPace::Time;

constexpr std::uint32_t words_of_block = (EDC_BLOCK_SIZE - EDC_BLOCK_HEADER) / 8;

// Two CPUs; the first one closes a block whenever it has worked for so long.
Arrivals steady(std::uint32_t blocks, Nanoseconds work)
{
	Arrivals arrivals;
	arrivals.rings = {{0, 0, "", 0, blocks * work}};
	arrivals.steps = {std::vector<Step>(blocks, {0, work, 0, words_of_block}), {}};
	arrivals.duration = blocks * work;
	arrivals.latencies = {10'000};
	return arrivals;
}

ServiceTimes fast()
{
	ServiceTimes times;
	times.empty_pass = times.pass = 5000;
	times.kernel_block = times.user_block = 500;
	times.write = 3000;
	times.written_block = 500;
	return times;
}

TEST_CASE("plan: a full ring loses what is posted until it is read")
{
	RingModel ring(4);
	for (int block = 1; block <= 4; ++block)
		CHECK(ring.post(500, block * 100.) == (block == 2));
	CHECK(ring.is_full());
	CHECK(ring.fill() == 1000);
	ring.post(500, 500);  // all of it
	ring.release(1, 550); // half of the next one's time has passed
	CHECK_FALSE(ring.is_full());
	ring.post(500, 600);
	CHECK(ring.lost() == 750);
	CHECK(ring.stored() == 2250);
	CHECK(ring.waiting() == 3); // the half block is open
	ring.post(500, 700);
	CHECK(ring.waiting() == 4);
	CHECK(ring.lost() + ring.stored() == 3500);
}

TEST_CASE("plan: a program for whose rings there is no memory loses all of its events")
{
	RingModel none(0);
	CHECK_FALSE(none.post(500, 100));
	CHECK_FALSE(none.post(300, 100));
	CHECK(none.lost() == 800);
	CHECK_FALSE(none.is_half_full());
	CHECK(none.fill() == 0);
	// 240 KiB: three programs with four blocks for each ring take 192, and the next one would take 64, too.
	Arrivals arrivals;
	arrivals.steps.resize(2);
	for (std::uint32_t i = 0; i < 4; ++i) {
		arrivals.rings.push_back({0, 0, "user_" + std::to_string(i), i, 1'000'000'000});
		arrivals.steps[0].push_back({0, 10'000'000, i, words_of_block});
	}
	arrivals.duration = 40'000'000;
	const Outcome outcome = simulate(arrivals, fast(), {240 << 10, {}, {}}, {});
	CHECK(outcome.lost == words_of_block);
	CHECK(outcome.stored == 3. * words_of_block);
}

TEST_CASE("plan: the pool counts blocks that are used for the first time, and one write is of one ring")
{
	PoolModel pool(1024);
	CHECK(pool.reserve(8) == 8);
	pool.release(8);
	CHECK(pool.reserve(10) == 2);
	for (std::uint32_t i = 0; i < 4; ++i)
		CHECK(pool.queue({i % 2, 64}) == (i == 3)); // 256 blocks wake the writer
	CHECK(pool.queue({0, 64}));                         // until it was
	const auto writes = pool.next_writes();
	REQUIRE(writes.size() == 2);
	CHECK(writes[0].blocks == 128);
	CHECK(writes[1].blocks == 128);
	CHECK(pool.next_writes().front().blocks == 64);
	CHECK(pool.next_writes().empty());
}

TEST_CASE("plan: what a slow disk does not take, and the buffers do not hold, is lost")
{
	const Arrivals arrivals = steady(100'000, 100'000); // 10,000 blocks a second for 10 s
	const Setting setting{4 << 20, 5000. * EDC_BLOCK_SIZE, {}};
	for (const Circumstances &circumstances : circumstances_of(arrivals)) {
		const Outcome outcome = simulate(arrivals, fast(), setting, circumstances);
		CHECK(outcome.posted == Approx(100'000. * words_of_block));
		CHECK(outcome.lost + outcome.stored == Approx(outcome.posted));
		// A third of 4 MiB are rings: 170 blocks of each CPU, 161 of them of level 0; the others, 682, are the
		// pool.
		const double lost = outcome.lost / words_of_block;
		CHECK(lost == Approx(100'000 - 50'000 * circumstances.load_pace - 161 - 682)
				  .margin(500)); // the disk waits at times
		CHECK(outcome.fullest == 1000);
	}
}

TEST_CASE("plan: a discarded event costs its program what the calibration says, not what a stored one does")
{
	Arrivals arrivals = steady(100'000, 100'000);
	const Setting setting{4 << 20, 5000. * EDC_BLOCK_SIZE, {}};
	ServiceTimes times = fast();
	const Nanoseconds all = 100'000ll * 100'000;
	CHECK(simulate(arrivals, times, setting, {}).load_cpu == all);
	for (const double saved : {50., -20.}) { // ns a word
		times.saved_by_lost_word = saved;
		const Outcome outcome = simulate(arrivals, times, setting, {});
		CHECK(outcome.lost > 40'000. * words_of_block);
		CHECK(outcome.posted == Approx(100'000. * words_of_block));
		CHECK(static_cast<double>(outcome.load_cpu) == Approx(static_cast<double>(all) - outcome.lost * saved)
								   .margin(100'000)); // the last block, roundings
	}
	arrivals.rings[0].program = "user_1"; // its library is another one
	CHECK(simulate(arrivals, times, setting, {}).load_cpu == all);
}

TEST_CASE("plan: what a lost word saves is the calibrated difference, by the words of an event")
{
	const Arrivals arrivals = steady(2, 100'000);
	monitor::analyze::RecordingInfo info;
	info.classes = {{1, "sys_enter", "syscall", 2ull * words_of_block, 0, 0, words_of_block, 0}}; // two words each
	CHECK(saved_by_lost_word(info, arrivals) == 0);
	info.calibration.emplace().start = {{"syscall", {90, 100, 110, 0, 22}}, {"discarded", {50, 60, 70, 0, 22}}};
	CHECK(saved_by_lost_word(info, arrivals) == Approx(20));
	info.calibration->start["discarded"].rounds = 0;
	CHECK(saved_by_lost_word(info, arrivals) == 0);
	info.calibration->end = {{"syscall", {90, 100, 110, 0, 22}}, {"discarded", {105, 110, 115, 0, 22}}};
	info.calibration->start.clear(); // the check contradicted it
	CHECK(saved_by_lost_word(info, arrivals) == Approx(-5));
}

TEST_CASE("plan: nothing is lost where the disk is faster, and the smallest buffer loses nothing")
{
	const Recorded recorded{steady(20'000, 100'000), fast()};
	const Setting fast_disk{4 << 20, 20'000. * EDC_BLOCK_SIZE, {}};
	const Prediction prediction = predict(recorded, fast_disk);
	CHECK(prediction.lost.high == 0);
	CHECK(prediction.fullest.high < 1000);
	// 2 s at half of the rate: 10,000 blocks wait at the end, which rings of one CPU and the pool must hold.
	const Setting slow_disk{{}, 5000. * EDC_BLOCK_SIZE, {}};
	const auto smallest = smallest_buffer(recorded, slow_disk);
	REQUIRE(smallest);
	CHECK(*smallest * 5 / 6 > 9'500ull * EDC_BLOCK_SIZE);
	CHECK(*smallest * 4 / 6 < 12'500ull * EDC_BLOCK_SIZE);
	CHECK(predict(recorded, {*smallest, slow_disk.disk_bytes_per_second, {}}).lost.high == 0);
	CHECK(predict(recorded, {*smallest * 3 / 4, slow_disk.disk_bytes_per_second, {}}).lost.high > 0);
}

TEST_CASE("plan: small rings do not set the pace, as in the recorder")
{
	CHECK(monitor::buffering::fill_for_pace(500, 0) == 500);
	CHECK(monitor::buffering::fill_for_pace(500, 1) == 1);
	CHECK(monitor::buffering::fill_for_pace(0, 1) == 0);
	CHECK(monitor::buffering::fill_for_pace(500, EDC_CARD_LEVELS) == 500);
	CHECK(monitor::buffering::fill_for_pace(500, EDC_CARD_LEVELS + 1) == 1);
	Arrivals arrivals = steady(20, 100'000'000);
	arrivals.rings[0].level = 1; // of 3 blocks
	const Outcome outcome = simulate(arrivals, fast(), {4 << 20, {}, {}}, {});
	CHECK(outcome.lost == 0);
	CHECK(outcome.fullest == 334);
	CHECK(outcome.writes < 8); // blocks wait for half a second, not for 100 ms
}

TEST_CASE("plan: a program's bell is heard while the pool is full, as by the recorder")
{
	Arrivals arrivals = steady(100'000, 100'000);
	arrivals.rings.push_back({1, 0, "user_1", 0, arrivals.duration});
	arrivals.steps[1] = std::vector<Step>(100'000, {0, 100'000, 1, words_of_block});
	const Outcome outcome = simulate(arrivals, fast(), {4 << 20, 1000. * EDC_BLOCK_SIZE, {}}, {});
	CHECK(outcome.lost_percent() > 90);
	CHECK(outcome.passes > 3000); // for 10 s every 2 ms; every 20 ms without the bells
}

TEST_CASE("plan: the recorder needs the CPU that its load needs")
{
	const Recorded recorded{steady(20'000, 50'000), fast()};
	Setting setting{16 << 20, {}, 0};
	const Outcome beside = simulate(recorded.arrivals, recorded.times, {16 << 20, {}, 1}, {});
	const Outcome instead = simulate(recorded.arrivals, recorded.times, setting, {});
	CHECK(beside.drain_cpu > 20'000 * 500);
	CHECK(instead.end >= beside.end + (instead.drain_cpu + instead.writer_cpu) * 9 / 10);
}

TEST_CASE("plan: what runs before a CPU's first switch is what that stops")
{
	for (const std::int32_t before : {0, 7}) {
		history::History history;
		history.switches(0, 50'000, before, history::sleeping, before ? 0 : 7);
		history.switches(0, 90'000, before ? 0 : 7, history::sleeping, 0);
		auto trace = samples::trace(history.all(), history::events);
		const Arrivals arrivals = read_arrivals(trace, history::make_info(0, 90'000, true, false));
		Nanoseconds work = 0;
		for (const Step &step : arrivals.steps.at(0))
			work += step.work;
		CHECK(work == (before ? 50'000 : 40'000));
	}
}

TEST_CASE("plan: more events in the same time")
{
	const Arrivals arrivals = steady(1000, 30'000);
	for (const double rate : {.5, 1., 2.5, 3.}) {
		const Arrivals faster = with_rate(arrivals, rate);
		CHECK(static_cast<double>(faster.blocks()) == Approx(1000 * rate).margin(1));
		Nanoseconds work = 0;
		for (const Step &step : faster.steps[0])
			work += step.work;
		CHECK(work == 1000 * 30'000);
	}
}

TEST_CASE("plan: service times are fitted, none below 0")
{
	std::vector<Row> rows;
	for (int i = 0; i < 200; ++i) {
		const double kernel = i * 7 % 50, user = i * 11 % 40, fresh = i < 20 ? 10 : 0;
		rows.push_back({1, kernel, user, fresh, 8000 + 900 * kernel + 1600 * user + 600 * fresh});
	}
	const auto found = fit(rows);
	CHECK(found[0] == Approx(8000).epsilon(.01));
	CHECK(found[1] == Approx(900).epsilon(.01));
	CHECK(found[2] == Approx(1600).epsilon(.01));
	CHECK(found[3] == Approx(600).epsilon(.01));
	for (Row &row : rows)
		row[4] = 100 - row[1];
	CHECK(fit(rows)[1] == 0);
}

// Jain, example 18.1 and following: memory and cache of a workstation.
TEST_CASE("plan: a factorial design divides the variation among factors, interactions and chance")
{
	const std::vector<std::vector<double>> outcomes = {{15, 18, 12}, {45, 48, 51}, {25, 28, 19}, {75, 75, 81}};
	const Design design = analyse(outcomes);
	CHECK(design.mean == 41);
	REQUIRE(design.effects.size() == 3);
	CHECK(design.effects[0].effect == 2 * 21.5);
	CHECK(design.effects[1].effect == 2 * 9.5);
	CHECK(design.effects[2].effect == 2 * 5.);
	CHECK(design.effects[0].share == Approx(100 * 5547 / 7032.));
	CHECK(design.effects[1].share == Approx(100 * 1083 / 7032.));
	CHECK(design.effects[2].share == Approx(100 * 300 / 7032.));
	CHECK(design.error_share == Approx(100 * 102 / 7032.));
	CHECK(analyse(std::vector<std::vector<double>>(4, {0, 0})).error_share == 0);
}

TEST_CASE("plan: ranges are rounded outwards")
{
	CHECK(percent_text({0, 0}) == "0 %");
	CHECK(percent_text({62.2, 65.7}) == "62 to 66 %");
	CHECK(percent_text({.04, 1.26}) == "0 to 1.3 %");
	CHECK(buffer_text(4 << 20) == "4M");
	CHECK(buffer_text(196608) == "192K");
	CHECK(disk_text(20e6) == "20 MB/s");
}

TEST_CASE("drain pace: rings that fill fast are looked at often, a request is heard after 2 ms")
{
	const Time begin{};
	DrainPace pace(begin);
	CHECK(pace.next_look() == begin + 20ms);
	CHECK(pace.earliest_look() == begin + 2ms);
	CHECK(pace.next_look(5ms) == begin + 5ms);
	pace.look(begin + 20ms);
	pace.found(7);
	CHECK(pace.next_look() == begin + 100ms); // the clock snapshot
	pace.look(begin + 100ms);
	REQUIRE(pace.sync_is_due(begin + 100ms));
	pace.synced(begin + 190ms); // late
	CHECK(pace.next_look() == begin + 200ms);
	pace.look(begin + 200ms);
	pace.found(60);
	CHECK(pace.next_look() == begin + 220ms);
	pace.found(8); // between the bounds nothing changes
	CHECK(pace.next_look() == begin + 220ms);
}

TEST_CASE("drain pace: few blocks wait for others, 100 ms where rings fill, else 500 ms")
{
	for (const unsigned fill : {0u, 8u}) {
		const Time begin{};
		DrainPace pace(begin);
		const auto longest = fill ? 100ms : 500ms;
		pace.found(fill);
		pace.look(begin + 20ms);
		CHECK_FALSE(pace.wakes_writer(0)); // none waits: the time begins anew
		pace.look(begin + 20ms + longest - 1ms);
		CHECK_FALSE(pace.wakes_writer(1));
		pace.look(begin + 20ms + longest);
		CHECK(pace.wakes_writer(1));
		pace.look(begin + 20ms + 2 * longest - 1ms);
		CHECK_FALSE(pace.wakes_writer(1));
	}
}

TEST_CASE("plan: more settings than are simulated in a while, and buffers beyond all memory, are refused")
{
	expect_few_settings(200, 2);
	CHECK_THROWS_WITH(expect_few_settings(200, 3), "200 values of --buffer and 3 of --disk are 600 settings, of "
						       "which a plan simulates at most 400: give fewer");
	expect_possible_buffer(monitor::parse_bytes("1T", "--buffer"), "1T");
	CHECK_THROWS_WITH(expect_possible_buffer(monitor::parse_bytes("1025G", "--buffer"), "1025G"),
			  "--buffer: 1025G is more than 1T, the most that a plan is made for");
}

TEST_CASE("byte size: what 64 bits do not hold is refused")
{
	CHECK(monitor::parse_bytes("1.5KiB", "--size") == 1536);
	CHECK(monitor::parse_bytes("8388607T", "--size") == 8388607ull << 40);
	CHECK_THROWS_WITH(monitor::parse_bytes("99999999T", "--size"),
			  "--size: 99999999T is more than any machine has");
	CHECK_THROWS_WITH(monitor::parse_bytes("1e30", "--size"), "--size: '1e30' is not a size, such as 64M");
}

} // namespace test_plan
