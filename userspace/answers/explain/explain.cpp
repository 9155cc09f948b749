// SPDX-License-Identifier: MIT
#include "explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "activity.h"
#include "answers/path/path_fold.h"
#include "answers/path/subject.h"
#include "answers/report/summary.h"
#include "answers/report/table.h"
#include "base/error.h"
#include "fired.h"
#include "functions.h"
#include "machine_evidence.h"
#include "path_evidence.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/recorded.h"
#include "reading/cost/probe_cost.h"
#include "rules.h"

namespace monitor::explain {
namespace {

void expect_events(const trace::Trace &trace, const analyze::RecordingInfo &info)
{
	if (trace.is_empty())
		throw Error("this trace has no events, so there is nothing to explain");
	if (!info.has_tokens || info.statistics)
		throw Error("this recording has no events, only sums of them, and a path leads through events: record "
			    "without --no-tokens and --statistics");
	if (info.card == "user")
		throw Error("this trace has only programs' own events (--user-only), none of the kernel's: "
			    "`monitor report DIR activities` shows what they say");
}

class Gathering {
public:
	Gathering(trace::Trace &trace, const Question &question, const Thresholds &thresholds)
	    : trace_(trace), question_(question), thresholds_(thresholds), info_(analyze::recording_of(trace)),
	      fired_(question.selection.is_all() ? fired_for(trace, info_) : std::nullopt), selection_(selection()),
	      scope_(scope()), fold_(trace, info_, {scope_.range, {}, {}}), kinds_(fold_.kinds()),
	      recorded_(analyze::recorded(trace, info_, kinds_)), path_fold_(trace, info_, fold_, has_path()),
	      stretches_(path_fold_.stretches()), priorities_(trace.description(), path_fold_.fold()),
	      reclaim_(trace.description(), info_, path_fold_.fold()),
	      choice_(path_fold_.fold(), info_, selection_, scope_, stretches_)
	{
		if (!kinds_.has(analyze::EventMeaning::sched_switch))
			throw Error(
			    "this trace has no sched_switch events of a kernel, so it does not show what time was "
			    "spent on; monitor info counts its events");
		if (has_path())
			path::expect_switches(info_, kinds_);
		if (info_.attached("stack_sample"))
			fold_.add(stacks_);
		path_fold_.observe([this](const trace::Event &event) {
			priorities_.after(event);
			reclaim_.after(event);
		});
	}

	Evidence gather();

private:
	// The user's; without one, of a trigger's snapshot the thread that made it fire.
	selection::Selection selection() const;
	analyze::Scope scope() const;
	bool has_path() const;
	const trace::Clock &clock() const { return trace_.description().clock; }
	std::uint64_t window() const { return fold_.window_end() - fold_.window_begin(); }
	report::Summary read();
	std::optional<double> min_cost(const report::Summary &summary) const;
	void count(std::uint64_t id);
	void add_path(Evidence &evidence);
	void add_machine(Evidence &evidence);
	void add_quality(Evidence &evidence, const report::Summary &summary) const;
	void add_not_recorded(Evidence &evidence) const;
	bool is_of_subject(const analyze::Thread &thread) const { return !subject_.start || subject_.includes(thread); }

	trace::Trace &trace_;
	const Question &question_;
	const Thresholds &thresholds_;
	const analyze::RecordingInfo info_;
	const std::optional<FiredFor> fired_;
	const selection::Selection selection_;
	const analyze::Scope scope_;
	analyze::ThreadFold fold_;
	const analyze::EventKinds &kinds_;
	const analyze::Recorded recorded_;
	path::PathFold path_fold_;
	const path::Stretches &stretches_;
	Priorities priorities_;
	Reclaim reclaim_;
	const path::SubjectChoice choice_;
	path::Subject subject_;                       // if there is a path
	std::vector<std::uint64_t> events_in_window_; // by class id
	analyze::StackFold stacks_;
};

// The process of -p may also have been recorded without wake-ups: then the machine is explained.
bool Gathering::has_path() const
{
	return path::records_command(info_) || !selection_.threads.is_all() ||
	       (path::recorded_process(info_) && info_.has_program("sched_waking"));
}

selection::Selection Gathering::selection() const
{
	selection::Selection selection = question_.selection;
	if (fired_)
		selection.threads.tids = {fired_->tid};
	return selection;
}

analyze::Scope Gathering::scope() const
{
	analyze::Scope scope = selection_.scope(trace_, info_);
	if (fired_)
		scope.range = fired_->range;
	return scope;
}

void Gathering::count(std::uint64_t id)
{
	constexpr std::uint64_t max_id = 1 << 12;
	if (id >= events_in_window_.size())
		events_in_window_.resize(std::min(id + 1, max_id));
	if (id < max_id)
		++events_in_window_[id];
}

report::Summary Gathering::read()
{
	analyze::ClockBound bound(trace_.description(), info_);
	const trace::Losses losses = analyze::feed(trace_, fold_, [&](const trace::Event &event) {
		if (event.stream->is_recorder())
			bound.event(event);
		else if (scope_.includes_time(event.time))
			count(event.cls->id);
		path_fold_.event(event);
	});
	path_fold_.finish();
	return report::summarize(trace_, info_, bound, fold_, losses);
}

// The path is found backwards, after the first reading: the modes of what is on it need one more.
void Gathering::add_path(Evidence &evidence)
{
	const path::IsInside is_inside = choice_.inside(subject_);
	path::Paths paths(stretches_);
	paths.add_critical(subject_.last, subject_.range, subject_.end, is_inside);
	const auto long_wait = static_cast<std::uint64_t>(thresholds_.long_idle_wait_ms * 1e6);
	path::Parts parts(path_fold_.stretches(), paths, path::Parts::Who::thread, clock().to_ticks(long_wait));
	path::fill(parts, trace_, info_, scope_.range);
	evidence.elapsed_ns = clock().to_ns(paths.total());
	const PathReader reader(stretches_, paths, path_fold_.fold(), is_inside, clock());
	evidence.path = reader.read(parts, priorities_, reclaim_, evidence.machine.users, thresholds_.handover_thread,
				    evidence.unknown);
	evidence.path->functions =
	    functions_of(*evidence.path, thresholds_.path, subject_, stretches_, fold_, stacks_, trace_, info_);
	const Activity activity = activity_of(stretches_, is_inside, subject_.range, evidence.cpus);
	evidence.path->oversubscribed =
	    static_cast<double>(activity.oversubscribed) / static_cast<double>(paths.total());
	evidence.options.path = selection_.thread_words();
	if (!subject_.start->in_tree)
		evidence.options.rows = {"--pid", std::to_string(subject_.start->tgid)};
	evidence.is_command = subject_.start->tid == info_.command_pid;
	evidence.subject = evidence.is_command && !info_.command.empty()
			       ? info_.command.front().substr(info_.command.front().rfind('/') + 1)
			       : subject_.name;
	if (!evidence.is_command || std::string(subject_.from) != "exec" || std::string(subject_.to) != "exit") {
		evidence.from = subject_.from;
		evidence.to = fired_ ? "the trigger " + fired_->trigger : subject_.to;
	}
}

void Gathering::add_machine(Evidence &evidence)
{
	const auto is_wanted = [&](const analyze::Thread &thread) { return is_of_subject(thread); };
	const MachineReader reader(fold_, info_, clock());
	evidence.machine = reader.read(recorded_, is_wanted);
	if (!has_path() && recorded_.throttled)
		evidence.machine.throttled = reader.throttled(selection::cgroup_paths(trace_.directory()));
	const trace::TimeRange whole = {fold_.window_begin(), fold_.window_end()};
	evidence.storm =
	    reader.storm(is_wanted, has_path() ? subject_.range : whole, thresholds_.process_storm_life_ms);
	if (has_path())
		return;
	evidence.unknown = reader.unknown();
	evidence.elapsed_ns = clock().to_ns(window());
	evidence.subject = info_.host.empty() ? "this machine" : info_.host;
	if (const std::size_t number = info_.filter.pids.size(); number > 1)
		evidence.subject +=
		    fmt::format(", of which {} processes were recorded (choose one with --pid)", number);
	if (!recorded_.wakings)
		return;
	const Activity activity = activity_of(
	    stretches_, [](std::uint32_t) { return true; }, whole, evidence.cpus);
	evidence.machine.saturated = static_cast<double>(activity.saturated) / static_cast<double>(window());
	evidence.machine.ready = static_cast<double>(activity.ready) / static_cast<double>(window());
}

void Gathering::add_quality(Evidence &evidence, const report::Summary &summary) const
{
	evidence.is_part = !fold_.is_whole();
	const double window_ns = static_cast<double>(clock().to_ns(window()));
	const std::optional<double> cost_ns = min_cost(summary);
	evidence.cost = !evidence.is_part ? report::probes_text(summary)
			: cost_ns ? fmt::format("at least {} = {:.2f} % of one CPU", report::duration_text(*cost_ns),
						*cost_ns / window_ns * 100)
				  : "unknown";
	evidence.lost = summary.lost;
	if (evidence.lost)
		*evidence.lost += summary.missing + summary.misses.value_or(0);
	if (!summary.complete && info_.present)
		evidence.lost_text = "the recording was killed or its disk was full";
	else if (!trace_.problems().empty())
		evidence.lost_text = "parts of the trace are damaged";
	if (const double used_ns = evidence.machine.busy * window_ns; cost_ns && used_ns > 0)
		evidence.measurement = *cost_ns / used_ns;
}

std::optional<double> Gathering::min_cost(const report::Summary &summary) const
{
	if (!summary.probes)
		return std::nullopt;
	return fold_.is_whole() ? summary.probes->low_ns : cost::min_cost(info_, events_in_window_);
}

void Gathering::add_not_recorded(Evidence &evidence) const
{
	Keys &keys = evidence.not_recorded;
	using enum analyze::EventMeaning;
	const auto has = [&](const char *event, analyze::EventMeaning meaning) {
		return info_.present ? info_.has_program(event) : kinds_.has(meaning);
	};
	if (!recorded_.calls)
		keys.insert(keys.end(), {"call", "handover", "call_edges"});
	const bool are_others_left_out = !evidence.path && info_.filtering();
	const bool has_creations =
	    has("sched_wakeup_new", sched_wakeup_new) || has("sched_process_fork", sched_process_fork);
	if (!has_creations || are_others_left_out)
		keys.emplace_back("process_storm");
	const std::vector<Use> &users = evidence.machine.users;
	const auto is_calibrated = [](const Use &use) { return use.call_edges.has_value(); };
	if (!users.empty() && std::ranges::none_of(users, is_calibrated))
		keys.emplace_back("call_edges");
	if (!recorded_.faults)
		keys.emplace_back("fault");
	if (!recorded_.interrupts)
		keys.emplace_back("irq");
	if (!recorded_.softirqs)
		keys.emplace_back("softirq");
	const auto has_none = [&](What what) {
		return evidence.path && std::ranges::count(evidence.path->parts, what, &PathPart::what) == 0;
	};
	if (!(recorded_.interrupts && kinds_.has_cpu_timers()) && has_none(What::timer))
		keys.emplace_back("timer");
	const bool has_disk = has("block_rq_complete", block_rq_complete) && !info_.filtering();
	if (!has_disk && has_none(What::disk))
		keys.emplace_back("disk");
	if (!path::recorded(trace_, info_, kinds_).interrupts || !has("softirq_raise", softirq_raise))
		keys.emplace_back("network");
	if (!recorded_.interrupts || !recorded_.softirqs || info_.filtering())
		keys.emplace_back("irq_imbalance");
	if (!recorded_.wakings || are_others_left_out)
		keys.insert(keys.end(), {"waiting_others", "waiting_own", "wakeup_latency"});
	if (!priorities_.are_recorded())
		keys.emplace_back("priority_inversion");
	if (!evidence.machine.steal)
		keys.emplace_back("steal");
	if (!reclaim_.is_recorded())
		keys.emplace_back("memory_reclaim");
	if (!recorded_.throttled)
		keys.emplace_back("throttled");
}

Evidence Gathering::gather()
{
	Evidence evidence;
	evidence.directory = question_.directory;
	evidence.options.time = selection_.time_words();
	const report::Summary summary = read();
	evidence.cpus = MachineReader(fold_, info_, clock()).cpus();
	evidence.has_stacks = stacks_.any();
	if (has_path())
		subject_ = choice_.choose({fold_.window_begin(), fold_.window_end()});
	add_machine(evidence);
	if (has_path())
		add_path(evidence);
	add_quality(evidence, summary);
	add_not_recorded(evidence);
	return evidence;
}

} // namespace

Evidence gather(trace::Trace &trace, const Question &question, const Thresholds &thresholds)
{
	expect_events(trace, analyze::recording_of(trace));
	return Gathering(trace, question, thresholds).gather();
}

Explanation explain(trace::Trace &trace, const Question &question)
{
	const Thresholds thresholds = load_thresholds();
	return judge(gather(trace, question, thresholds), thresholds);
}

} // namespace monitor::explain
