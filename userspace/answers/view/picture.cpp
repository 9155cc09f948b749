// SPDX-License-Identifier: MIT
#include "picture.h"

#include <chrono>

#include <fmt/format.h>

#include "answers/report/summary.h"
#include "answers/selection/thread_selection.h"
#include "base/error.h"
#include "base/json.h"
#include "picture_cache.h"
#include "reading/analyze/clock_bound.h"
#include "tables.h"
#include "tile.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t max_ticks = std::uint64_t(1) << 56, max_time = std::uint64_t(1) << 62; // untrusted
constexpr std::uint64_t events_between_progress = 1 << 18;
constexpr std::chrono::seconds worth_keeping(1); // what took longer to read

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
	identity_ = cache.identity();
	if (use_cache)
		if (auto kept = cache.find()) {
			const Json text = parse_json<Json>(kept->text);
			about_ = text.at("about");
			about_["directory"] = directories_.front(); // it may be called from elsewhere
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
		throw Error("the start and the end of this recording cannot be those of its events: is "
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
				   {"first", thread.first},
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
		  {"has_counters", info_.counters.has_value()},
		  {"has_stacks", info_.stack_timer_hz != 0 || !info_.stacks_at.empty()},
		  {"groups", groups_.json(*timeline_)}};
}

std::string Picture::slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin, std::string_view lanes,
			    const IsOver &is_over) const
{
	if (level >= timeline_->first_level())
		return slices_tile({*timeline_, &groups_}, level, from_bin, to_bin, lanes, max_answer_bytes);
	const Window window(trace_, info_, *timeline_, level, from_bin, to_bin, max_window_bytes, is_over);
	return slices_tile({*timeline_, &groups_, &window}, level, from_bin, to_bin, lanes, max_answer_bytes);
}

} // namespace monitor::view
