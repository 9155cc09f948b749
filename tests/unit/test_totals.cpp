// SPDX-License-Identifier: MIT
// Sums of states: whose rows they are, what groups them, and that a waker is a thread. One tick is one nanosecond.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/report/activities_table.h"
#include "answers/report/summary.h"
#include "history.h"
#include "reading/activities/totals.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/fold_input.h"
#include "reading/analyze/thread_fold.h"

namespace test_totals {

using namespace monitor;
using namespace history;
using activities::Label;
using activities::Whose;

namespace {

void creates(History &history, std::uint64_t time, std::int32_t tid, std::int32_t process, std::int32_t parent,
	     const char *name)
{
	std::uint64_t text[2] = {};
	std::memcpy(text, name, std::strlen(name));
	history.cpu(0).post(time, EDC_ID_SCHED_WAKEUP_NEW, 0,
			    {pair(tid, process), pair(parent, 120), text[0], text[1]});
}

// The command is process 10 with the threads 10 and 11; the processes 20 and 21 are others, 21 of the same name.
History sleeps()
{
	History history;
	creates(history, 1, 10, 10, 1, "cmd");
	creates(history, 2, 11, 10, 10, "worker");
	creates(history, 3, 20, 20, 1, "other");
	creates(history, 4, 21, 21, 1, "cmd");
	history.switches(0, 10, 0, running, 10);
	history.switches(0, 20, 10, sleeping, 11);
	history.switches(0, 30, 11, sleeping, 20);
	history.switches(0, 40, 20, sleeping, 21);
	history.wakes(0, 50, 10); // by 21, after 30
	history.switches(0, 60, 21, sleeping, 10);
	history.wakes(0, 70, 11); // by 10, after 40
	history.switches(0, 80, 10, running, 11);
	history.wakes(0, 90, 20); // by 11, after 50
	history.wakes(0, 95, 21); // by 11, after 35
	history.switches(0, 100, 11, running, 20);
	return history;
}

using Rows = std::map<std::string, std::uint64_t>; // total by the labels

struct Folded {
	explicit Folded(History &history, std::vector<Label> by)
	    : info(make_info(0, 110, true, false)), trace(samples::trace(history.all(), events)),
	      fold((info.command_pid = 10, analyze::ThreadFold(trace, info))),
	      tracker(analyze::input_of(trace, info), fold, {false, nullptr, true}),
	      totals({activities::ActivitySource::blocked, std::move(by)}, fold, tracker)
	{
		tracker.add(totals);
		fold.add(tracker);
		analyze::feed(trace, fold);
		tracker.finish();
	}
	Rows rows(Whose whose = Whose::all) const
	{
		Rows rows;
		for (const activities::TotalsRow &row : totals.rows(whose)) {
			std::string name;
			for (const activities::TotalsRow::Part &part : row.parts)
				name += (name.empty() ? "" : ", ") + part.text;
			rows[name] += row.total.ticks;
		}
		return rows;
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
	activities::Tracker tracker;
	activities::Totals totals;
};

} // namespace

TEST_CASE("totals: a waker is a thread, and rows are the command's or those of others")
{
	History history = sleeps();
	const Folded folded(history, {Label::thread, Label::waker});
	CHECK(folded.rows(Whose::command) == Rows{{"cmd, cmd-21", 30}, {"worker, cmd-10", 40}});
	CHECK(folded.rows(Whose::others) == Rows{{"other, worker-11", 50}, {"cmd, worker-11", 35}});
	CHECK(folded.rows() ==
	      Rows{{"cmd, cmd-21", 30}, {"worker, cmd-10", 40}, {"other, worker-11", 50}, {"cmd, worker-11", 35}});
}

TEST_CASE("totals: the time from a wake-up to a CPU is not 0 where none is known")
{
	History history = sleeps();
	const Folded folded(history, {Label::thread});
	const report::Table table = report::activities_table(
	    folded.totals, folded.totals.rows(), folded.trace.description().clock, report::known_shares(folded.info));
	const std::size_t tid = table.column("tid"), transfer = table.column("transfer_ns");
	std::map<double, std::optional<double>> by_tid;
	for (const auto &row : table.rows)
		by_tid[report::number_of(row[tid]).value()] = report::number_of(row[transfer]);
	CHECK(by_tid == std::map<double, std::optional<double>>{{10, 10}, {11, 10}, {20, 10}, {21, {}}});
}

TEST_CASE("totals: rows of several threads are one")
{
	History history = sleeps();
	const Folded by_command(history, {Label::command});
	CHECK(by_command.rows() == Rows{{"cmd", 105}, {"other", 50}});
	CHECK(by_command.rows(Whose::command) == Rows{{"cmd", 70}});
	const std::vector<activities::TotalsRow> rows = by_command.totals.rows(Whose::command);
	CHECK((rows.at(0).count == 2 && rows.at(0).max == 40 && rows.at(0).mean == 35 && rows.at(0).in_tree));
	CHECK(rows.at(0).of == nullptr);
	CHECK(Folded(history, {Label::process}).rows(Whose::command) == Rows{{"cmd", 70}});
	CHECK(Folded(history, {Label::waker}).rows() == Rows{{"cmd-21", 30}, {"cmd-10", 40}, {"worker-11", 85}});
	CHECK(Folded(history, {Label::waker}).rows(Whose::others) == Rows{{"worker-11", 85}});
}

TEST_CASE("totals: what was left out is said in one line")
{
	using report::ShownRows;
	CHECK(report::others_text({ShownRows::Of::all, 5, 7}).empty());
	CHECK(report::others_text({ShownRows::Of::options, 5, 7}).empty());
	CHECK(report::others_text({ShownRows::Of::command, 0, 0}).empty());
	CHECK(report::others_text({ShownRows::Of::command, 1, 2'500}) ==
	      "left out: 1 row of other processes, 2.50 us in all; --all shows them\n");
	CHECK(report::others_text({ShownRows::Of::command, {}, 1234, false}) ==
	      "left out: 1,234 stacks of other processes; --all shows them\n");
}

} // namespace test_totals
