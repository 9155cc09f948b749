// SPDX-License-Identifier: MIT
#include "activity_table.h"

#include "folded.h"
#include "module.h"

namespace monitor::query {
namespace {

// After what every activity has.
enum More : std::size_t { result = 11, cpu_ns, waiting_ns, blocked_ns, argument, waker, waker_tid, columns };

bool has_user_activities(const trace::Description &description)
{
	const auto has = [&](const std::string &name) {
		for (const trace::EventClass *cls : description.find(name))
			if (cls->domain == trace::Domain::user)
				return true;
		return false;
	};
	for (const auto &cls : description.classes())
		if (cls->domain == trace::Domain::user && cls->name.ends_with("_begin") && cls->name.size() > 6 &&
		    has(cls->name.substr(0, cls->name.size() - 5) + "end"))
			return true;
	return false;
}

} // namespace

const char *ActivityTable::columns()
{
	return "kind TEXT, name TEXT, tid INTEGER, tgid INTEGER, thread TEXT, process TEXT, cpu INTEGER, "
	       "begin_ns INTEGER, "
	       "end_ns INTEGER, duration_ns INTEGER, whole INTEGER, result INTEGER, cpu_ns INTEGER, waiting_ns "
	       "INTEGER, "
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
	user_activities_.reset();
	machine_.emplace(context_.trace, context_.info);
	machine_->add(*this);
	if (has_user_activities(context_.trace.description())) {
		user_activities_.emplace(analyze::UserActivityBy::thread, context_.trace, *machine_);
		user_activities_->on_closed([this](const analyze::UserActivity &closed) { add_row(closed); });
		machine_->add(*user_activities_);
	}
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
	constexpr std::uint64_t between = 4096;
	while (rows_.empty() && !is_finished_) {
		switch (pull_->next()) {
		case trace::Cursor::Item::event:
			time_ = pull_->time();
			machine_->event(pull_->event());
			if (++context_.events_decoded % between == 0 && context_.interrupted)
				throw Interrupted();
			break;
		case trace::Cursor::Item::gap: {
			const trace::Gap &gap = pull_->gap();
			machine_->gap(pull_->stream(), gap.from_time, gap.to_time);
			break;
		}
		case trace::Cursor::Item::end:
			is_finished_ = true;
			machine_->finish();
		}
	}
}

std::vector<Value> ActivityCursor::row_of(const char *kind, Value name, const analyze::Thread &thread,
					  std::uint64_t begin, std::uint64_t end) const
{
	std::vector<Value> row = {std::string(kind),
				  std::move(name),
				  std::int64_t(thread.tid),
				  std::int64_t(thread.tgid),
				  text_or_null(thread.name),
				  text_or_null(machine_->leader(thread).name),
				  std::int64_t(thread.cpu),
				  context_.time_ns(begin),
				  context_.time_ns(end),
				  static_cast<std::int64_t>(context_.trace.description().clock.to_ns(end - begin)),
				  std::int64_t(begin != machine_->window_begin() && !is_finished_)};
	row.resize(columns);
	return row;
}

void ActivityCursor::system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t ticks,
				 std::int64_t value)
{
	std::vector<Value> row =
	    row_of("syscall", machine_->kinds().syscall_label(number), thread, time_ - ticks, time_);
	row[result] = value;
	rows_.push_back(std::move(row));
}

void ActivityCursor::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
			     const analyze::Waker &who)
{
	Value call;
	if (thread.syscall != EDC_NO_SYSCALL)
		call = machine_->kinds().syscall_label(thread.syscall);
	std::vector<Value> row = row_of("blocked", std::move(call), thread, from, to);
	if (who.interrupt >= 0) {
		row[waker] = machine_->kinds().interrupt_label(static_cast<std::uint32_t>(who.interrupt), who.number);
	} else if (who.thread) {
		row[waker] = text_or_null(who.thread->name);
		row[waker_tid] = std::int64_t(who.thread->tid);
	}
	rows_.push_back(std::move(row));
}

// What the scheduler's events say about its time is known only if they were recorded.
void ActivityCursor::add_row(const analyze::UserActivity &closed)
{
	std::vector<Value> row = row_of("activity", closed.activity, closed.thread, closed.begin, closed.end);
	const auto ns = [&](std::uint64_t ticks) {
		return static_cast<std::int64_t>(context_.trace.description().clock.to_ns(ticks));
	};
	const auto is_recorded = [&](analyze::Kind kind, const char *program) {
		return machine_->kinds().has(kind) && (!context_.info.present || context_.info.has_program(program));
	};
	if (is_recorded(analyze::Kind::sched_switch, "sched_switch")) {
		row[cpu_ns] = ns(closed.span.cpu);
		if (is_recorded(analyze::Kind::sched_waking, "sched_waking")) {
			row[waiting_ns] = ns(closed.span.waiting);
			row[blocked_ns] = ns(closed.span.blocked);
		}
	}
	row[argument] = text_or_null(closed.argument);
	rows_.push_back(std::move(row));
}

} // namespace monitor::query
