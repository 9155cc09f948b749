// SPDX-License-Identifier: MIT
#include "activity_table.h"

#include "folded.h"
#include "module.h"

namespace monitor::query {
namespace {

// Columns that finished() sets.
enum FinishedColumn : std::size_t {
	begin_ns = 7,
	duration_ns = 9,
	result = 11,
	cpu_ns,
	waiting_ns,
	blocked_ns,
	argument,
	waker,
	waker_tid,
	columns
};

} // namespace

const char *ActivityTable::columns()
{
	return "kind TEXT, name TEXT, tid INTEGER, tgid INTEGER, thread TEXT, process TEXT, cpu INTEGER, begin_ns "
	       "INTEGER, end_ns INTEGER, duration_ns INTEGER, whole INTEGER, result INTEGER, cpu_ns INTEGER, "
	       "waiting_ns INTEGER, "
	       "blocked_ns INTEGER, argument TEXT, waker TEXT, waker_tid INTEGER";
}

int ActivityTable::best_index(sqlite3_index_info &info) const
{
	info.estimatedRows = static_cast<sqlite3_int64>(context_.estimated_events() / 4 + 1);
	info.estimatedCost = context_.estimated_events() + 1000;
	return SQLITE_OK;
}

void ActivityCursor::filter(int, sqlite3_value **)
{
	rows_.clear();
	pull_.reset();
	const analyze::FoldInput input = analyze::input_of(context_.trace, context_.info);
	fold_.emplace(input, context_.info);
	tracker_.emplace(input, *fold_, activities::Tracker::Options());
	tracker_->add(*this);
	fold_->add(*tracker_);
	pull_.emplace(context_.trace, trace::TimeRange{}, [](const trace::Stream &) { return true; });
	number_ = 0;
	is_finished_ = false;
	fold_more();
}

void ActivityCursor::next()
{
	rows_.pop_front();
	++number_;
	if (rows_.empty())
		fold_more();
}

// Folds until an activity has ended.
void ActivityCursor::fold_more()
{
	constexpr std::uint64_t check_interval = 4096;
	while (rows_.empty() && !is_finished_) {
		switch (pull_->next()) {
		case trace::Cursor::Item::event:
			fold_->event(pull_->event());
			if (++context_.events_decoded % check_interval == 0 && context_.interrupted)
				throw Interrupted();
			break;
		case trace::Cursor::Item::gap: {
			const trace::Gap &gap = pull_->gap();
			fold_->gap(pull_->stream(), gap.from_time, gap.to_time);
			break;
		}
		case trace::Cursor::Item::end:
			is_finished_ = true;
			fold_->finish();
		}
	}
}

std::vector<Value> ActivityCursor::row_of(const char *kind, Value name, const activities::Finished &activity) const
{
	const analyze::Thread &thread = activity.thread;
	const std::uint64_t ticks = activity.end - activity.begin;
	std::vector<Value> row = {std::string(kind),
				  std::move(name),
				  std::int64_t(thread.tid),
				  std::int64_t(thread.tgid),
				  text_or_null(thread.name),
				  text_or_null(fold_->leader(thread).name),
				  std::int64_t(thread.cpu),
				  context_.time_ns(activity.begin),
				  context_.time_ns(activity.end),
				  static_cast<std::int64_t>(context_.trace.description().clock.to_ns(ticks)),
				  std::int64_t(activity.begin != fold_->window_begin() && !is_finished_)};
	row.resize(columns);
	return row;
}

void ActivityCursor::add_waker(const analyze::Waker &who, std::vector<Value> &row) const
{
	if (who.interrupt >= 0) {
		row[waker] = fold_->kinds().interrupt_label(static_cast<std::uint32_t>(who.interrupt), who.number);
	} else if (who.thread) {
		row[waker] = text_or_null(who.thread->name);
		row[waker_tid] = std::int64_t(who.thread->tid);
	}
}

// Known only if the scheduler's events were recorded.
void ActivityCursor::add_shares(const activities::Span &span, std::vector<Value> &row) const
{
	const auto ns = [&](std::uint64_t ticks) {
		return static_cast<std::int64_t>(context_.trace.description().clock.to_ns(ticks));
	};
	const auto is_recorded = [&](analyze::EventMeaning kind, const char *program) {
		return fold_->kinds().has(kind) && (!context_.info.present || context_.info.has_program(program));
	};
	if (!is_recorded(analyze::EventMeaning::sched_switch, "sched_switch"))
		return;
	row[cpu_ns] = ns(span.cpu);
	if (!is_recorded(analyze::EventMeaning::sched_waking, "sched_waking"))
		return;
	row[waiting_ns] = ns(span.waiting);
	row[blocked_ns] = ns(span.blocked);
}

void ActivityCursor::finished(const activities::Finished &activity)
{
	using activities::ActivitySource;
	Value call;
	if (activity.source != ActivitySource::program && activity.number != EDC_NO_SYSCALL)
		call = fold_->kinds().syscall_label(activity.number);
	switch (activity.source) {
	case ActivitySource::system_call:
		rows_.push_back(row_of("syscall", std::move(call), activity));
		rows_.back()[result] = activity.result;
		if (activity.was_refused)
			rows_.back()[begin_ns] = rows_.back()[duration_ns] = {};
		return;
	case ActivitySource::blocked:
		if (context_.info.present && !context_.info.has_program("sched_waking"))
			return; // its end is unknown
		rows_.push_back(row_of("blocked", std::move(call), activity));
		add_waker(activity.waker, rows_.back());
		return;
	case ActivitySource::program:
		break;
	}
	rows_.push_back(row_of("activity", tracker_->names()[activity.number], activity));
	if (!activity.is_certain) {
		rows_.back()[begin_ns] = rows_.back()[duration_ns] = {};
		return;
	}
	add_shares(activity.span, rows_.back());
	const activities::Argument &given = *activity.argument;
	if (const std::string text = given.text(); given.has_value)
		rows_.back()[argument] = text.empty() ? std::to_string(given.number) : text;
}

} // namespace monitor::query
