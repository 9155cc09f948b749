// SPDX-License-Identifier: MIT
// Queries: columns and values, names that are no names, what is refused.
#include <catch2/catch.hpp>

#include "answers/query/event_columns.h"
#include "monitor/card.h"
#include "query_rows.h"
#include "samples.h"

namespace test_query {

using namespace monitor;
using query_rows::ask;
using query_rows::error;
using samples::event_block;

namespace {

// A short and a long form, labels, text, unsigned values beyond 2^63, a thread's name.
const std::string events =
    event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    event_block(257, "sched_wakeup_new",
		"u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];") +
    event_block(258, "call", "s16_t ret;") + event_block(259, "call", "range_t ret; u64_t big;") +
    event_block(260, "note", "u16_t time; text_t name[16];") + event_block(261, "empty", "");

std::vector<samples::StreamWriter> writers()
{
	std::vector<samples::StreamWriter> made = {{0, 0}, {1, 0}};
	made[0].open(1000).tid = 7;
	made[0].post(1000, 258, 5);
	made[0].post(1010, 257, 0, {std::uint64_t(9) | std::uint64_t(8) << 32, 0, 0x4243, 0});
	made[0].post(1020, EDC_ID_SCHED_SWITCH, 0, {std::uint64_t(7) | std::uint64_t(9) << 32});
	made[0].post(1030, 259, 0xfffe, {0xfffffffffffffffe});
	made[1].open(1005);
	made[1].post(1005, 260, 77, {0x4141, 0}, EDC_MODE_USER);
	made[1].post(1030, 261, 0);
	return made;
}

struct Sample {
	std::vector<samples::StreamWriter> streams = writers();
	trace::Trace trace = samples::trace(streams, events);
	query::Database database{trace, {}};
};

} // namespace

TEST_CASE("query: every event has what an event has", "[query]")
{
	Sample sample;
	CHECK(ask(sample.database,
		  "SELECT time_ns, round(time * 1e9), ticks, wall_ns - 1700000000000000000, cpu, level, mode, name, "
		  "stream FROM events") == "0|0|1000|1005|0|0|kernel|call|s0\n"
					   "5|5|1005|1010|1|0|user|note|s1\n"
					   "10|10|1010|1015|0|0|kernel|sched_wakeup_new|s0\n"
					   "20|20|1020|1025|0|0|kernel|sched_switch|s0\n"
					   "30|30|1030|1035|0|0|kernel|call|s0\n"
					   "30|30|1030|1035|1|0|kernel|empty|s1\n");
	CHECK(ask(sample.database, "SELECT count(*), count(DISTINCT rowid) FROM events") == "6|6\n");
	CHECK(ask(sample.database, "SELECT name, fields, context FROM events WHERE cpu = 1") ==
	      "note|{\"time\":77,\"name\":\"AA\"}|-\nempty|{}|-\n");
}

TEST_CASE("query: events have the thread that ran", "[query]")
{
	Sample sample;
	CHECK(ask(sample.database, "SELECT time_ns, tid FROM events WHERE cpu = 0") == "0|7\n10|7\n20|7\n30|9\n");
	CHECK(ask(sample.database, "SELECT tid, thread, tgid FROM events WHERE time_ns = 30 AND cpu = 0") ==
	      "9|CB|8\n");
	CHECK(ask(sample.database, "SELECT time_ns FROM events WHERE thread = 'CB' AND tgid = 8") == "30\n");
}

TEST_CASE("query: a class is a table, two of one name are one", "[query]")
{
	Sample sample;
	CHECK(ask(sample.database, "SELECT time_ns, ret, ret_label, big FROM call") == "0|5|-|-\n30|-2|minus|-2\n");
	CHECK(ask(sample.database, "SELECT printf('%llu', big) FROM call WHERE big = 0xfffffffffffffffe") ==
	      "18446744073709551614\n");
	CHECK(ask(sample.database, "SELECT ret FROM call WHERE ret_label = 'minus'") == "-2\n");
	CHECK(ask(sample.database, "SELECT ret FROM call WHERE ret_label GLOB 'm*'") == "-2\n");
	CHECK(ask(sample.database, "SELECT ret FROM call WHERE big IS NULL") == "5\n");
	CHECK(ask(sample.database, "SELECT count(*) FROM call WHERE big < 0") == "1\n");
	// what every event has keeps its name
	CHECK(ask(sample.database, "SELECT time, \"event.time\", name, \"event.name\" FROM note") ==
	      "5e-09|77|note|AA\n");
	CHECK(ask(sample.database, "SELECT time_ns FROM empty") == "30\n");
}

TEST_CASE("query: a filter is an argument", "[query]")
{
	Sample sample;
	CHECK(ask(sample.database, "SELECT name, time_ns FROM events('ret < 0 or name ~ \"n*\"')") ==
	      "note|5\ncall|30\n");
	CHECK(ask(sample.database, "SELECT time_ns FROM call('tid == 9')") == "30\n");
	CHECK(ask(sample.database, "SELECT count(*) FROM events(NULL)") == "0\n");
	CHECK(error(sample.database, "SELECT * FROM events('rett < 0')").find("Did you mean ret") != std::string::npos);
	CHECK(ask(sample.database, "SELECT c.ret FROM (SELECT 'ret > 0' AS f) JOIN call(f) AS c") == "5\n");
	query::Database only(sample.trace, "cpu == 1");
	CHECK(ask(only, "SELECT count(*) FROM events") == "2\n");
	CHECK(ask(only, "SELECT count(*) FROM call") == "0\n");
	CHECK_THROWS(query::Database(sample.trace, "nonsense =="));
}

TEST_CASE("query: what is recorded is listed", "[query]")
{
	Sample sample;
	CHECK(ask(sample.database, "SELECT name, id, fields, \"table\", count FROM classes WHERE name = 'call'") ==
	      "call|258|ret|call|1\ncall|259|ret, big|call|1\n");
	CHECK(ask(sample.database, "SELECT sum(packets) FROM streams") == "2\n");
	CHECK(ask(sample.database, "SELECT value FROM info WHERE key = 'duration_ns'") == "30\n");
	CHECK(ask(sample.database, "SELECT tid, tgid FROM threads ORDER BY tid LIMIT 1") == "7|7\n");
}

TEST_CASE("query: nothing can be written", "[query]")
{
	Sample sample;
	for (const char *sql :
	     {"DELETE FROM events", "INSERT INTO info VALUES (1, 2)", "UPDATE events SET cpu = 1", "CREATE TABLE t(a)",
	      "CREATE TEMP TABLE t(a)", "CREATE VIEW v AS SELECT 1", "DROP TABLE events",
	      "ATTACH '/tmp/query-test' AS other", "VACUUM INTO '/tmp/query-test'", "PRAGMA writable_schema = 1",
	      "PRAGMA temp_store_directory = '/'", "BEGIN", "SELECT load_extension('x')",
	      "SELECT fts3_tokenizer('simple')", "SELECT fts3_tokenizer('simple', x'4141414141414141')", "ANALYZE",
	      "UPDATE sqlite_master SET type = 'x'", "CREATE VIRTUAL TABLE t USING fts5(a)"}) {
		INFO(sql);
		CHECK(error(sample.database, sql).find("only SELECT is allowed") != std::string::npos);
	}
	CHECK(ask(sample.database, "SELECT count(*) FROM pragma_table_info('call')") == "15\n");
	CHECK(ask(sample.database, "SELECT sum(value) FROM json_each('[1, 2]')") == "3\n");
	for (const char *module : {"fts3tokenize", "dbstat", "sqlite_stmt"})
		CHECK(error(sample.database, std::string("SELECT * FROM ") + module).find("there is no table") !=
		      std::string::npos);
}

TEST_CASE("query: errors say where and what is near", "[query]")
{
	Sample sample;
	CHECK(error(sample.database, "SELECT 1 FROM cal") == "query: there is no table cal. Did you mean call?");
	CHECK(error(sample.database, "SELECT rett FROM call") ==
	      "query: there is no column rett. Did you mean ret?\n  SELECT rett FROM call\n         ^");
	CHECK(error(sample.database, "SELECT\n  1 +* 2") == "query: near \"*\": syntax error\n    1 +* 2\n       ^");
	CHECK(error(sample.database, "SELECT * FROM ratios").find("record with -m") != std::string::npos);
}

TEST_CASE("query: hostile names of classes and fields can be selected", "[query]")
{
	const std::string hostile =
	    event_block(256, R"(it's "quoted"])", "u16_t arg; u32_t select; u32_t from;") +
	    event_block(257, "events", "u16_t Filter; u32_t filter; u32_t rowid;") +
	    event_block(258, "Case", "u16_t arg;") + event_block(259, "case", "u16_t arg;") +
	    event_block(260, "sqlite_master", "u16_t arg;") + event_block(261, "pragma_list", "u16_t arg;") +
	    event_block(262, "json_each", "u16_t arg;") + event_block(263, "", "u12_t x_label; abi_t x;") +
	    event_block(264, "DROP TABLE x; --", "u16_t arg;");
	std::vector<samples::StreamWriter> streams = {{0, 0}};
	streams[0].open(10);
	for (unsigned id = 256; id <= 264; ++id) {
		if (id <= 257)
			streams[0].post(id, id, id, {id + (std::uint64_t(id + 1) << 32)});
		else
			streams[0].post(id, id, id);
	}
	std::string quoted_hostile = hostile;
	quoted_hostile.replace(quoted_hostile.find("\"quoted\""), 8, "\\\"quoted\\\"");
	trace::Trace trace = samples::trace(streams, quoted_hostile);
	query::Database database(trace, {});
	for (const std::string &table : database.tables()) {
		INFO(table);
		CHECK(database.schema(table).find("CREATE TABLE") == 0);
		CHECK(error(database, "SELECT * FROM " + query::in_quotes(table)) == "");
	}
	CHECK(ask(database, "SELECT arg FROM \"it's \"\"quoted\"\"]\"") == "256\n");
	CHECK(ask(database, "SELECT \"select\", \"from\" FROM \"it's \"\"quoted\"\"]\"") == "256|257\n");
	CHECK(ask(database, "SELECT \"event.Filter\", \"event.filter_2\" FROM \"event.events\"") == "257|257\n");
	CHECK(ask(database, "SELECT \"table\" FROM classes WHERE name = 'case'") == "event.case\n");
	CHECK(ask(database, "SELECT arg FROM \"event.case\"") == "259\n");
	CHECK(ask(database, "SELECT arg FROM \"event.sqlite_master\"") == "260\n");
	CHECK(ask(database, "SELECT x_label, x, \"event.x_label\" FROM \"\"") == "263|0|native\n");
}

} // namespace test_query
