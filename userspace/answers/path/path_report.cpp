// SPDX-License-Identifier: MIT
// The report critical-path: what the time of a thread was made of.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "answers/report/profile.h"
#include "answers/reports/fold_report.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/ranges.h"
#include "base/text.h"
#include "chosen_activities.h"
#include "ended_by.h"
#include "parts.h"
#include "path_fold.h"
#include "reading/analyze/fold_input.h"
#include "subject.h"
#include "texts.h"

namespace monitor::reports {
namespace {

using path::ChosenActivities;
using report::Table;
using report::Unit;

class CriticalPath final : public FoldReport {
public:
	explicit CriticalPath(Folded &folded)
	    : FoldReport(folded), path_fold_(folded.trace, folded.info, folded.fold,
					     folded.question.call.empty() && folded.question.activity.empty()),
	      stretches_(path_fold_.stretches()), paths_(stretches_, folded.question.folded)
	{
		path::expect_switches(folded.info, folded.fold.kinds());
		if (!folded.question.call.empty() || !folded.question.activity.empty())
			activities_.emplace(
			    analyze::input_of(folded.trace, folded.info), folded.fold,
			    folded.question.call.empty() ? ChosenActivities::Of::programs : ChosenActivities::Of::calls,
			    folded.question.call.empty() ? folded.question.activity : folded.question.call);
		gets_events_ = true;
	}

	void event(const trace::Event &event) override { path_fold_.event(event); }
	void finish() override;
	std::string folded() override;
	Table table() override;
	std::string above() const override;
	std::string below() const override;
	std::string members() const override;

private:
	void follow_activities();
	void follow_thread();
	bool is_bounded() const { return activities_ || folded_.question.bounded; }
	// Differences of converted sums, not converted differences, sum to the elapsed time exactly.
	std::uint64_t ns(std::uint64_t ticks) const { return folded_.clock.to_ns(ticks); }
	std::string who_text(std::uint32_t who) const;
	struct Row {
		std::string what, who;
		std::uint64_t ticks = 0, time_ns = 0;
		bool is_unknown = false;
	};
	std::vector<Row> rows() const;
	std::uint64_t unknown_ns() const;
	Table links() const;

	path::PathFold path_fold_; // paths of activities, which have ended, do not go on
	path::Stretches &stretches_;
	std::optional<ChosenActivities> activities_; // else it is a thread's path
	path::Paths paths_;
	std::optional<path::Parts> parts_;
	std::size_t count_ = 0; // of activities
	path::Subject subject_; // else
};

void CriticalPath::follow_thread()
{
	const path::SubjectChoice choice(path_fold_.fold(), folded_.info, folded_.question.selection,
					 folded_.fold.scope(), stretches_);
	subject_ = choice.choose({folded_.fold.window_begin(), folded_.fold.window_end()});
	if (is_bounded())
		paths_.add_bounded(subject_.last, subject_.range, subject_.end);
	else
		paths_.add_critical(subject_.last, subject_.range, subject_.end, choice.inside(subject_));
}

// Those of the recorded command, if there is one and no others are selected.
void CriticalPath::follow_activities()
{
	const bool of_command = path::records_command(folded_.info) && folded_.question.selection.threads.is_all();
	const auto all = activities_->finish(stretches_, of_command);
	for (const ChosenActivities::ThreadRange &one : all)
		paths_.add_bounded(one.thread, one.range, one.range.to);
	count_ = all.size();
}

void CriticalPath::finish()
{
	FoldReport::finish();
	print_unknown_wakers(folded_.info, folded_.fold.kinds());
	path_fold_.finish();
	if (activities_)
		follow_activities();
	else
		follow_thread();
	parts_.emplace(stretches_, paths_,
		       folded_.question.by == "thread" ? path::Parts::Who::thread : path::Parts::Who::name);
	path::fill(*parts_, folded_.trace, folded_.info, folded_.fold.scope().range);
}

std::string CriticalPath::who_text(std::uint32_t who) const
{
	const path::Names &names = stretches_.names();
	return folded_.question.by == "thread" ? path::thread_text(stretches_.threads()[who], ~0ull, names)
					       : names[who];
}

// The longest first. The differences between sums are rounded, not the times: they sum to the elapsed time exactly.
std::vector<CriticalPath::Row> CriticalPath::rows() const
{
	std::map<std::pair<std::string, std::string>, Row> sums; // what, who
	for (const auto &[part, ticks] : parts_->ticks()) {
		const std::string what = path::what_text(part, folded_.fold.kinds(), stretches_.names());
		const std::string who = who_text(part.who);
		Row &row = sums.try_emplace({what, who}, Row{what, who}).first->second;
		row.ticks += ticks;
		row.is_unknown = path::is_unknown(part, folded_.fold.kinds());
	}
	auto rows = list_of<Row>(sums, [](auto &each) { return std::move(each.second); });
	std::ranges::stable_sort(rows, std::greater<>(), &Row::ticks);
	std::uint64_t sum = 0;
	for (Row &row : rows) {
		row.time_ns = ns(sum + row.ticks) - ns(sum);
		sum += row.ticks;
	}
	return rows;
}

Table CriticalPath::table()
{
	if (folded_.question.csv && folded_.question.links)
		return links();
	const bool is_text = folded_.question.is_text();
	const char *const what = is_text ? "who, and what it did or waited for" : "what it did or waited for";
	const std::vector<report::Column> whats = {{"what", "what", Unit::text, 0, what},
						   {"thread", "thread", Unit::text, 0, "who"}};
	const std::vector<report::Column> times = {
	    {"time_ns", "time", Unit::nanoseconds, 0, "of the path"},
	    {"share", "share%", is_text ? Unit::percent : Unit::ratio, 0, "of the elapsed time"}};
	Table table;
	table.figure = {"time_ns", ""};
	table.columns = is_text ? times : whats;
	table.columns.insert(table.columns.end(), (is_text ? whats : times).begin(),
			     (is_text ? whats : times).end() - is_text);
	for (const Row &row : rows()) {
		const double share = static_cast<double>(row.ticks) / static_cast<double>(paths_.total());
		if (is_text)
			table.rows.push_back({row.time_ns, share * 100, row.who + " " + row.what});
		else
			table.rows.push_back({row.what, row.who, row.time_ns, share});
	}
	return table;
}

// Paths of activities follow one another, each from its own begin.
Table CriticalPath::links() const
{
	Table table;
	table.columns = {{"start_ns", "from", Unit::nanoseconds, 0, "since the path's begin"},
			 {"time_ns", "time", Unit::nanoseconds, 0, "how long"},
			 {"thread", "thread", Unit::text, 0, "who"},
			 {"what", "what", Unit::text, 0, "what it did or waited for"}};
	const bool is_by_thread = folded_.question.by == "thread";
	const auto &links = paths_.links();
	std::uint64_t begin = links.front().begin, sum = 0;
	for (std::size_t i = 0; i < links.size(); ++i) {
		const path::Link &link = links[i];
		if (link.thread == path::nobody) {
			begin = i + 1 < links.size() ? links[i + 1].begin : 0;
			continue;
		}
		const std::uint64_t before = sum;
		sum += paths_.end_of(i) - link.begin;
		table.rows.push_back({ns(link.begin - begin), ns(sum) - ns(before),
				      path::thread_text(stretches_.threads()[link.thread],
							is_by_thread ? ~0ull : link.begin, stretches_.names()),
				      path::link_text(link, parts_->part_of(link, paths_.end_of(i)),
						      folded_.fold.kinds(), stretches_.names())});
	}
	return table;
}

std::uint64_t CriticalPath::unknown_ns() const
{
	return sum_of_all<std::uint64_t>(rows(), [](const Row &row) { return row.is_unknown ? row.time_ns : 0; });
}

std::string CriticalPath::above() const
{
	const std::string elapsed = report::duration_text(static_cast<double>(ns(paths_.total())));
	const std::string what =
	    activities_ ? fmt::format("{} of {}, {} together", report::count_text(count_),
				      printable(activities_->name()), elapsed)
			: fmt::format("{}, {} from {} to {}{}", printable(subject_.name), elapsed, subject_.from,
				      subject_.to, is_bounded() ? ", with what others did while it slept" : "");
	return fmt::format("{}; parts sum exactly; {:.2f} % unknown\n", what,
			   100 * static_cast<double>(unknown_ns()) /
			       static_cast<double>(std::max<std::uint64_t>(ns(paths_.total()), 1)));
}

std::string CriticalPath::below() const
{
	if (!folded_.question.links)
		return "";
	Table table = links();
	const std::size_t hidden = folded_.question.keep_rows(table);
	return report::to_text(table, folded_.question.width) + report::more_rows_text(hidden);
}

std::string CriticalPath::members() const
{
	std::string text =
	    activities_ ? fmt::format("\"activity\": {},\n\"count\": {},\n", json_text(activities_->name()), count_)
			: fmt::format("\"thread\": {},\n", json_text(subject_.name));
	text += fmt::format("\"path\": \"{}\",\n\"elapsed_ns\": {},\n\"unknown_ns\": {},\n",
			    is_bounded() ? "bounded" : "critical", ns(paths_.total()), unknown_ns());
	return folded_.question.links ? text + fmt::format("\"links\": {},\n", report::to_json(links())) : text;
}

// A line: the sleeps with their calls from the outermost on, the thread, what it did.
std::string CriticalPath::folded()
{
	std::map<std::string, std::uint64_t> sums;
	for (const auto &[part, ticks] : parts_->ticks()) {
		std::string line =
		    report::folded_frame(who_text(part.who)) + ";" +
		    report::folded_frame(path::what_text(part, folded_.fold.kinds(), stretches_.names()));
		for (std::uint32_t index = part.sleep; index != 0; index = paths_.sleeps()[index].outer) {
			const path::Sleep &sleep = paths_.sleeps()[index];
			const std::uint32_t who = folded_.question.by == "thread" ? sleep.thread : sleep.name;
			const std::string call = sleep.call == EDC_NO_SYSCALL
						     ? ""
						     : " in " + path::call_text(sleep.call, folded_.fold.kinds());
			line.insert(0, report::folded_frame(who_text(who) + call) + ";");
		}
		sums[line] += ticks;
	}
	std::string text;
	for (const auto &[line, ticks] : sums)
		if (const std::uint64_t us = (ns(ticks) + 500) / 1000)
			text += fmt::format("{} {}\n", line, us);
	return text;
}

} // namespace

const Report critical_path_report{"critical-path",
				  "what the elapsed time of a command or a thread was made of",
				  {"command", "thread"},
				  false,
				  answer_with<CriticalPath>,
				  false,
				  false,
				  true};

} // namespace monitor::reports
