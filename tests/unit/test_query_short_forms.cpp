// SPDX-License-Identifier: MIT
// Columns of a table whose rows are short and long forms of one event.
#include <catch2/catch.hpp>

#include "query_rows.h"
#include "short_forms.h"

namespace test_query_short_forms {

using query_rows::ask;

TEST_CASE("query: what a short form lacks follows from earlier events", "[query]")
{
	std::vector<samples::StreamWriter> streams = short_forms::writers();
	monitor::trace::Trace trace = samples::trace(streams, short_forms::events);
	monitor::query::Database database(trace, {}, 1); // a checkpoint after each event
	CHECK(ask(database, "SELECT time_ns, ret, id, id_label, abi_label FROM sys_exit") == "20|-2|257|openat|native\n"
											     "50|0|-|-|-\n"
											     "65|-2|257|-|compat\n"
											     "80|5|0|read|native\n"
											     "110|-2|-|-|-\n"
											     "130|3|257|openat|native\n"
											     "160|7|56|clone|native\n"
											     "180|0|56|clone|native\n");
	CHECK(ask(database, "SELECT time_ns FROM sys_exit WHERE id = 257 AND ret > 0") == "130\n");
	CHECK(ask(database, "SELECT comm FROM sched_process_exit WHERE pid = 7") == "kid\n");
	CHECK(ask(database, "SELECT time_ns FROM sys_exit WHERE time_ns BETWEEN 70 AND 100 AND id_label = 'read'") ==
	      "80\n");
	CHECK(database.notes().empty());
	CHECK(ask(database, "SELECT time_ns FROM sys_exit WHERE id_label = 'openat' AND ret = -2") == "20\n");
	CHECK(database.notes().size() == 1);
	CHECK(ask(database, "SELECT time_ns FROM events('name == \"other\" and at == 5')").empty());
	CHECK(database.notes().size() == 2);
}

} // namespace test_query_short_forms
