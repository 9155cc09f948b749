// SPDX-License-Identifier: MIT
// Predictions: changes in words, intervals, and what is refused.
#include <cmath>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/predict/change_text.h"
#include "answers/predict/prediction.h"
#include "answers/predict/prediction_text.h"
#include "reading/model/model_text.h"
#include "reading/model/steps.h"

namespace test_predict {

using namespace monitor::predict;
using Catch::Matchers::Contains;
using monitor::model::Model;

namespace {

Model parse(const std::string &text, const std::string &samples = "")
{
	Model model = monitor::model::parse_model("# monitor model 1\n" + text, "model");
	if (!samples.empty())
		monitor::model::parse_samples("# monitor model samples 1\n" + samples, "samples", model);
	return model;
}

std::string refusal(const Model &model, const ChangeOptions &wanted)
{
	try {
		predict(model, changes_of(wanted, model), {});
	} catch (const monitor::model::Refused &reason) {
		return reason.what();
	} catch (const monitor::Error &error) {
		return std::string("error: ") + error.what();
	}
	return "";
}

// So many recordings of two threads that share work of 100 iterations, each 1 % longer than the one before.
Model recorded(int recordings)
{
	std::string samples;
	for (int i = 0; i < recordings; ++i) {
		samples += fmt::format("recording {}us\nrole a: cpu x\n", 5000 + 50 * i);
		for (int row = 0; row < 100; ++row)
			samples += fmt::format("{} {} {}\n", row % 2, row, 100000 + 1000 * i);
	}
	return parse("cpus 2\nrole a split 2: loop { cpu x }", samples);
}

} // namespace

TEST_CASE("predict: changes as they are written")
{
	const Model model = parse("cpus 2\nrole workers 2: { cpu squeeze 1us; cpu \"a=b\" 1us }\nrole w: { cpu 1us }");
	const auto text = [&](const ChangeOptions &wanted) {
		std::string all;
		for (const auto &change : changes_of(wanted, model))
			all += text_of(change) + "; ";
		return all;
	};
	CHECK(text({}).empty());
	CHECK(text({{"squeeze=2"}, {"workers=1"}, 1, ""}) == "1 CPU, workers 1 thread, squeeze 2x; ");
	CHECK(text({{"a=b=0.5", "squeeze=3"}, {}, 0, ""}) == "a=b 0.5x, squeeze 3x; ");
	CHECK(text({{}, {}, 4, "workers=2..3"}) == "4 CPUs, workers 2 threads; 4 CPUs, workers 3 threads; ");
	CHECK(text({{}, {}, 0, "workers=7"}) == "workers 7 threads; ");
	const auto wrong = [&](const ChangeOptions &wanted) { return refusal(model, wanted); };
	CHECK_THAT(wrong({{"squeez=2"}, {}, 0, ""}), Contains("no activity squeez.") && Contains("squeeze"));
	CHECK_THAT(wrong({{"squeeze"}, {}, 0, ""}), Contains("ACTIVITY=K is expected"));
	for (const char *const bad : {"squeeze=0", "squeeze=-1", "squeeze=x", "squeeze=nan", "squeeze=2x", "squeeze="})
		CHECK_THAT(wrong({{bad}, {}, 0, ""}), Contains("how many times as fast is a number"));
	CHECK_THAT(wrong({{}, {"x=2"}, 0, ""}), Contains("no role x."));
	for (const char *const bad : {"workers=0", "workers=-1", "workers=1.5", "workers=9999999"})
		CHECK_THAT(wrong({{}, {bad}, 0, ""}), Contains("a number of threads is from 1"));
	for (const char *const bad : {"workers=3..2", "workers=1..1000", "workers=1..", "workers=..2"})
		CHECK_THAT(wrong({{}, {}, 0, bad}), Contains("--sweep"));
	CHECK_THAT(wrong({{}, {"workers=2"}, 0, "workers=1..2"}), Contains("give one of them"));
}

TEST_CASE("predict: an interval needs three recordings")
{
	const Model five = recorded(5);
	const Prediction predicted = predict(five, changes_of({{"x=2"}, {}, 0, ""}, five), {});
	CHECK(predicted.base.elapsed_ns == Approx(5.1e6));
	REQUIRE(predicted.changes.size() == 1);
	CHECK(predicted.changes[0].elapsed_ns == Approx(2.55e6));
	CHECK(predicted.changes[0].speed_up == Approx(2));
	// deviation 1.55 %, t of 4 degrees 2.13, of one more run: 3.6 %, which is below the least
	CHECK(*predicted.changes[0].low_ns == Approx(2.55e6 * 0.94));
	CHECK(*predicted.changes[0].high_ns == Approx(2.55e6 * 1.06));
	CHECK(predicted.notes.front() == "interval: 5 recordings, replay bias 0 %; structure assumed unchanged");
	const Model three = recorded(3); // t of 2 degrees 2.92: sqrt(4/3) * 2.92 * 0.99 % = 3.3 %
	CHECK(predict(three, {}, {}).base.low_ns.has_value());
	Model disturbed = recorded(3);
	disturbed.sets[0].elapsed_ns *= 10;
	const Prediction doubtful = predict(disturbed, {}, {});
	CHECK(*doubtful.base.low_ns == 0);
	CHECK_THAT(doubtful.notes.back(), Contains("% less time than was recorded: other programs had the CPUs"));
	const Model one = recorded(1);
	const Prediction single = predict(one, {}, {});
	CHECK_FALSE(single.base.low_ns.has_value());
	CHECK_THAT(single.notes.front(), Contains("without interval: 1 recording, 3 or more give one"));
}

TEST_CASE("predict: recordings that are far from each other, or from their replay, have a wide interval")
{
	std::string samples;
	for (const int time : {100, 110, 120})
		samples += fmt::format("recording {}us\nrole a: cpu x\n0 0 {}000\n", time + 20, time);
	const Model model = parse("cpus 2\nrole a: loop { cpu x }", samples);
	const Estimate base = predict(model, {}, {}).base;
	const double deviation = 10.0 / 110, bias = 20.0 / 130; // of the replays, which is the larger one
	CHECK(*base.high_ns / base.elapsed_ns - 1 ==
	      Approx(std::hypot(2.92 * deviation * std::sqrt(4.0 / 3), bias)).epsilon(0.02));
}

TEST_CASE("predict: what takes no time has neither a speed-up nor an interval")
{
	Settings numeric;
	numeric.is_numeric = true;
	for (const Settings &settings : {Settings(), numeric}) {
		CHECK_THROWS_WITH(predict(parse("role a: loop 10 { cpu x 0ns }"), {}, settings),
				  Contains("takes no time (change: none)"));
		const Model nothing = parse("role a: { cpu x 1us; sleep 0ns }");
		CHECK(predict(nothing, changes_of({{"x=1000"}, {}, 0, ""}, nothing), settings).changes[0].speed_up ==
		      Approx(1000));
	}
	const Model tiny = parse("role a: { cpu x 1ns }");
	CHECK_THROWS_WITH(predict(tiny, changes_of({{"x=1000"}, {}, 0, ""}, tiny), {}),
			  Contains("takes no time (change: x 1000x)"));
}

TEST_CASE("predict: samples of no thread that the role has are named")
{
	const std::string samples = "recording 1s\nrole a: cpu x\n5 0 1000\n";
	CHECK_THROWS_WITH(predict(parse("role a: { cpu x }", samples), {}, {}),
			  "This model takes no time (change: none): the role a has thread 0 only, but its samples are "
			  "of thread 5.");
	CHECK_THROWS_WITH(predict(parse("role a 2: { cpu x }", samples + "6 1 1000\n"), {}, {}),
			  Contains("has threads 0 to 1 only, but its samples are of thread 5 and above."));
}

TEST_CASE("predict: all replays of a command together are bounded")
{
	const Model model = recorded(3);
	const auto sweep = changes_of({{}, {}, 0, "a=1..9"}, model);
	CHECK(predict(model, sweep, {}).changes.size() == 9);
	Settings few;
	few.max_effort = 1;
	CHECK(predict(model, {}, few).changes.empty());
	CHECK_THROWS_WITH(predict(model, sweep, few),
			  Contains("These replays take minutes (change: a 1 thread): ask for fewer changes"));
	const Model drawn = parse("distribution e exponential 100us\nrole a: loop 10 { cpu x of e }");
	few.max_effort = 100'000;
	few.enough_events = 0; // three draws
	CHECK(predict(drawn, changes_of({{"x=2"}, {}, 0, ""}, drawn), few).changes.size() == 1);
}

TEST_CASE("predict: an interval beyond what is counted is refused")
{
	std::string samples;
	for (const char *const ns : {"2000000000000000000", "1", "1"})
		samples += fmt::format("recording 1s\nrole a: cpu x\n0 0 {}\n", ns);
	CHECK_THROWS_WITH(predict(parse("role a: { cpu x }", samples), {}, {}),
			  Contains("may take more than 285 years (change: none)"));
	const Prediction long_one = predict(parse("role a: loop 3 { cpu x 10000d }"), {}, {});
	CHECK(long_one.base.elapsed_ns == Approx(3 * 10000 * 86400e9));
}

TEST_CASE("predict: draws of distributions, and their computation")
{
	const Model model =
	    parse("cpus 4\ndistribution e exponential 100us\nrole a: loop 100 { fork { cpu x of e | cpu x of e } }");
	const Prediction drawn = predict(model, changes_of({{"x=2"}, {}, 0, ""}, model), {});
	Settings numeric;
	numeric.is_numeric = true;
	const Prediction computed = predict(model, changes_of({{"x=2"}, {}, 0, ""}, model), numeric);
	CHECK(computed.base.elapsed_ns == Approx(15e6).epsilon(1e-3));
	CHECK(computed.changes[0].speed_up == Approx(2));
	CHECK(drawn.base.elapsed_ns == Approx(15e6).epsilon(0.03));
	CHECK(*drawn.base.low_ns == Approx(*computed.base.low_ns).epsilon(0.05));
	CHECK(*drawn.base.high_ns == Approx(*computed.base.high_ns).epsilon(0.05));
	CHECK_THAT(drawn.notes.front(), Contains("90 % of 100 draws"));
}

TEST_CASE("predict: three draws are less than 9 of 10")
{
	const Model model = parse("distribution d 1us 5us\nrole a: loop 100 { cpu x of d }");
	Settings long_ones;
	long_ones.enough_events = 0;
	const Prediction drawn = predict(model, {}, long_ones);
	CHECK_THAT(drawn.notes.front(), Contains("90 % of 3 draws"));
	// Around the mean, and not from the least to the largest
	const double above = *drawn.base.high_ns - drawn.base.elapsed_ns;
	CHECK(above > 0);
	CHECK(above == Approx(drawn.base.elapsed_ns - *drawn.base.low_ns));
	const Prediction many = predict(model, {}, {}); // of the ranks 5 and 96: the deviation is 20 us
	CHECK(*many.base.low_ns == Approx(300e3 - 1.64 * 20e3).margin(12e3));
	CHECK(*many.base.high_ns == Approx(300e3 + 1.64 * 20e3).margin(12e3));
}

TEST_CASE("predict: more CPUs than were recorded is a bound")
{
	const Model model = recorded(3);
	const Prediction predicted = predict(model, changes_of({{}, {"a=4"}, 4, ""}, model), {});
	CHECK(predicted.changes[0].is_lower_bound);
	CHECK(predicted.notes.back() ==
	      "More CPUs than recorded: contention for memory and caches is not in this recording");
	CHECK_THAT(std::get<std::string>(table_of(predicted).rows[1][1]), Contains(">= 2.52 ms +-6 %"));
	const nlohmann::json json = nlohmann::json::parse(json_of(predicted));
	CHECK(json["base_ns"] == 5050000);
	CHECK(json["changes"][0]["change"] == "4 CPUs, a 4 threads");
	CHECK(json["changes"][0]["is_lower_bound"] == true);
	CHECK(json["changes"][0]["limited_by"] == "x");
}

TEST_CASE("predict: where threads wake up may decide everything")
{
	// 12 us of work between two wake-ups
	std::string samples = "recording 10ms\nrole a: cpu x\n";
	for (int i = 0; i < 100; ++i)
		samples += fmt::format("0 {} 12000\n", i);
	samples += "role b: cpu y\n";
	for (int i = 0; i < 100; ++i)
		samples += fmt::format("0 {} 12000\n", i);
	const std::string roles = "role a: loop { cpu x; wake s; wait t }\nrole b: loop { wait s; cpu y; wake t }";
	const Model model = parse("cpus 2; latency 40us; wakecost 5us\n" + roles, samples);
	CHECK_THAT(
	    refusal(model, {{"x=2"}, {}, 0, ""}),
	    Contains(
		"Where threads wake up decides this program's time (0.0024 to 0.0104 s): record the changed program "
		"instead.") ||
		Contains(
		    "Where threads wake up decides this program's time (0.0024 to 0.01 s): record the changed program "
		    "instead."));
	CHECK(refusal(model, {}).empty()); // what was recorded needs no prediction
	const Model longer = parse("cpus 2; latency 1us; wakecost 0us\n" + roles, samples);
	CHECK(refusal(longer, {{"x=2"}, {}, 0, ""}).empty());
}

TEST_CASE("predict: the time of an activity within a lock may depend on the threads")
{
	// Each thread has the lock twice, then the other one: in us.
	const auto locks = [](int after_others) {
		std::string samples = "recording 1s\nrole a: cpu local, cpu update\n";
		for (int i = 0; i < 200; ++i) {
			const int thread = i % 2;
			const bool is_first = i / 2 % 2 == 0;
			const int local = !is_first ? 100 : i < 2 ? 100 + 1000 * thread : 1800;
			samples += fmt::format("{} {} {}000 {}000\n", thread, i, local,
					       (is_first ? after_others : 100) + i % 3);
		}
		return parse("cpus 2\nrole a split 2: loop { cpu local; lock l { cpu update } }", samples);
	};
	CHECK(refusal(locks(120), {{}, {"a=1"}, 0, ""}) ==
	      "`update` takes 20 % longer after another thread's: its time for another number of threads is not in "
	      "this recording; "
	      "record with that number, too.");
	CHECK_THAT(refusal(locks(120), {{}, {}, 1, ""}), Contains("another number of CPUs"));
	CHECK(refusal(locks(120), {{}, {"a=2"}, 0, ""}).empty());
	CHECK(refusal(locks(120), {{"update=2"}, {}, 0, ""}).empty());
	CHECK(refusal(locks(105), {{}, {"a=1"}, 0, ""}).empty());
}

namespace {

// 100 iterations that compute for 2 to 6 ms and sleep before or after that, in us; `slept`: by the time that was
// computed since the last sleep.
template <class Slept> Model sleeper(bool sleeps_first, const Slept &slept)
{
	std::string samples = fmt::format("recording 1s\nrole a: {}\n", sleeps_first ? "sleep, cpu x" : "cpu x, sleep");
	int last = 4000;
	for (int i = 0; i < 100; ++i) {
		const int computed = 2000 + i * 37 % 41 * 100, length = slept(sleeps_first ? last : computed, i);
		samples += sleeps_first ? fmt::format("0 {} {}000 {}000\n", i, length, computed)
					: fmt::format("0 {} {}000 {}000\n", i, computed, length);
		last = computed;
	}
	return parse(sleeps_first ? "role a: loop { sleep; cpu x }" : "role a: loop { cpu x; sleep }", samples);
}

} // namespace

TEST_CASE("predict: what computes faster sleeps longer, if its sleeps end at fixed times")
{
	const bool sleeps_first = GENERATE(false, true);
	const Model model =
	    sleeper(sleeps_first, [](int computed, int i) { return 10000 - computed + i * 7 % 5 * 10; });
	CHECK(refusal(model, {{"x=2"}, {}, 0, ""}) ==
	      "Sleeps of a end at fixed times: they are shorter where it computes longer, which is not in a model of "
	      "sleeps of fixed length; record the changed program instead.");
	CHECK(refusal(model, {{}, {"a=2"}, 0, ""}).empty());
}

TEST_CASE("predict: sleeps of a given length are as long when something else is faster")
{
	const bool sleeps_first = GENERATE(false, true);
	const auto is_predicted = [&](const auto &slept) {
		return refusal(sleeper(sleeps_first, slept), {{"x=2"}, {}, 0, ""}).empty();
	};
	CHECK(is_predicted([](int, int) { return 5000; }));
	CHECK(is_predicted([](int, int i) { return 5000 + i * 7 % 5 * 10; }));
	CHECK(is_predicted([](int, int i) { return i * 53 % 59 * 100; }));
	CHECK(is_predicted([](int, int i) { return i % 10 == 0 ? 50000 : 0; }));
	CHECK(is_predicted([](int computed, int) { return computed; }));
	// Less than the probes and the timer may be the reason of
	CHECK(is_predicted([](int computed, int) { return 5000 - computed / 50; }));
}

} // namespace test_predict
