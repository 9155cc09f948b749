// SPDX-License-Identifier: MIT
// What a query pushes down: the same rows as without (a unary + keeps SQLite from it), from fewer events.
#include <map>
#include <random>
#include <sstream>

#include <catch2/catch.hpp>

#include "monitor/card.h"
#include "query_rows.h"
#include "samples.h"

namespace test_query_plans {

using namespace monitor;
using query_rows::ask;
using samples::event_block;

namespace {

const std::string events =
    event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    event_block(EDC_ID_TASK_RENAME, "task_rename", "s16_t oom_score_adj; s32_t pid; s32_t tgid; text_t newcomm[16];") +
    event_block(300, "one", "s16_t arg; s32_t a; u32_t b;") + event_block(301, "two", "range_t arg; u64_t a;") +
    event_block(302, "three", "u16_t arg; text_t text[8];");

// Two CPUs with two levels each: switches, names that change, lost events.
std::vector<samples::StreamWriter> many(unsigned count, std::mt19937 &random)
{
	std::vector<samples::StreamWriter> made = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
	const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
	for (unsigned stream = 0; stream < made.size(); ++stream) {
		samples::StreamWriter &writer = made[stream];
		std::uint64_t time = 1000 + below(50), lost = 0, running = 10 + below(4);
		for (unsigned i = 0; i < count; ++i) {
			time += below(4);
			if (i == 0 || writer.room() < 64) {
				if (below(4) == 0) {
					++lost;
					time += below(300); // longer than what lies between two checkpoints
				}
				writer.open(time, lost).tid = static_cast<std::uint32_t>(running);
			}
			const std::uint64_t next = 10 + below(6);
			switch (below(stream % 2 ? 3 : 8)) {
			case 0:
				writer.post(time, 300, below(65536),
					    {std::uint64_t(below(9)) | std::uint64_t(below(9)) << 32});
				break;
			case 1:
				writer.post(time, 301, below(12), {below(2) ? ~std::uint64_t(below(9)) : below(9)});
				break;
			case 2:
				writer.post(time, 302, below(5), {0x41 + below(4) + std::uint64_t(below(2)) * 0x4200});
				break;
			case 3:
				writer.post(time, EDC_ID_TASK_RENAME, 0, {next | next << 32, 0x41 + below(9), 0});
				break;
			default:
				writer.post(time, EDC_ID_SCHED_SWITCH, 0, {running | next << 32});
				running = next;
			}
		}
	}
	return made;
}

// The same with every column kept from being pushed down.
std::string unpushed(const std::string &condition)
{
	std::string made;
	for (std::size_t i = 0; i < condition.size(); ++i)
		made += condition[i] == '@' ? "+" : std::string(1, condition[i]);
	return made;
}

std::string pushed(std::string condition)
{
	std::erase(condition, '@');
	return condition;
}

const char *const conditions[] = {
    "@time_ns BETWEEN 500 AND 700",
    "@time_ns > 500 AND @time_ns <= 501",
    "@time_ns = 600",
    "@time_ns >= 599.5 AND @time_ns < 600.5",
    "@time >= 0.0000005 AND @time < 0.0000007",
    "@wall_ns < 1700000000000001400 AND @cpu = 0",
    "@ticks > 1700 AND @ticks < 1702",
    "@ticks IN (1500, 1600, 1601, 99)",
    "@time_ns < NULL",
    "@cpu = 1 AND @level = 1",
    "@cpu IN (1, 5, NULL)",
    "@stream = 's2'",
    "@mode = 'kernel' AND @stream GLOB 's[13]'",
    "@name = 'one'",
    "@name IN ('one', 'three', 'none')",
    "@name LIKE 'T%'",
    "@name > 'one' AND @name < 'two'",
    "@name = 'ONE' COLLATE NOCASE",
    "@tid = 12",
    "@tid IN (11, 12) AND @time_ns BETWEEN 400 AND 600",
    "@thread >= 'A' AND @time_ns > 900",
    "@tgid = 13 AND @cpu = 1",
    "@time_ns < 300 OR @cpu = 1",
    "@time_ns < 5 OR @time_ns > 900 OR @name = 'two'",
};

} // namespace

TEST_CASE("query: what is pushed down changes no answer", "[query]")
{
	std::mt19937 random(7);
	std::vector<samples::StreamWriter> streams = many(600, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {});
	const std::string select =
	    "SELECT time_ns, ticks, cpu, name, stream, tid, thread, tgid, fields FROM events WHERE ";
	std::size_t found = 0;
	for (const char *condition : conditions) {
		INFO(condition);
		const std::string should = ask(database, select + unpushed(condition) + " ORDER BY +ticks, rowid");
		found += should.size() > 100;
		CHECK(ask(database, select + pushed(condition) + " ORDER BY +ticks, rowid") == should);
	}
	CHECK(found > 18);
}

TEST_CASE("query: fields are pushed down", "[query]")
{
	std::mt19937 random(8);
	std::vector<samples::StreamWriter> streams = many(400, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {});
	const std::pair<const char *, const char *> asked[] = {{"one", "@arg < 0"},
							       {"one", "@arg < -0.5"},
							       {"one", "@a < 2.5 AND @b <= 4.5"},
							       {"one", "@a > 2.5 AND @b >= 4.5"},
							       {"one", "@a IN (1, 2) AND @b >= 3"},
							       {"one", "@a = 3.0"},
							       {"one", "@a = 3.5"},
							       {"one", "@b BETWEEN 2.5 AND 4.5"},
							       {"two", "@a < 0"},
							       {"two", "@a = 0xfffffffffffffffe"},
							       {"two", "@arg_label = 'some more'"},
							       {"two", "@arg_label IN ('zero', 'one')"},
							       {"two", "@arg_label IS NULL"},
							       {"three", "@text = 'A'"},
							       {"three", "@text GLOB 'B*'"},
							       {"three", "@text > 'B'"},
							       {"one", "@a > 9223372036854775807"},
							       {"one", "@a >= -9223372036854775808"}};
	for (const auto &[table, condition] : asked) {
		INFO(table << " " << condition);
		const std::string select = std::string("SELECT time_ns, rowid, * FROM ") + table + " WHERE ";
		CHECK(ask(database, select + pushed(condition)) == ask(database, select + unpushed(condition)));
	}
}

TEST_CASE("query: values of other types compare as SQL compares them", "[query]")
{
	std::mt19937 random(8);
	std::vector<samples::StreamWriter> streams = many(400, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {});
	const auto count = [&](const std::string &condition) {
		return ask(database, "SELECT count(*) FROM events WHERE " + condition);
	};
	CHECK(count("cpu = '1'") == count("cpu = 1"));
	CHECK(count("time_ns > '600'") == count("time_ns > 600"));
	CHECK(count("time_ns < 'x'") == count("1"));
	CHECK(count("name = 5") == "0\n");
	CHECK(count("name > 5") == count("1"));
	CHECK(count("cpu > x'00'") == "0\n");
}

TEST_CASE("query: a scan that begins at a checkpoint knows the same threads", "[query]")
{
	std::mt19937 random(9);
	std::vector<samples::StreamWriter> streams = many(10'000, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {}, 100);
	// by time: the lines of all rows
	std::map<std::int64_t, std::string> rows;
	const std::string columns = "SELECT time_ns, rowid, tid, thread, tgid FROM events ";
	std::istringstream all(ask(database, columns));
	std::size_t named = 0;
	for (std::string line; std::getline(all, line); named += line.find("|A|") != std::string::npos)
		rows[std::stoll(line)] += line + "\n";
	CHECK(named > 100);
	for (std::int64_t from = rows.rbegin()->first; from > 0; from -= 37) {
		const std::uint64_t begun = database.events_decoded();
		std::string should;
		for (auto row = rows.lower_bound(from); row != rows.end() && row->first <= from + 10; ++row)
			should += row->second;
		const std::string seeked =
		    ask(database, columns + fmt::format("WHERE time_ns BETWEEN {} AND {}", from, from + 10));
		if (seeked != should) {
			INFO(from);
			CHECK(seeked == should);
			break;
		}
		CHECK(database.events_decoded() - begun < 1000);
	}
}

TEST_CASE("query: only what is wanted is read", "[query]")
{
	std::mt19937 random(10);
	std::vector<samples::StreamWriter> streams = many(20'000, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {});
	const auto decoded = [&](const std::string &sql) {
		const std::uint64_t before = database.events_decoded();
		ask(database, sql);
		return database.events_decoded() - before;
	};
	CHECK(decoded("SELECT count(*) FROM events") == 80'000);
	CHECK(decoded("SELECT count(*) FROM events WHERE time_ns BETWEEN 9000 AND 9010") < 4000);
	CHECK(decoded("SELECT count(*) FROM events WHERE cpu = 1") == 40'000);
	CHECK(decoded("SELECT count(*) FROM events WHERE stream = 's1'") == 20'000);
	CHECK(decoded("SELECT count(*) FROM events WHERE time_ns < NULL") == 0);
	CHECK(decoded("SELECT name FROM events ORDER BY time_ns LIMIT 10") < 20);
	CHECK(decoded("SELECT count(*) FROM one JOIN two USING (ticks) WHERE one.ticks BETWEEN 9000 AND 9050") <
	      100'000);
}

TEST_CASE("query: a plan tells what it does", "[query]")
{
	std::mt19937 random(11);
	std::vector<samples::StreamWriter> streams = many(10, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {});
	const auto plan = [&](const std::string &sql) { return ask(database, "EXPLAIN QUERY PLAN " + sql); };
	const std::string ordered = plan("SELECT thread FROM events WHERE time_ns > 5 AND name IN ('a') ORDER BY time");
	CHECK(ordered.find("time_ns>? name=?, with threads, in order of time") != std::string::npos);
	CHECK(ordered.find("TEMP B-TREE") == std::string::npos);
	CHECK(plan("SELECT name FROM events WHERE name IN ('a', 'b')").find("name IN ?") != std::string::npos);
	CHECK(plan("SELECT name FROM events ORDER BY time DESC").find("TEMP B-TREE") != std::string::npos);
	CHECK(plan("SELECT arg FROM one WHERE +arg < 3").find("all events") != std::string::npos);
	// the table whose rows have times is the outer one
	const std::string joined = plan("SELECT count(*) FROM events e JOIN three t ON e.ticks = t.ticks");
	CHECK(joined.find("SCAN t") < joined.find("SCAN e"));
}

TEST_CASE("query: an interrupt ends it", "[query]")
{
	std::mt19937 random(12);
	std::vector<samples::StreamWriter> streams = many(20'000, random);
	trace::Trace trace = samples::trace(streams, events);
	query::Database database(trace, {});
	database.interrupt();
	CHECK(query_rows::error(database, "SELECT count(*) FROM one WHERE a = 77").find("interrupted") !=
	      std::string::npos);
	CHECK(query_rows::error(database, "SELECT * FROM threads").find("interrupted") != std::string::npos);
	database.clear_interrupt();
	CHECK(ask(database, "SELECT count(*) FROM one WHERE a = 77") == "0\n");
}

} // namespace test_query_plans
