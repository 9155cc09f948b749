// SPDX-License-Identifier: MIT
#include "measure.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "base/build_suffixes.h"
#include "call_times.h"
#include "reading/activities/totals.h"
#include "reading/activities/tracker.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/feed.h"
#include "stack_rows.h"

namespace monitor::diff {
namespace {

using analyze::Mode;
using analyze::Thread;

// Amount::time_ns holds ticks until all threads of a row are added.
void add(Rows &rows, RowKey key, std::uint64_t ticks, bool leads, std::optional<std::uint64_t> count = {})
{
	if (ticks == 0 && count.value_or(0) == 0)
		return;
	Amount &amount = rows[std::move(key)];
	amount.time_ns += ticks;
	amount.leads = leads;
	if (count)
		amount.count = amount.count.value_or(0) + *count;
}

std::uint64_t difference_or_0(std::uint64_t from, std::uint64_t part)
{
	return from - std::min(from, part);
}

std::string or_unknown(const std::string &name)
{
	return name.empty() ? "?" : name;
}

// The kernel runs work in any kworker: which one is arbitrary.
std::string name_of_thread(const Thread &thread)
{
	return thread.is_kernel && thread.name.starts_with("kworker/") ? "kworker" : or_unknown(thread.name);
}

RowKey key_of(const analyze::ThreadFold &fold, const analyze::RecordingInfo &info, const Plan &plan,
	      const Thread &thread)
{
	if (info.filtering() && thread.filtered)
		return {Item::user, false, "other", "other", ""};
	return {Item::user, is_ours(thread, plan.ours), name_of_thread(fold.leader(thread)), name_of_thread(thread),
		""};
}

std::string call_name(const analyze::ThreadFold &fold, std::uint32_t call)
{
	if (call == EDC_NO_SYSCALL)
		return "";
	if (analyze::is_stop(call)) // "in" it
		return call == analyze::stopped_call ? "a stop by a signal" : "a stop by its tracer";
	const std::string label = fold.kinds().syscall_label(call);
	return label.empty() ? fmt::format("call {}", call) : label;
}

Item item_of(CallTimes::EndedBy by)
{
	using EndedBy = CallTimes::EndedBy;
	return by == EndedBy::own ? Item::asleep_for_own : by == EndedBy::recorder ? Item::before_start : Item::asleep;
}

class ThreadRows {
public:
	ThreadRows(const analyze::ThreadFold &fold, const Plan &plan, const analyze::Recorded &recorded, Rows &rows)
	    : fold_(fold), plan_(plan), recorded_(recorded), rows_(rows)
	{
	}

	void add_cpu(RowKey key, const Thread &thread, const CallTimes::ThreadTimes &of)
	{
		const auto add_item = [&](Item item, std::uint64_t ticks, const std::string &name = "",
					  std::optional<std::uint64_t> count = {}) {
			key.item = item;
			key.name = name;
			add(rows_, key, ticks, item == Item::cpu_time || plan_.same_modes, count);
		};
		std::uint64_t kernel = thread.usage[Mode::kernel], unattributed = thread.usage[Mode::unattributed];
		const auto take = [](std::uint64_t &from, std::uint64_t ticks) {
			const std::uint64_t taken = std::min(from, ticks);
			from -= taken;
			return taken;
		};
		for (const auto &[call, part] : of.calls) {
			const std::uint64_t ticks = take(kernel, part.kernel) + take(unattributed, part.path);
			add_item(Item::in_call, ticks, call_name(fold_, call), part.count);
		}
		add_item(Item::faults, take(kernel, of.faults.kernel) + take(unattributed, of.faults.path));
		add_item(Item::kernel, kernel);
		add_item(Item::user, thread.usage[Mode::user]);
		add_item(Item::irq, thread.usage[Mode::irq]);
		add_item(Item::softirq, thread.usage[Mode::softirq]);
		add_item(Item::unattributed, unattributed);
		add_item(Item::unknown, thread.usage[Mode::unknown]);
		if (!plan_.same_modes)
			add_item(Item::cpu_time, thread.usage.cpu());
	}

	void add_waits(RowKey key, const Thread &thread, const CallTimes::ThreadTimes &of)
	{
		if (!recorded_.wakings)
			return;
		key.item = Item::ready;
		const bool is_ours = key.of_command || plan_.ours == Ours::nobody;
		const std::uint64_t throttled = thread.usage.throttled;
		add(rows_, key, thread.usage.waiting + (plan_.separate_throttled ? 0 : throttled), is_ours);
		key.item = Item::throttled;
		add(rows_, key, plan_.separate_throttled ? throttled : 0, is_ours);
		for (const auto &[sleep, part] : of.sleeps) {
			const CallTimes::EndedBy by = sleep.ended_by;
			const bool leads = key.of_command && by == CallTimes::EndedBy::other && plan_.same_modes;
			key.item = item_of(by);
			key.name = by == CallTimes::EndedBy::recorder ? "" : call_name(fold_, sleep.call);
			add(rows_, key, part.ticks, leads, part.count);
		}
	}

private:
	const analyze::ThreadFold &fold_;
	const Plan &plan_;
	const analyze::Recorded &recorded_;
	Rows &rows_;
};

void add_threads(Measured &measured, Rows &rows, const analyze::ThreadFold &fold, const analyze::RecordingInfo &info,
		 const trace::Clock &clock, const Plan &plan, const CallTimes &times)
{
	ThreadRows thread_rows(fold, plan, measured.recorded, rows);
	const std::unordered_set<const Thread *> ran = fold.scheduled_threads();
	std::uint64_t cpu = 0, of_command = 0;
	for (const Thread &thread : fold.threads()) {
		if (thread.hidden && thread.has_run)
			measured.hidden_commands.insert(or_unknown(fold.leader(thread).name));
		const bool only_waited =
		    !ran.contains(&thread) && thread.usage.waiting + thread.usage.throttled != 0; // until the end
		if (thread.tid == 0 || (thread.hidden && thread.has_run) || !(ran.contains(&thread) || only_waited))
			continue;
		const RowKey key = key_of(fold, info, plan, thread);
		cpu += thread.usage.cpu();
		if (!key.of_command && !plan.same_processes)
			continue;
		const CallTimes::ThreadTimes *of = times.find(thread);
		thread_rows.add_cpu(key, thread, of ? *of : CallTimes::ThreadTimes());
		if (!(info.filtering() && thread.filtered))
			thread_rows.add_waits(key, thread, of ? *of : CallTimes::ThreadTimes());
		of_command += key.of_command ? thread.usage.cpu() : 0;
	}
	measured.cpu_ns = clock.to_ns(cpu);
	measured.command_cpu_ns = clock.to_ns(of_command);
	std::uint64_t unknown = 0;
	for (const analyze::Cpu &each : fold.cpus())
		unknown += each.usage[Mode::unknown];
	measured.unknown_ns = clock.to_ns(unknown);
}

void add_activities(Rows &rows, const activities::Totals &totals, const Plan &plan)
{
	for (const activities::TotalsRow &row : totals.rows()) {
		const bool of_command = plan.ours == Ours::command && row.in_tree;
		if (of_command || plan.same_processes)
			add(rows,
			    {Item::activity, of_command, or_unknown(row.parts[1].name), "",
			     without_build_suffixes(row.parts[0].text), 0, row.parts[0].text},
			    row.exclusive, true, row.count);
	}
}

void summarize(Measured &measured, trace::Trace &trace, const analyze::RecordingInfo &info,
	       const analyze::ThreadFold &fold, const analyze::ClockBound &bound, const trace::Losses &losses)
{
	const report::Summary &summary = measured.summary = report::summarize(trace, info, bound, fold, losses);
	measured.problems = trace.problems();
	measured.is_whole = (summary.complete || trace.is_generic_ctf()) && summary.lost == 0u &&
			    summary.misses.value_or(0) == 0 && summary.claimed_lost.value_or(0) == 0 &&
			    fold.gaps() == 0 && !info.has_partial() && info.functions.budget.left_out.empty();
}

} // namespace

Measured measure(trace::Trace &trace, const Part &part, const MeasureOptions &options)
{
	const Plan &plan = options.plan;
	const trace::Clock &clock = trace.description().clock;
	analyze::RecordingInfo info = analyze::recording_of(trace);
	for (const auto &[name, ns] : plan.edges_ns)
		info.cost_ns[name] = ns;
	analyze::Scope scope;
	scope.range = analyze::whole_periods(trace, info, range_of(part, trace, analyze::window_of(trace, info)));
	analyze::ThreadFold fold(trace, info, scope);
	CallTimes times(plan, info);
	fold.add(static_cast<analyze::Observer &>(times));
	fold.add(static_cast<analyze::TimeObserver &>(times));
	activities::Tracker tracker(analyze::input_of(trace, info), fold, {});
	activities::Totals totals(
	    {activities::ActivitySource::program, {activities::Label::activity, activities::Label::process}}, fold,
	    tracker);
	const bool has_activities = plan.with_activities && !tracker.names().empty();
	tracker.add(totals);
	if (has_activities)
		fold.add(tracker);
	analyze::StackFold stacks;
	const bool with_stacks = plan.with_stacks && plan.same_processes;
	if (with_stacks)
		fold.add(stacks);
	analyze::ClockBound bound(trace.description(), info);
	analyze::PeriodicCheck periodic;
	const auto begin = static_cast<double>(trace.first_time()),
		   length = std::max(static_cast<double>(trace.end_time()) - begin, 1.0);
	const trace::Losses losses = analyze::feed(trace, fold, [&](const trace::Event &event) {
		if (event.stream->is_recorder())
			bound.event(event);
		if (options.progress && periodic.is_due())
			options.progress((static_cast<double>(event.time) - begin) / length);
	});
	tracker.finish();

	Measured measured;
	measured.name = part.text();
	measured.recorded = analyze::recorded(trace, info, fold.kinds());
	measured.has_activities = has_activities;
	measured.has_samples = with_stacks && plan.same_samples && info.stacks.timer_hz != 0;
	measured.has_sleep_stacks = with_stacks && stacks.any() && measured.recorded.wakings &&
				    report::was_recorded(report::StackBy::offcpu, info);
	measured.elapsed_ns =
	    clock.to_ns(difference_or_0(fold.window_end(), std::max(fold.window_begin(), times.command_start())));
	Rows rows;
	add_threads(measured, rows, fold, info, clock, plan, times);
	if (has_activities)
		add_activities(rows, totals, plan);
	for (auto &[key, amount] : rows)
		amount.time_ns = clock.to_ns(amount.time_ns);
	if (measured.has_samples || measured.has_sleep_stacks) {
		report::NamedStacks named(part.directory, clock, info, fold, stacks, {});
		if (measured.has_samples)
			add_samples(rows, named, clock, plan.ours, info.stacks.timer_hz);
		if (measured.has_sleep_stacks)
			add_sleeps(rows, named, clock, plan.ours, times);
	}
	measured.rows = std::move(rows);
	summarize(measured, trace, info, fold, bound, losses);
	return measured;
}

} // namespace monitor::diff
