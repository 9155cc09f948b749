// SPDX-License-Identifier: MIT
// Times as if nobody had measured, of whole traces: what an event costs and when that is not known
// (reading/cost/virtual_cost.h), what wakes from outside (virtual_times.h), and the rows (answers/report/
// virtual_table.h). One tick is one nanosecond.
#include <functional>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "answers/report/virtual_table.h"
#include "history.h"
#include "pipe_history.h"
#include "reading/analyze/feed.h"
#include "reading/cost/virtual_times.h"

namespace test_virtual_times {

using namespace monitor;
using namespace history;
using cost::Bound;

namespace {

constexpr std::int32_t shell = 20, command = 30, worker = 31, recorder = 10, daemon = 40;
const std::string all_events =
    events +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXIT, "sched_process_exit", "u16_t group_dead; s32_t pid; s32_t tgid;") +
    samples::event_block(EDC_ID_LOCAL_TIMER_ENTRY, "local_timer_entry", "u16_t vector;") +
    samples::event_block(EDC_ID_LOCAL_TIMER_EXIT, "local_timer_exit", "u16_t vector;");

// Every event costs 10 ns, half of them before its time; the bounds are those of the cost only.
cost::VirtualCost cost_of_ten()
{
	cost::VirtualCost cost;
	cost.by_class.resize(4096);
	for (std::size_t id = 256; id < 400; ++id)
		cost.by_class[id] = {cost::ProbeTime{4, 4}, {5, 5}, {6, 6}};
	return cost;
}

analyze::RecordingInfo info_of_command()
{
	analyze::RecordingInfo info = make_info(0, 10'000, true, false);
	info.command_pid = command;
	info.recorder.pid = recorder;
	info.command = {"cmd"};
	return info;
}

struct Computed {
	explicit Computed(History &history, analyze::RecordingInfo of = info_of_command(),
			  cost::VirtualCost costs = cost_of_ten())
	    : cost(std::move(costs)), info(std::move(of)), trace(samples::trace(history.all(), all_events)),
	      fold(trace, info), times(fold, info, cost)
	{
		fold.add(times);
		analyze::feed(trace, fold, [&](const trace::Event &event) { times.event(event); });
	}
	cost::RemovedTimes removed(std::int32_t tid, Bound bound = Bound::middle) const
	{
		return times.removed(*fold.thread(tid), bound);
	}
	report::VirtualReport report() const
	{
		report::UsageOptions options;
		options.with_sleepers = false;
		return {fold, times, cost, trace.description().clock, options};
	}

	cost::VirtualCost cost;
	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
	cost::VirtualTimes times;
};

void ends(History &history, unsigned cpu, std::uint64_t time, std::int32_t tid)
{
	history.cpu(cpu).post(time, EDC_ID_SCHED_PROCESS_EXIT, 1, {pair(tid, tid)});
}

// The recorder, of which the command is a child, wakes it; it makes a worker on another CPU and waits for it.
History command_history()
{
	History history;
	history.cpu(1);
	creates(history, 10, recorder, shell, "monitor");
	history.switches(0, 20, 0, 0, recorder);
	creates(history, 30, command, recorder, "cmd");
	history.switches(0, 50, recorder, sleeping, command);
	creates(history, 100, worker, command, "worker", 1);
	history.switches(1, 130, 0, 0, worker);
	history.switches(0, 200, command, sleeping, 0);
	for (std::uint64_t i = 0; i < 20; ++i)
		history.posts(1, 200 + i * 10 + 10, EDC_ID_MINOR_FAULT, 1);
	history.wakes(1, 500, command);
	history.switches(0, 540, 0, 0, command);
	history.switches(1, 600, worker, dead, 0);
	ends(history, 0, 1000, command);
	history.switches(0, 1020, command, dead, 0);
	return history;
}

} // namespace

TEST_CASE("virtual times: of a command and what it waits for")
{
	History history = command_history();
	const Computed computed(history);
	CHECK(computed.times.is_recorder(*computed.fold.thread(recorder)));
	CHECK(!computed.times.is_recorder(*computed.fold.thread(command)));
	// From its switch at 50 the creation and the switch away; then from 540 on the end and another switch.
	CHECK(computed.removed(command).running == 40);
	// The worker: 20 faults, the waking, the switch.
	CHECK(computed.removed(worker).running == 220);
	// It was created 10 too late and woke the command 10 + 210 too late, which had gone to sleep 10 too late.
	CHECK(computed.removed(command).blocked == 210);
	const auto elapsed = computed.times.elapsed();
	REQUIRE(elapsed);
	CHECK(elapsed->measured == 950);
	const auto removed = computed.removed(command);
	CHECK(elapsed->measured - elapsed->compensated[1] == removed.blocked + 30 + 10);
	CHECK(elapsed->compensated[0] > elapsed->compensated[1]);
	CHECK(elapsed->compensated[1] > elapsed->compensated[2]);
}

TEST_CASE("virtual times: an event soon after idle time may cost more")
{
	History history = command_history();
	const auto removed = [&](std::uint64_t ticks, Bound bound) {
		cost::VirtualCost cost = cost_of_ten();
		cost.after_idle = 3;
		cost.after_idle_ticks = ticks;
		return Computed(history, info_of_command(), cost).removed(worker, bound).running;
	};
	// It gets an idle CPU at 130, of which that switch is the first event; its first fault is at 210.
	CHECK(removed(79, Bound::middle) == 220);
	CHECK(removed(80, Bound::middle) == 220);
	CHECK(removed(80, Bound::low) == 176);
	CHECK(Computed(history).removed(worker, Bound::high).running == 264);
	CHECK(removed(79, Bound::high) == 264);
	CHECK(removed(80, Bound::high) == 264 + 2 * 12);
}

TEST_CASE("virtual times: no elapsed time of a command that goes on")
{
	History history;
	creates(history, 10, command, recorder, "cmd");
	history.switches(0, 50, 0, 0, command);
	history.switches(0, 500, command, sleeping, 0);
	const Computed computed(history);
	CHECK(!computed.times.elapsed());
	REQUIRE(computed.report().command());
	CHECK(!computed.report().command()->elapsed);
}

TEST_CASE("virtual times: who woke a thread, and what only interrupted")
{
	// The waker runs on CPU 1 with `faults` probes before it wakes; the sleeper slept since 100.
	const auto blocked = [](const std::function<void(History &)> &wake) {
		History history;
		history.cpu(1);
		creates(history, 10, command, recorder, "cmd");
		history.switches(0, 20, 0, 0, command);
		creates(history, 50, worker, command, "worker", 1);
		history.switches(0, 100, command, sleeping, 0);
		history.switches(1, 110, 0, 0, worker);
		for (std::uint64_t i = 0; i < 10; ++i)
			history.posts(1, 200 + i * 10, EDC_ID_MINOR_FAULT, 1);
		wake(history);
		return Computed(history).removed(command).blocked;
	};
	// Both stood still 20 before the sleep: the command for its creation of the worker and its switch. The worker
	// was created 10 earlier, ran 10 sooner, and paid for 10 faults and half of the waking's probe.
	const double by_worker = blocked([](History &history) { history.wakes(1, 1000, command); });
	CHECK(by_worker == 110);
	const auto interrupted = [](unsigned entry, unsigned exit, unsigned number) {
		return [=](History &history) {
			history.posts(1, 990, entry, number);
			history.wakes(1, 1000, command);
			history.posts(1, 1010, exit, number);
		};
	};
	// The interrupt's probe and half of the waking's: the sleep keeps its length.
	CHECK(blocked(interrupted(EDC_ID_LOCAL_TIMER_ENTRY, EDC_ID_LOCAL_TIMER_EXIT, 0)) == 15);
	CHECK(blocked(interrupted(EDC_ID_IRQ_HANDLER_ENTRY, EDC_ID_IRQ_HANDLER_EXIT, 5)) == 15);
	CHECK(blocked(interrupted(EDC_ID_SOFTIRQ_ENTRY, EDC_ID_SOFTIRQ_EXIT, 1)) == 15); // TIMER
	// NET_RX of what the worker sends to this machine.
	CHECK(blocked(interrupted(EDC_ID_SOFTIRQ_ENTRY, EDC_ID_SOFTIRQ_EXIT, 3)) == 120);
	// The same after an interrupt: it arrived.
	CHECK(blocked([&](History &history) {
		      history.posts(1, 970, EDC_ID_IRQ_HANDLER_ENTRY, 5);
		      history.posts(1, 980, EDC_ID_IRQ_HANDLER_EXIT, 5);
		      interrupted(EDC_ID_SOFTIRQ_ENTRY, EDC_ID_SOFTIRQ_EXIT, 3)(history);
	      }) == 15);
}

TEST_CASE("virtual times: threads of the list at the start have their states")
{
	History history;
	history.lists(1, daemon, 1, EDC_NO_SYSCALL, 0);
	history.lists(1, worker, 0, EDC_NO_SYSCALL, 0);
	history.lists(1, command, 0, EDC_NO_SYSCALL, EDC_THREAD_RUNNING);
	history.posts(0, 100, EDC_ID_MINOR_FAULT, 1);
	history.switches(0, 200, command, running, worker);
	history.posts(0, 290, EDC_ID_LOCAL_TIMER_ENTRY, 0);
	history.wakes(0, 300, daemon);
	history.posts(0, 310, EDC_ID_LOCAL_TIMER_EXIT, 0);
	history.switches(0, 400, worker, sleeping, daemon);
	history.switches(0, 500, daemon, sleeping, 0);
	const Computed computed(history);
	CHECK(computed.removed(command).running == 15);
	CHECK(computed.removed(worker).waiting == 15);
	CHECK(computed.removed(daemon).blocked == 15);
	CHECK(computed.removed(daemon).running == 10);
}

TEST_CASE("virtual times: rows, what the recorder had, and what is refused")
{
	History history = command_history();
	const Computed computed(history);
	const report::VirtualReport report = computed.report();
	const report::Table &table = report.table();
	REQUIRE(table.rows.size() == 2); // the recorder's is none
	const auto cell = [&](std::size_t row, const char *column) {
		return report::number_of(table.rows[row][table.column(column)]);
	};
	CHECK(cell(0, "pid") == command);
	CHECK(cell(0, "cpu_ns") == 150 + 480);
	CHECK(cell(0, "virtual_cpu_ns") == 630 - 40);
	CHECK(cell(0, "virtual_cpu_low_ns") == 630 - 48);
	CHECK(cell(0, "virtual_cpu_high_ns") == 630 - 32);
	CHECK(cell(0, "virtual_blocked_ns") == 300 - 210);
	CHECK(cell(1, "cpu_ns") == 470); // more than 40 % of it was the probes'
	CHECK(cell(1, "overhead_percent").value() == Approx(220 / 4.7));
	CHECK(!cell(1, "virtual_cpu_ns"));
	CHECK(!cell(1, "virtual_waiting_low_ns"));
	CHECK(report.refused() == 1);
	REQUIRE(report.command());
	CHECK(report.command()->row.cpu.value == 630 + 470 - 260);
	REQUIRE(report.command()->elapsed);
	CHECK(report.command()->elapsed->low < report.command()->elapsed->value);
	const std::string text = report::to_text(report::with_ranges(table));
	INFO(text);
	CHECK(text.find("582 ns to 598 ns") != std::string::npos);
	CHECK(report::virtual_notes(report, computed.cost, computed.info).find("of 1 row ") != std::string::npos);
	CHECK(report::virtual_json(report, computed.cost)["command"]["cpu"]["virtual_ns"] == 840);
}

namespace {

analyze::RecordingInfo calibrated()
{
	analyze::RecordingInfo info;
	info.present = true;
	info.state = "complete";
	info.recorder.pid = recorder;
	info.calibration.emplace();
	for (const char *family : {"syscall", "sched", "fault"})
		info.calibration->start[family] = {40, 50, 60, 0.01, 22};
	info.calibration->end = info.calibration->start;
	info.classes = {{EDC_ID_SCHED_SWITCH, "sched_switch", "sched", 100},
			{EDC_ID_SYS_ENTER, "sys_enter", "syscall", 100}};
	return info;
}

std::string why_not(const std::function<void(analyze::RecordingInfo &)> &change)
{
	analyze::RecordingInfo info = calibrated();
	change(info);
	return cost::virtual_cost(info, {}).why_not;
}

} // namespace

TEST_CASE("virtual cost: by class, with what it may be in other code than the calibration's")
{
	analyze::RecordingInfo info = calibrated();
	const cost::VirtualCost cost = cost::virtual_cost(info, {});
	REQUIRE(cost.why_not.empty());
	const auto &call = cost.by_class[EDC_ID_SYS_ENTER];
	CHECK(call[0].before + call[0].after < 40);
	CHECK(call[1].before + call[1].after >= 50);
	CHECK(call[2].before + call[2].after > 60 * 1.1);
	CHECK(cost.by_class[EDC_ID_MINOR_FAULT][1].before == 0); // which there was none of
	info.calibration->end.reset();
	const cost::VirtualCost start_only = cost::virtual_cost(info, {});
	REQUIRE(start_only.why_not.empty());
	CHECK(start_only.by_class[EDC_ID_SYS_ENTER][0].after < call[0].after);
	CHECK(start_only.by_class[EDC_ID_SYS_ENTER][1].after == call[1].after);
	CHECK(start_only.by_class[EDC_ID_SYS_ENTER][2].after > call[2].after);
	CHECK(start_only.reasons != cost.reasons);
	info.calibration->start["fault"].off_difference = 0.1;
	CHECK(cost::virtual_cost(info, {}).by_class[EDC_ID_SYS_ENTER][2].after >
	      start_only.by_class[EDC_ID_SYS_ENTER][2].after);
	info.judgements = {{EDC_ID_SYS_ENTER, 10}};
	CHECK(cost::virtual_cost(info, {}).by_class[EDC_ID_SYS_ENTER][1].after == call[1].after + 5);
	// A sample that nobody asked for: the mean of all, and its interrupt.
	info.stacks.of_command = true;
	info.stacks.taken_at_timer = 100;
	info.stacks.spent_at_timer_ns = 500'000;
	info.stacks.timer_interrupt_ns = 4'000;
	const cost::ProbeTime sample = cost::virtual_cost(info, {}).by_class[EDC_ID_STACK_SAMPLE][1];
	CHECK(sample.before == 2'000);
	CHECK(sample.after == 7'000);
}

TEST_CASE("virtual cost: unknown, with the reason")
{
	using Info = analyze::RecordingInfo;
	CHECK(why_not([](Info &) {}) == "");
	CHECK(why_not([](Info &info) { info.present = false; }).find("recording of monitor") != std::string::npos);
	CHECK(why_not([](Info &info) { info.state = "incomplete"; }).find("killed") != std::string::npos);
	CHECK(why_not([](Info &info) { info.recorder.pid = 0; }).find("older monitor") != std::string::npos);
	CHECK(why_not([](Info &info) { info.statistics.emplace(); }).find("record without --statistics") !=
	      std::string::npos);
	CHECK(why_not([](Info &info) { info.calibration.reset(); }).find("--no-calibration") != std::string::npos);
	CHECK(why_not([](Info &info) { info.classes[0].discarded = 3; }).find("3 events were lost") == 0);
	CHECK(why_not([](Info &info) { info.misses.end["x"] = 1; }).find("refused") != std::string::npos);
	CHECK(why_not([](Info &info) { info.other_recorders = {5}; }).find("another recording") == 0);
	CHECK(why_not([](Info &info) { info.filter.command = true; }).find("without -p") != std::string::npos);
	CHECK(why_not([](Info &info) { info.stacks.spent_at_timer_ns = 1; }).find("--stacks") != std::string::npos);
	CHECK(why_not([](Info &info) { info.functions.chosen = {{"f"}}; }).find("--functions") != std::string::npos);
	CHECK(why_not([](Info &info) {
		      (*info.calibration->end)["sched"] = {80, 90, 95, 0.01, 22};
	      }).find("differ") != std::string::npos);
	CHECK(why_not([](Info &info) { info.calibration->start["sched"].off_difference = 0.3; }).find("30 %") !=
	      std::string::npos);
	// Ranges need not know it as well as a figure does.
	CHECK(why_not([](Info &info) { (*info.calibration->end)["sched"] = {61, 61, 70, 0.1, 22}; }) == "");
	// Of a family that did not occur it does not matter.
	CHECK(why_not([](Info &info) { (*info.calibration->end)["fault"] = {80, 90, 95, 0.01, 22}; }) == "");
}

} // namespace test_virtual_times
