// SPDX-License-Identifier: MIT
#include "picture.h"

#include <chrono>
#include <map>

#include <fmt/format.h>

#include "answers/report/activities_table.h"
#include "answers/report/flame_graph.h"
#include "answers/report/named_stacks.h"
#include "answers/report/summary.h"
#include "answers/report/usage_report.h"
#include "answers/selection/thread_selection.h"
#include "base/error.h"
#include "base/json.h"
#include "picture_cache.h"
#include "reading/activities/table.h"
#include "reading/activities/totals.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/recorded.h"
#include "story.h"
#include "tile.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

const std::map<std::string, report::GroupBy> groupings = {{"process", report::GroupBy::process},
							  {"thread", report::GroupBy::thread},
							  {"command", report::GroupBy::command},
							  {"cgroup", report::GroupBy::cgroup}};

constexpr std::uint64_t max_ticks = std::uint64_t(1) << 56, max_time = std::uint64_t(1) << 62; // untrusted
constexpr std::uint64_t events_between_progress = 1 << 18;
constexpr std::chrono::seconds worth_keeping(1); // what took longer to read

const char *unit_text(report::Unit unit)
{
	switch (unit) {
	case report::Unit::count:
		return "count";
	case report::Unit::ratio:
		return "ratio";
	case report::Unit::nanoseconds:
		return "ns";
	case report::Unit::instant:
		return "instant";
	case report::Unit::percent:
		return "percent";
	case report::Unit::flag:
		return "flag";
	default:
		return "text";
	}
}

Json table_json(const report::Table &table)
{
	Json columns = Json::array(), rows = Json::array();
	for (const report::Column &column : table.columns)
		columns.push_back({{"key", column.key}, {"title", column.title}, {"unit", unit_text(column.unit)}});
	for (const auto &row : table.rows) {
		Json cells = Json::array();
		for (const report::Cell &cell : row)
			std::visit(
			    [&](const auto &value) {
				    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
					    cells.push_back(nullptr);
				    else
					    cells.push_back(value);
			    },
			    cell);
		rows.push_back(std::move(cells));
	}
	return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

// As fold(); each(event) is called after each event. Returns what was lost.
template <class Each> trace::Losses fold_with(trace::Trace &trace, analyze::Machine &machine, const Each &each)
{
	trace::Losses losses;
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    machine.event(event);
		    each(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    machine.gap(stream, from, to);
		    losses.add(lost);
	    });
	machine.finish();
	return losses;
}

void fold_until(const IsOver &is_over, trace::Trace &trace, analyze::Machine &machine)
{
	std::uint64_t events = 0;
	fold_with(trace, machine, [&](const trace::Event &) {
		if (++events % events_between_progress == 0 && is_over && is_over())
			throw Error("this was asked for again, or is not wanted any more");
	});
}

// Who had the CPUs, by `by`: one of the groupings, or cpu.
// What the threads that ran did with the part: ticks; null: it was not recorded.
Json threads_json(const analyze::Machine &machine, const analyze::RecordingInfo &info)
{
	std::uint64_t ran = 0, waiting = 0, blocked = 0;
	for (const analyze::Thread &thread : machine.threads()) {
		if (thread.tid == 0 || thread.usage.cpu() == 0)
			continue;
		ran += thread.usage.cpu();
		waiting += thread.usage.waiting;
		blocked += thread.usage.blocked;
	}
	if (!report::known_shares(info).waiting)
		return {{"ran", ran}, {"waiting", nullptr}, {"blocked", nullptr}};
	return {{"ran", ran}, {"waiting", waiting}, {"blocked", blocked}};
}

Json usage_json(const analyze::Machine &machine, const trace::Trace &trace, const analyze::RecordingInfo &info,
		const std::string &by)
{
	const trace::Clock &clock = trace.description().clock;
	const analyze::Recorded recorded = analyze::recorded(trace, info, machine.kinds());
	const auto with_threads = [&](const report::Table &table) {
		Json made = table_json(table);
		made["threads"] = threads_json(machine, info);
		return made;
	};
	if (by == "cpu")
		return with_threads(report::cpu_table(machine, clock, info, recorded));
	report::UsageOptions options;
	options.grouping.by = groupings.at(by);
	options.grouping.filtering = info.filtering();
	if (by == "cgroup")
		options.grouping.cgroup_paths = selection::cgroup_paths(trace.directory());
	options.recorded = recorded;
	options.with_sleepers = false;
	return with_threads(report::usage_table(machine, clock, options));
}

} // namespace

void expect_picture(const trace::Trace &trace)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	if (info.has_only_states() || !info.has_tokens)
		throw Error("this recording has no events (--no-tokens), so there is nothing to look at");
	if (info.card == "user")
		throw Error("this trace has only programs' own events (--user-only): use `monitor report DIR "
			    "activities`, or monitor list");
	if (trace.is_empty())
		throw Error("this trace is empty: nothing was recorded");
	if (trace.machines().size() > 1)
		throw Error("monitor view shows one trace; these are several: name the directory of one");
	if (!analyze::EventKinds(trace.description()).has(analyze::Kind::sched_switch))
		throw Error("this trace has no sched_switch events of a kernel, so it does not show who used the CPUs; "
			    "monitor info counts its events, monitor list prints them");
}

Picture::Picture(const std::vector<std::string> &directories, trace::Trace trace, const Progress &progress,
		 bool use_cache)
    : directories_(directories), trace_(std::move(trace)), info_(analyze::recording_of(trace_))
{
	const PictureCache cache(directories, trace_);
	if (use_cache)
		if (auto kept = cache.find()) {
			const Json text = parse_json<Json>(kept->text);
			about_ = text.at("about");
			for (const auto &[by, table] : text.at("tables").items())
				whole_.emplace(by, table);
			timeline_ = std::move(kept->timeline);
			groups_ = Groups(about_.at("groups"), timeline_->threads().size());
			return;
		}
	const auto start = std::chrono::steady_clock::now();
	read(progress);
	if (!use_cache || !problems().empty() || std::chrono::steady_clock::now() - start < worth_keeping)
		return;
	Json text = {{"about", about_}, {"tables", Json::object()}};
	for (const auto &[by, table] : whole_)
		text["tables"][by] = table;
	cache.keep(*timeline_, json_dump(text));
}

void Picture::read(const Progress &progress)
{
	analyze::Machine machine(trace_, info_);
	if (machine.window_end() <= machine.window_begin() ||
	    machine.window_end() - machine.window_begin() > max_ticks || machine.window_end() > max_time)
		throw Error("the begin and the end of this recording cannot be those of its events: is "
			    ".monitor/recording.json damaged?");
	timeline_ =
	    std::make_unique<Timeline>(machine.window_begin(), machine.window_end(), info_.cpus, max_slice_bytes);
	machine.add(*timeline_);
	analyze::ClockBound bound(trace_.description(), info_);
	std::uint64_t events = 0;
	const trace::Losses losses = fold_with(trace_, machine, [&](const trace::Event &event) {
		if (event.stream->is_recorder())
			bound.event(event);
		if (progress && ++events % events_between_progress == 0)
			progress(*timeline_, timeline_->part_before(event.time));
	});
	timeline_->finish(machine);
	groups_ = Groups(*timeline_, selection::cgroup_paths(trace_.directory()));
	for (const char *by : {"process", "thread", "command", "cgroup", "cpu"})
		whole_.emplace(by, usage_json(machine, trace_, info_, by));
	tell_about(machine, bound, losses.total_lost());
}

void Picture::tell_about(const analyze::Machine &machine, const analyze::ClockBound &bound,
			 std::optional<std::uint64_t> lost_of_generic)
{
	const trace::Clock &clock = trace_.description().clock;
	report::Summary summary = report::summarize(trace_, info_, bound, machine.tokens());
	summary.hidden_threads = machine.hidden_threads();
	summary.calls_of_unknown = machine.calls_of_unknown();
	summary.functions_of_unknown = machine.functions_of_unknown();
	if (trace_.is_generic_ctf())
		summary.lost = lost_of_generic;
	if (!problems().empty())
		summary.lost.reset(); // events in damaged parts were not counted
	Json cpus = Json::array(), threads = Json::array();
	for (const CpuLane &cpu : timeline_->cpus())
		cpus.push_back({{"cpu", cpu.number}, {"busy", cpu.threads.busy()}});
	for (const ThreadLanes &thread : timeline_->threads())
		threads.push_back({{"number", thread.number},
				   {"tid", thread.tid},
				   {"pid", thread.tgid},
				   {"name", thread.tid == 0 ? "idle thread, interrupted" : thread.name},
				   {"recorded", thread.in_tree},
				   {"ran", thread.runs.busy()},
				   {"waited", thread.waits.busy()}});
	about_ = {{"directory", directories_.front()},
		  {"command", info_.short_command()},
		  {"host", info_.host},
		  {"kernel", info_.kernel},
		  {"date", info_.date},
		  {"summary", parse_json<Json>(report::summary_json(summary))},
		  {"summary_text", report::summary_text(summary)},
		  {"frequency_hz", clock.frequency_hz},
		  {"begin_ns", clock.to_ns(timeline_->begin() - std::min(timeline_->begin(), trace_.begin_time()))},
		  {"ticks", timeline_->ticks()},
		  {"base_ticks", timeline_->base_ticks()},
		  {"levels", levels},
		  {"first_level", 0},
		  {"modes", mode_names()},
		  {"problems", problems().total()},
		  {"left_out", ""},
		  {"cpus", std::move(cpus)},
		  {"threads", std::move(threads)},
		  {"has_stacks", info_.stack_timer_hz != 0 || !info_.stacks_at.empty()},
		  {"groups", groups_.json(*timeline_)}};
}

trace::TimeRange Picture::range_of(std::uint64_t from_ticks, std::uint64_t to_ticks) const
{
	if (from_ticks >= std::min(to_ticks, timeline_->ticks()))
		throw Error("this picture has no such part");
	trace::TimeRange range; // all: also what is at its very end
	if (from_ticks > 0)
		range.from = timeline_->begin() + from_ticks;
	if (to_ticks < timeline_->ticks())
		range.to = timeline_->begin() + to_ticks - 1;
	return range;
}

// Its parts must be of the same trace.
trace::Trace Picture::open_again() const
{
	trace::Trace trace = trace::Trace::open(directories_);
	if (trace.recording_json() != trace_.recording_json() || trace.begin_time() != trace_.begin_time() ||
	    trace.end_time() != trace_.end_time())
		throw Error("another trace has taken the place of this one: start monitor view again");
	return trace;
}

std::string Picture::slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin, std::string_view lanes,
			    const IsOver &is_over) const
{
	if (level >= timeline_->first_level())
		return slices_tile({*timeline_, &groups_}, level, from_bin, to_bin, lanes, max_answer_bytes);
	const Window window(trace_, info_, *timeline_, level, from_bin, to_bin, max_window_bytes, is_over);
	return slices_tile({*timeline_, &groups_, &window}, level, from_bin, to_bin, lanes, max_answer_bytes);
}

Json Picture::table(std::uint64_t from_ticks, std::uint64_t to_ticks, const std::string &by,
		    const IsOver &is_over) const
{
	const bool is_of_states = by == "calls" || by == "sleeps";
	if (!groupings.contains(by) && by != "cpu" && !is_of_states)
		throw Error(fmt::format(
		    "there is no table by {}: use process, thread, command, cgroup, cpu, calls or sleeps", by));
	if (const auto whole = whole_.find(by);
	    whole != whole_.end() && from_ticks == 0 && to_ticks >= timeline_->ticks())
		return whole->second;
	trace::Trace trace = open_again();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::Scope scope;
	scope.range = range_of(from_ticks, to_ticks);
	analyze::Machine machine(trace, info, scope);
	if (is_of_states) {
		expect_states(by == "calls");
		const activities::Table shipped = activities::load_shipped_table(by == "calls" ? "syscalls" : "offcpu");
		activities::Tracker tracker(analyze::source_of(trace, info), machine, {});
		activities::Totals totals(activities::grouping_of(shipped.activities.front()), machine, tracker);
		tracker.add(totals);
		machine.add(tracker);
		fold_until(is_over, trace, machine);
		tracker.finish();
		return table_json(
		    report::activities_table(totals, trace.description().clock, report::known_shares(info)));
	}
	fold_until(is_over, trace, machine);
	return usage_json(machine, trace, info, by);
}

void Picture::expect_states(bool of_calls) const
{
	if (const std::string why = report::why_no_states(info_, of_calls); !why.empty())
		throw Error(why);
}

Json Picture::cases(std::uint64_t from_ticks, std::uint64_t to_ticks, const CasesWanted &wanted,
		    const IsOver &is_over) const
{
	expect_states(wanted.of == CasesWanted::Of::calls);
	trace::Trace trace = open_again();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::Scope scope;
	scope.range = range_of(from_ticks, to_ticks);
	analyze::Machine machine(trace, info, scope);
	Cases cases(machine, wanted, timeline_->begin());
	activities::Tracker tracker(analyze::source_of(trace, info), machine, {});
	tracker.add(cases);
	machine.add(tracker);
	machine.add(static_cast<analyze::TimeObserver &>(cases));
	fold_until(is_over, trace, machine);
	return cases.told();
}

std::string Picture::flame_page(std::uint64_t from_ticks, std::uint64_t to_ticks, const IsOver &is_over) const
{
	trace::Trace trace = open_again();
	analyze::Scope scope;
	scope.range = range_of(from_ticks, to_ticks);
	analyze::Machine machine(trace, info_, scope);
	analyze::StackFold fold;
	machine.add(fold);
	fold_until(is_over, trace, machine);
	if (!fold.any())
		throw Error("this recording has no stacks: record with --stacks");
	const trace::Clock &clock = trace.description().clock;
	report::NamedStacks stacks(directories_.front(), clock, info_, machine, fold, {});
	const auto seconds = [&](std::uint64_t ticks) {
		return static_cast<double>(about_["begin_ns"].get<std::uint64_t>() + clock.to_ns(ticks)) / 1e9;
	};
	report::FlamePage page;
	page.title = fmt::format("{}, {:.6f} s to {:.6f} s", about_["command"].get<std::string>(), seconds(from_ticks),
				 seconds(std::min(to_ticks, timeline_->ticks())));
	for (const auto &[name, by] : report::stack_groupings)
		if (report::was_recorded(by, info_) && stacks.tree(by).total() > 0 &&
		    (by != report::StackBy::wait || fold.has_wakers()))
			page.graphs.push_back({name, report::is_time(by), &stacks.tree(by), nullptr, &clock, nullptr});
	if (page.graphs.empty())
		throw Error("no stack was taken in this window");
	return report::linked_flame_page(page);
}

Json Picture::story(std::uint64_t from_ticks, std::uint64_t to_ticks, std::size_t thread, const IsOver &is_over) const
{
	trace::Trace trace = open_again();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::Scope scope;
	scope.range = range_of(from_ticks, to_ticks);
	analyze::Machine machine(trace, info, scope);
	Story story(machine, thread, timeline_->begin());
	machine.add(story);
	fold_until(is_over, trace, machine);
	return story.told();
}

} // namespace monitor::view
