// SPDX-License-Identifier: MIT
#include "picture.h"

#include <algorithm>

#include "answers/report/named_stacks.h"
#include "answers/report/summary.h"
#include "answers/selection/thread_selection.h"
#include "base/json.h"
#include "picture_cache.h"
#include "reading/analyze/clock_bound.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/scheduling.h"
#include "scene_json.h"
#include "table_json.h"
#include "tile.h"

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

} // namespace

Picture::Picture(const std::vector<std::string> &directories, trace::Trace trace, const Progress &progress,
		 const CachePolicy &caching, std::optional<play::Layout> layout)
    : directories_(directories), trace_(std::move(trace)), info_(analyze::recording_of(trace_)),
      scenes_(
	  [this] {
		  return Scenes::Opened{open_again(), info_};
	  },
	  std::move(layout))
{
	load_or_read(progress, caching);
	about_["layout"] = scenes_.layout() ? layout_json(*scenes_.layout()) : Json();
}

void Picture::load_or_read(const Progress &progress, const CachePolicy &caching)
{
	const PictureCache cache(directories_, trace_);
	identity_ = cache.identity();
	if (caching.is_on)
		if (auto kept = cache.find()) {
			const Json text = parse_json<Json>(kept->text);
			about_ = text.at("about");
			about_["directory"] = directories_.front(); // the page may be in another directory
			for (const auto &[by, table] : text.at("tables").items())
				whole_tables_.emplace(by, table);
			timeline_ = std::move(kept->timeline);
			rows_ = Rows(*timeline_);
			groups_ = Groups(*timeline_, selection::cgroup_paths(trace_.directory()));
			activities_ = std::move(kept->activities);
			return;
		}
	const auto start = std::chrono::steady_clock::now();
	read(progress);
	if (!caching.is_on || !problems().empty() || std::chrono::steady_clock::now() - start < caching.after)
		return;
	Json text = {{"about", about_}, {"tables", Json::object()}};
	for (const auto &[by, table] : whole_tables_)
		text["tables"][by] = table;
	cache.save(*timeline_, activities_, json_dump(text));
}

void Picture::read(const Progress &progress)
{
	analyze::ThreadFold fold(trace_, info_);
	analyze::expect_window(fold.window_begin(), fold.window_end());
	timeline_ = std::make_unique<Timeline>(fold.window_begin(), fold.window_end(), info_.cpus, max_slice_bytes);
	fold.add(*timeline_);
	activities::Tracker tracker(analyze::input_of(trace_, info_), fold, {});
	ActivityFold activity_fold(fold, tracker, *timeline_);
	tracker.add(activity_fold);
	if (!tracker.names().empty())
		fold.add(tracker);
	analyze::ClockBound bound(trace_.description(), info_);
	analyze::PeriodicCheck periodic;
	const trace::Losses losses = analyze::feed(trace_, fold, [&](const trace::Event &event) {
		if (event.stream->is_recorder())
			bound.event(event);
		if (progress && periodic.is_due())
			progress(*timeline_, timeline_->fraction_before(event.time));
	});
	timeline_->finish(fold);
	tracker.finish();
	activities_ = activity_fold.finish();
	rows_ = Rows(*timeline_);
	groups_ = Groups(*timeline_, selection::cgroup_paths(trace_.directory()));
	for (const char *by : {"process", "thread", "command", "cgroup", "cpu"})
		whole_tables_.emplace(by, usage_json(fold, trace_, info_, by));
	describe(fold, bound, losses);
}

void Picture::describe(const analyze::ThreadFold &fold, const analyze::ClockBound &bound, const trace::Losses &losses)
{
	const trace::Clock &clock = trace_.description().clock;
	const report::Summary summary = report::summarize(trace_, info_, bound, fold, losses);
	Json cpus = Json::array(), threads = Json::array();
	for (const CpuLane &cpu : timeline_->cpus())
		cpus.push_back({{"cpu", cpu.number}, {"busy", cpu.threads.busy()}});
	for (std::size_t row = 0; row < rows_.size(); ++row)
		threads.push_back(row_json(rows_.threads(row)));
	about_ = {{"directory", directories_.front()},
		  {"command", info_.short_command()},
		  {"host", info_.host},
		  {"kernel", info_.kernel},
		  {"date", info_.date},
		  {"summary", parse_json<Json>(report::summary_json(summary))},
		  {"summary_text", report::summary_text(summary)},
		  {"frequency_hz", clock.frequency_hz},
		  {"begin_ns", trace_.since_begin_ns(timeline_->begin())},
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
		  {"has_stacks", report::has_stacks(info_)},
		  {"groups", groups_.json(*timeline_, rows_)},
		  {"activities", activities_.json(rows_)}};
}

Json Picture::row_json(std::span<const std::uint32_t> indices) const
{
	const auto thread = [&](std::uint32_t index) -> const ThreadLanes & { return timeline_->threads()[index]; };
	const ThreadLanes &first = thread(indices.front());
	Json row = {{"number", first.number},
		    {"tid", first.tid},
		    {"pid", first.tgid},
		    {"name", first.tid == 0 ? "idle thread, interrupted" : first.name},
		    {"recorded", false},
		    {"first", first.first},
		    {"ran", 0},
		    {"waited", 0}};
	std::uint64_t began = first.first, ran = 0, waited = 0;
	bool is_one_command = true, is_recorded = false;
	for (const std::uint32_t index : indices) {
		began = std::min(began, thread(index).first);
		ran += thread(index).ran();
		waited += thread(index).waits.busy();
		is_one_command &= thread(index).name == first.name;
		is_recorded |= thread(index).in_tree;
	}
	row["recorded"] = is_recorded;
	row["first"] = began;
	row["ran"] = ran;
	row["waited"] = waited;
	if (indices.size() == 1)
		return row;
	row["number"] = row["tid"] = row["pid"] = nullptr;
	row["name"] = is_one_command ? first.name : "several commands";
	row["others"] = indices.size();
	return row;
}

std::string Picture::slices(unsigned level, std::uint64_t from_bin, std::uint64_t to_bin, std::string_view lanes,
			    const IsOver &is_over) const
{
	SliceSources sources{*timeline_, &groups_, nullptr, &activities_, &rows_};
	if (level < kept_level(sources, lanes))
		try {
			const bool of_threads = lanes.find_first_not_of("c0123456789*,") != std::string_view::npos;
			const Window window(trace_, info_, *timeline_, level, from_bin, to_bin, max_window_bytes,
					    of_threads, is_over);
			return slices_tile({*timeline_, &groups_, &window, &activities_, &rows_}, level, from_bin,
					   to_bin, lanes, max_answer_bytes);
		} catch (const TooMuch &) { // of a window read again, not of the picture
		}
	for (sources.coarsest = level;; ++sources.coarsest)
		try {
			return slices_tile(sources, level, from_bin, to_bin, lanes, max_answer_bytes);
		} catch (const TooMuch &) {
			if (sources.coarsest + 1 >= levels)
				throw;
		}
}

} // namespace monitor::view
