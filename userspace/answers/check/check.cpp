// SPDX-License-Identifier: MIT
#include "check.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "answers/selection/thread_selection.h"
#include "clock.h"
#include "conservation.h"
#include "counts.h"
#include "flight.h"
#include "kernel_comparison.h"
#include "kernel_totals.h"
#include "order.h"
#include "passes.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/fetched_packets.h"
#include "states.h"
#include "statistics.h"
#include "throttled.h"
#include "user_times.h"
#include "witness.h"

namespace monitor::check {
namespace {

constexpr std::size_t kinds_of_contradiction = 5;

struct ContradictionText {
	const char *id, *none, *some;
	std::initializer_list<const char *> classes; // of which the trace must have events
};

constexpr ContradictionText contradiction_texts[kinds_of_contradiction] = {
    {"running_thread",
     "the previous thread of every switch is the one that ran",
     "switches name a previous thread that did not run",
     {"sched_switch"}},
    {"one_cpu",
     "no thread runs on two CPUs at a time",
     "times a thread is switched in while it runs elsewhere",
     {"sched_switch"}},
    {"syscall_entries",
     "every system call's entry is followed by its exit",
     "system calls enter before the last one exited",
     {"sys_enter"}},
    {"syscall_exits", "every system call's exit follows its entry", "system calls exit without an entry", {"sys_exit"}},
    {"interrupt_pairs",
     "interrupt entries and exits pair",
     "interrupt entries and exits do not pair",
     {"irq_handler_entry", "softirq_entry", "local_timer_entry"}},
};

// Judged at the end, as contradictions are expected of threads that turn out to be hidden from tracing.
class Contradictions : public Observer {
public:
	Contradictions(const trace::Clock &clock, const RecordingInfo &info, std::uint64_t begin)
	    : clock_(clock), info_(info), begin_(begin)
	{
	}

	void contradiction(Contradiction what, std::uint64_t time, std::uint32_t cpu, const Thread &thread) override
	{
		Seen &seen = seen_[static_cast<std::size_t>(what)][&thread];
		if (seen.count++ == 0) {
			seen.time = time;
			seen.cpu = cpu;
		}
	}

	void judge(Statements &statements) const
	{
		for (std::size_t i = 0; i < kinds_of_contradiction; ++i)
			statements.push_back(judge_one(seen_[i], contradiction_texts[i]));
	}

private:
	struct Seen {
		std::uint64_t count = 0, time = 0;
		std::uint32_t cpu = 0;
	};
	using ByThread = std::unordered_map<const Thread *, Seen>;

	Statement judge_one(const ByThread &all, const ContradictionText &text) const
	{
		std::uint64_t count = 0;
		const ByThread::value_type *first = nullptr;
		for (const auto &each : all) {
			if (each.first->hidden)
				continue;
			count += each.second.count;
			if (!first || each.second.time < first->second.time)
				first = &each;
		}
		if (!count && !has_any(text.classes))
			return Statement(text.id, Verdict::not_witnessed, "{}: there are no such events", text.none);
		if (!count)
			return {text.id, Verdict::holds, text.none};
		const auto &[thread, seen] = *first;
		return Statement(text.id, Verdict::fails, "{} {}, first at {:.9f} s on CPU {}, thread {}", count,
				 text.some, static_cast<double>(clock_.since_ns(begin_, seen.time)) / 1e9, seen.cpu,
				 thread->tid);
	}

	bool has_any(std::initializer_list<const char *> classes) const
	{
		return std::ranges::any_of(info_.classes, [&](const ClassCounts &counts) {
			return counts.written() > 0 && std::ranges::find(classes, counts.name) != classes.end();
		});
	}

	std::array<ByThread, kinds_of_contradiction> seen_;
	const trace::Clock &clock_;
	const RecordingInfo &info_;
	std::uint64_t begin_;
};

void judge_hidden(const ThreadFold &fold, Statements &statements)
{
	const auto example = std::ranges::find_if(fold.threads(), &Thread::hidden);
	if (example != fold.threads().end())
		statements.add("hidden_threads", Verdict::not_checked,
			       "this machine's kernel hides {} threads from tracing (of process {}, {}): their events "
			       "are missing, and the kernel's figures are compared with that allowance",
			       fold.hidden_threads(), example->tgid, fold.leader(*example).name);
}

// `torn`: a stream of the recorder's own that lacks packets, although nothing in these is ever lost; "": none.
void judge_streams(const trace::Trace &trace, const std::string &torn, Statements &statements)
{
	const auto &problems = trace.problems();
	if (!torn.empty())
		statements.add(
		    "streams", Verdict::fails,
		    "packets of the stream {} are missing or out of sequence: the recorder loses none of its own",
		    torn);
	else if (problems.empty())
		statements.add("streams", Verdict::holds, "{} streams are whole: packets in sequence, times sorted",
			       trace.streams().size());
	for (const trace::Problem &problem : problems.kept())
		statements.add("streams", Verdict::fails, problem.text());
	if (problems.total() > problems.kept().size())
		statements.add("streams", Verdict::fails, "and {} more problems of this kind",
			       problems.total() - problems.kept().size());
}

// For a partly fetched copy.
void judge_parts(const trace::Trace &trace, Statements &statements)
{
	for (const trace::FetchedPart &part : trace::fetched_parts(trace))
		statements.add("fetched", Verdict::not_checked,
			       part.text() +
				   (part.fetched.has_ended ? "" : ", and its recording went on at that time"));
}

void judge_wholeness(const trace::Trace &trace, const RecordingInfo &info, const std::string &torn,
		     Statements &statements)
{
	if (!info.present)
		statements.add(
		    "complete", Verdict::fails,
		    "there is no readable .monitor/recording.json: whether the recording was completed is unknown");
	else
		statements.add("complete",
			       info.complete()   ? Verdict::holds
			       : info.statistics ? Verdict::not_checked
						 : Verdict::fails,
			       info.complete()   ? "the recording was completed (" + info.end_reason + ")"
			       : info.statistics ? "the recording is still running, or it was killed"
						 : "the recording is incomplete: it was killed, or its disk was full");
	if (has_contradictory_ends(trace, info))
		statements.add("complete", Verdict::fails,
			       "start and end of the recording in recording.json contradict the times of the tokens");
	judge_parts(trace, statements);
	judge_streams(trace, torn, statements);
}

// Without CPUs that were offline at some time: their counters have ended.
std::vector<CounterReading> lasting_readings(const std::vector<CounterReading> &readings, const ThreadFold &threads)
{
	std::vector<CounterReading> lasting;
	std::ranges::copy_if(readings, std::back_inserter(lasting), [&](const CounterReading &reading) {
		return reading.cpu >= threads.cpus().size() || !threads.cpus()[reading.cpu].was_offline;
	});
	return lasting;
}

// For each counter, threads, idle and unknown must add up to the difference of the recorder's readings at start and
// end.
void judge_counters(const CounterFold &fold, const ThreadFold &threads, Statements &statements)
{
	const CountersInfo &info = fold.info();
	if (fold.contradictions())
		statements.add("counters", Verdict::fails, "{} readings of counters step back, or are not ratios",
			       fold.contradictions());
	if (info.ratio_bits)
		return statements.add("counters", Verdict::not_checked,
				      "ratios were recorded, not counts: there is nothing to sum up and compare");
	const auto same_counter = [](const CounterReading &a, const CounterReading &b) {
		return a.cpu == b.cpu && a.set == b.set;
	};
	const std::vector<CounterReading> start = lasting_readings(info.start, threads),
					  end = lasting_readings(info.end, threads);
	if (!std::ranges::equal(start, end, same_counter) || end.empty())
		return statements.add("counters", Verdict::not_checked,
				      "not every counter was read both at the start and at the end");
	CounterSums sum = fold.none();
	for (const auto &[number, part] : fold.parts()) {
		sum += part.unknown;
		for (const auto &[thread, cgroups] : part.threads)
			sum += part.of(*thread);
		for (const auto &[cpu, counted] : part.cpus)
			if (cpu < threads.cpus().size() && threads.cpus()[cpu].was_offline)
				sum -= counted;
	}
	const bool is_all = std::ranges::none_of(threads.cpus(), &Cpu::was_offline);
	std::vector<std::uint64_t> read(info.counters.size());
	for (const auto &[readings, sign] : {std::pair(&end, 1), std::pair(&start, -1)})
		for (const CounterReading &reading : *readings)
			for (std::size_t i = 0; reading.set < info.sets.size() && i < reading.values.size() &&
						i < info.sets[reading.set].count;
			     ++i)
				read[info.sets[reading.set].first + i] +=
				    static_cast<std::uint64_t>(sign) * reading.values[i];
	for (std::size_t i = 0; i < read.size(); ++i)
		statements.add("counters", read[i] == sum.counts[i] ? Verdict::holds : Verdict::fails,
			       "{}: the recorder read {} on all CPUs{}, threads, idle and unknown have {}",
			       info.counters[i].name, read[i], is_all ? "" : " that stayed online", sum.counts[i]);
}

// `own` of the events are the recorder's.
Statement judge_generic_ctf_losses(const trace::Trace &trace, std::uint64_t events, std::uint64_t own,
				   const trace::Losses &losses)
{
	const std::string read = fmt::format("{} events were read{}", events,
					     own ? fmt::format(", {} of them the recorders' own", own) : "");
	if (losses.gaps && !trace::fetched_parts(trace).empty())
		return Statement("losses", Verdict::not_checked,
				 "{}; in {} places more are missing, which were not fetched or are lost", read,
				 losses.gaps);
	if (losses.gaps)
		return Statement("losses", Verdict::fails, "{}; {}{} are lost, in {} places", read,
				 losses.all_counted ? "" : "more than ", losses.lost, losses.gaps);
	if (!trace.problems().empty())
		return {"losses", Verdict::fails, read + "; how many were in the damaged parts is unknown"};
	return {"losses", Verdict::holds, read + ", and none is reported lost"};
}

// What was opened per CPU at the start is missing on a CPU that came online later, unless the recorder opened it there.
std::vector<const char *> missing_of_late_cpu(const RecordingInfo &info, const std::vector<std::string> &opened)
{
	std::vector<const char *> missing;
	const auto add = [&](bool is_recorded, const char *event, const char *what) {
		if (is_recorded && !std::ranges::count(opened, event))
			missing.push_back(what);
	};
	add(info.attached("minor_fault"), "minor_fault", "completions of minor page faults");
	add(info.attached("major_fault"), "major_fault", "completions of major page faults");
	add(std::ranges::any_of(info.classes, [](const ClassCounts &counts) { return counts.name == "sample"; }),
	    "sample", "samples");
	add(info.stacks.timer_hz != 0, "stack_sample", "stacks by time");
	add(info.attached("stack_sample"), "mappings", "mappings made there");
	return missing;
}

// CPUs that came online later, or came back, which ended what was opened for them.
void judge_late_cpus(const ThreadFold &fold, const RecordingInfo &info, Statements &statements)
{
	std::map<std::uint32_t, std::vector<std::string>> opened_on;
	for (const LateCpu &late : info.late_cpus)
		opened_on[late.cpu] = late.opened;
	for (std::uint32_t number = 0; number < fold.cpus().size(); ++number) {
		const Cpu &cpu = fold.cpus()[number];
		const auto opened = opened_on.find(number);
		const bool came_online = opened != opened_on.end() || (cpu.offline && !cpu.is_offline);
		if (!came_online || cpu.idle + cpu.usage.cpu() == 0)
			continue;
		const std::vector<const char *> missing =
		    missing_of_late_cpu(info, opened != opened_on.end() ? opened->second : std::vector<std::string>());
		const std::string since = fmt::format(
		    "CPU {} was offline {} and came online later: ", number,
		    std::ranges::count(info.offline_at_start, number) ? "when the recording started" : "for a time");
		if (info.counters) // recorders do not reopen them
			statements.add("late_cpu", Verdict::not_witnessed,
				       since + "what its counters would have counted since then is unknown");
		if (missing.empty() && !info.counters)
			statements.add("late_cpu", Verdict::holds,
				       since + "what is opened for each CPU was opened there, too");
		else if (!missing.empty())
			statements.add("late_cpu", Verdict::fails,
				       "{}what is opened for each CPU at the start is missing there since then: {}",
				       since, fmt::join(missing, ", "));
	}
}

// For another tracer's trace: whether all of it can be read, and its losses.
Statements check_generic_ctf(trace::Trace &trace)
{
	std::uint64_t events = 0, own = 0;
	trace::Losses losses;
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    ++events;
		    own += event.is_control();
	    },
	    [&](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t lost) { losses.add(lost); });
	Statements statements;
	judge_parts(trace, statements);
	judge_streams(trace, "", statements);
	statements.push_back(judge_generic_ctf_losses(trace, events, own, losses));
	statements.add("recording", Verdict::not_checked,
		       "it is not a single recording made by monitor: there is nothing else to compare it with");
	return statements;
}

void judge_kernel_figures(const KernelTotals &totals, const KernelComparison &threads, const RecordingInfo &info,
			  bool lossless, Statements &statements)
{
	if (info.card == "user")
		statements.add("kernel_figures", Verdict::not_checked,
			       "kernel events were not recorded, nothing to compare");
	else if (info.flight)
		statements.add("kernel_figures", Verdict::not_checked,
			       "a snapshot has a part of what the kernel counts while a flight recorder runs");
	else if (!info.kernel_counts.start || !info.kernel_counts.end)
		statements.add("kernel_figures", info.complete() ? Verdict::fails : Verdict::not_checked,
			       "the kernel's own figures at start and end are not in this trace, nothing to compare");
	else if (!lossless)
		statements.add(
		    "kernel_figures", Verdict::not_checked,
		    info.has_only_phases()
			? "all probes were detached at times to calibrate, so the number of tokens is not compared "
			  "with the kernel's own figures"
			: fmt::format("tokens were {}, so their number is not compared with the kernel's own figures",
				      info.paused() && !info.lost() ? "not stored in pauses" : "lost"));
	else {
		totals.judge(threads.any_hidden() || threads.any_offline(), statements);
		threads.judge(statements);
	}
}

void judge_left_out(const RecordingInfo &info, Statements &statements)
{
	if (!info.unknown_text().empty())
		statements.add("left_out", Verdict::not_checked, info.unknown_text());
}

// For a partly fetched trace.
void judge_fetched_part(const trace::Trace &trace, const ThreadFold &fold, const Contradictions &contradictions,
			const ClockBound &bound, const RecordingInfo &info, Statements &statements)
{
	statements.add("conservation", Verdict::not_checked,
		       "only a part of the trace is here, so its events are not compared with what the probes and the "
		       "kernel counted");
	contradictions.judge(statements);
	judge_hidden(fold, statements);
	if (!trace.is_empty())
		judge_clock(bound, trace.description().clock, info, trace.begin_time(), statements);
}

// For a completed recording.
void judge_recorder(const trace::Trace &trace, const RecordingInfo &info, const RecorderPasses &passes,
		    const std::optional<FlightCheck> &flight, Statements &statements)
{
	passes.judge(trace, info, statements);
	const auto [begin, end] = window_of(trace, info);
	if (const std::uint64_t elapsed_ns = trace.description().clock.to_ns(end > begin ? end - begin : 0);
	    !info.has_possible_cpu_time(elapsed_ns))
		statements.add("recorder_cpu", Verdict::fails,
			       "the recorder's CPU time, {} ns, is more than its CPUs had in {} ns",
			       info.recorder.cpu_ns, elapsed_ns);
	if (info.had_impossible_costs)
		statements.add("costs", Verdict::fails,
			       "recording.json has costs of more than a second for an event: they are not believed");
	if (flight)
		flight->judge(info, statements);
}

Statements judge_in_one_pass(trace::Trace &trace, const RecordingInfo &info)
{
	if (trace.is_generic_ctf())
		return check_generic_ctf(trace);
	if (info.statistics) {
		Statements statements;
		judge_statistics(trace, info, statements);
		judge_wholeness(trace, info, "", statements);
		judge_left_out(info, statements);
		return statements;
	}
	const trace::Clock &clock = trace.description().clock;
	ThreadFold fold(trace, info);
	Contradictions contradictions(clock, info, trace.begin_time());
	fold.add(contradictions);
	Conservation conservation;
	RecorderPasses passes;
	KernelComparison kernel(fold.kinds(), clock, info);
	fold.add(kernel);
	KernelTotals totals(trace.description(), fold.kinds(), info);
	UserTimes user_times(fold);
	fold.add(user_times);
	const std::map<std::uint64_t, std::string> cgroup_paths = selection::cgroup_paths(trace.directory());
	ThrottledTime throttled(fold, info, cgroup_paths);
	fold.add(throttled);
	std::optional<FlightCheck> flight;
	if (info.flight)
		flight.emplace(trace.description());
	ClockBound bound(trace.description(), info);
	std::optional<CounterFold> counters;
	if (info.counters && (!info.counters->sets.empty() || info.counters->ratio_bits)) {
		counters.emplace(trace.description(), *info.counters);
		fold.add(*counters);
	}
	std::string torn;
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    conservation.event(event);
		    passes.event(event);
		    if (flight)
			    flight->event(event);
		    user_times.event(event);
		    fold.event(event);
		    throttled.after(event);
		    kernel.event(event);
		    totals.event(event);
		    if (event.stream->is_recorder())
			    bound.event(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    conservation.gap(stream, lost);
		    if (stream.is_recorder())
			    torn = stream.name;
		    fold.gap(stream, from, to);
		    user_times.gap(stream);
	    });
	fold.finish();
	if (counters)
		counters->finish(fold);

	Statements statements;
	judge_wholeness(trace, info, torn, statements);
	if (!trace::fetched_parts(trace).empty()) {
		judge_fetched_part(trace, fold, contradictions, bound, info, statements);
		return statements;
	}
	conservation.judge(info, fold.hidden_threads() > 0 || !info.has_tokens, statements);
	if (info.complete())
		judge_recorder(trace, info, passes, flight, statements);
	judge_left_out(info, statements);
	const bool is_lossless = info.complete() && info.lost() == 0 && fold.gaps() == 0;
	judge_kernel_figures(totals, kernel, info, is_lossless, statements);
	throttled.judge(clock, is_lossless, statements);
	judge_witness(info, clock, statements);
	contradictions.judge(statements);
	if (counters)
		judge_counters(*counters, fold, statements);
	judge_hidden(fold, statements);
	judge_late_cpus(fold, info, statements);
	judge_clock(bound, clock, info, trace.begin_time(), statements);
	user_times.judge(bound.largest(), clock, statements);
	return statements;
}

} // namespace

const char *word(Verdict verdict)
{
	switch (verdict) {
	case Verdict::holds:
		return "ok";
	case Verdict::fails:
		return "FAILS";
	case Verdict::not_witnessed:
		return "not witnessed";
	case Verdict::not_checked:
		break;
	}
	return "not checked";
}

Statements judge(trace::Trace &trace, const RecordingInfo &info)
{
	Statements statements = judge_in_one_pass(trace, info);
	judge_counts(trace, info, statements);
	judge_states(trace, info, statements);
	if (trace.machines().size() > 1)
		judge_order(trace, statements);
	return statements;
}

} // namespace monitor::check
