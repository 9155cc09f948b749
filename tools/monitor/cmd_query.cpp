// SPDX-License-Identifier: MIT
// `monitor query`: SQL over a trace, from the command line, a prompt or standard input. A thin caller of
// userspace/answers/query; rows are written as they are found.
// Exit code: 0; 1 if a statement is wrong or fails, or parts of the trace are damaged; 130 if interrupted.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "answers/query/statement.h"
#include "answers/report/row_writer.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "print_table.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"
#include "selection.h"

namespace monitor {
namespace {

constexpr int exit_interrupted = 128 + SIGINT;
constexpr std::size_t max_statement_bytes = 1 << 20; // on standard input

struct QueryOptions {
	std::string directory, tdl;
	std::vector<std::string> sql;
	std::optional<std::string> filter;
	bool json = false, csv = false;

	report::Format format() const { return format_of(json, csv); }
};

query::Database *running = nullptr; // interrupted by Ctrl-C

void interrupt(int)
{
	if (running)
		running->interrupt();
}

// Ctrl-C ends the running statement, and also a read at the prompt.
void catch_interrupts(query::Database &database)
{
	running = &database;
	struct sigaction action {};
	action.sa_handler = interrupt;
	sigaction(SIGINT, &action, nullptr);
	std::signal(SIGPIPE, SIG_IGN); // writing to a closed pipe must return an error
}

report::RowCell cell_of(const query::Cell &cell)
{
	if (const auto *number = std::get_if<std::int64_t>(&cell))
		return *number;
	if (const auto *real = std::get_if<double>(&cell))
		return *real;
	if (const auto *text = std::get_if<std::string_view>(&cell))
		return std::string(*text);
	const auto *blob = std::get_if<query::Blob>(&cell);
	if (!blob)
		return {};
	return "x'" + to_hex(std::as_bytes(std::span(blob->bytes))) + "'";
}

// Throws QueryError. False: the pipe was closed by its reader.
bool print(query::Statement &statement, report::Format format)
{
	report::RowWriter writer(format, statement.columns(), stdout);
	while (statement.step()) {
		std::vector<report::RowCell> row;
		for (std::size_t i = 0; i < statement.columns().size(); ++i)
			row.push_back(cell_of(statement.cell(i)));
		if (!writer.put(std::move(row)))
			return false;
	}
	writer.finish();
	return std::ferror(stdout) == 0;
}

// Runs all statements of a text.
bool run_query(query::Database &database, std::string_view sql, report::Format format)
{
	while (!sql.empty()) {
		query::Statement statement(database, sql);
		if (!statement.is_empty() && !print(statement, format))
			return false;
	}
	return true;
}

constexpr const char *prompt_help = ".tables          list the tables of this trace\n"
				    ".schema [TABLE]  show their columns\n"
				    ".help            show this text\n"
				    ".quit            quit; so does Ctrl-D\n"
				    "Anything else is SQL, up to a semicolon, for example:\n"
				    "  SELECT name, count(*) FROM events GROUP BY name;\n";

// Runs a dot command. False: quit.
bool command(query::Database &database, const std::string &line)
{
	const std::string name = line.substr(0, line.find_first_of(" \t"));
	std::string argument = line.substr(name.size());
	argument.erase(0, argument.find_first_not_of(" \t"));
	argument.erase(argument.find_last_not_of(" \t;") + 1);
	if (name == ".quit" || name == ".exit")
		return false;
	if (name == ".tables")
		for (const std::string &table : database.tables())
			fmt::print("{}\n", printable(table));
	else if (name == ".schema")
		for (const std::string &table : argument.empty() ? database.tables() : std::vector{argument})
			fmt::print("{}\n", printable_lines(database.schema(table)));
	else if (name == ".help")
		fmt::print("{}", prompt_help);
	else
		throw Error("unknown command " + name + "; .help lists the commands");
	return true;
}

// Lines from a user or a file; statements end with a semicolon.
class Prompt {
public:
	Prompt(query::Database &database, report::Format format)
	    : database_(database), format_(format), is_interactive_(::isatty(STDIN_FILENO) != 0)
	{
	}

	int run()
	{
		if (is_interactive_)
			fmt::print("SQL over a trace; .help shows the commands\n");
		std::string line;
		for (print_prompt(); std::getline(std::cin, line); print_prompt())
			if (!add_line(line))
				return exit_code_;
		if (database_.is_interrupted())
			return exit_interrupted;
		run_text();
		if (is_interactive_)
			fmt::print("\n");
		return exit_code_;
	}

private:
	void print_prompt() const
	{
		if (is_interactive_)
			fmt::print("{}", text_.empty() ? "monitor> " : "    ...> ");
		std::fflush(stdout);
	}

	// False: end the prompt.
	bool add_line(const std::string &line)
	{
		if (text_.empty() && line.starts_with("."))
			return guarded([&] { return command(database_, line); });
		if (text_.size() + line.size() >= max_statement_bytes)
			return refuse_long();
		text_ += line + "\n";
		if (text_.find_first_not_of(" \t\n") == std::string::npos)
			text_.clear();
		const bool may_end = line.find(';') != std::string::npos; // saves scanning the whole text
		return !may_end || !sqlite3_complete(text_.c_str()) || run_text();
	}
	bool refuse_long()
	{
		text_.clear();
		return guarded([]() -> bool {
			throw Error("a statement has more than {} bytes: end statements with a semicolon",
				    max_statement_bytes);
		});
	}
	bool run_text()
	{
		const std::string sql = std::exchange(text_, "");
		return guarded([&] { return run_query(database_, sql, format_); });
	}
	// After an error an interactive user may try again.
	template <class Call> bool guarded(Call call)
	{
		try {
			return call();
		} catch (const Error &error) {
			std::fflush(stdout);
			print_error(error.what());
			exit_code_ = is_interactive_ ? 0 : database_.is_interrupted() ? exit_interrupted : 1;
			database_.clear_interrupt();
			return is_interactive_;
		}
	}

	query::Database &database_;
	report::Format format_;
	bool is_interactive_;
	std::string text_; // of an unfinished statement
	int exit_code_ = 0;
};

// Refuses a second directory, which would be taken for SQL.
void expect_statements(const QueryOptions &options)
{
	std::error_code ignored;
	for (const std::string &sql : options.sql)
		if (std::filesystem::exists(sql, ignored))
			throw Error("query takes one trace, and {} is a file, not SQL; `monitor merge -o BOTH {} {}` "
				    "makes one trace of both",
				    sql, options.directory, sql);
}

int query_trace(const QueryOptions &options)
{
	expect_statements(options);
	trace::Trace trace = open_trace({options.directory}, options.tdl);
	query::Database database(trace, options.filter);
	catch_interrupts(database);
	int exit_code = 0;
	try {
		if (options.sql.empty())
			exit_code = Prompt(database, options.format()).run();
		for (const std::string &sql : options.sql)
			if (!(sql.starts_with(".") ? command(database, sql)
						   : run_query(database, sql, options.format())))
				break;
	} catch (const Error &error) {
		std::fflush(stdout);
		print_error(error.what());
		exit_code = database.is_interrupted() ? exit_interrupted : 1;
	}
	running = nullptr;
	for (const std::string &note : database.notes())
		print_note("monitor: {}\n", printable(note));
	if (const std::string unknown = analyze::recording_of(trace).unknown_text(); !unknown.empty())
		print_note("monitor: {}\n", unknown);
	const int damaged = print_problems(trace.problems());
	return exit_code ? exit_code : damaged;
}

} // namespace

void add_query(CLI::App &app, int &exit_code)
{
	auto options = std::make_shared<QueryOptions>();
	CLI::App *command = app.add_subcommand("query", "query a trace with SQL");
	add_option(*command, "trace", "DIR", options->directory, "trace directory")->required();
	add_tdl_option(*command, options->tdl);
	add_option(*command, "sql", "SQL ...", options->sql, "statements; without any: a prompt, or standard input");
	add_option(*command, "--filter", "EXPR", options->filter,
		   "limit the tables of events to those for which this is true, see monitor-list(1)");
	refuse_selection(*command, "select rows by WHERE, such as WHERE time BETWEEN 1 AND 2 AND tid = 1234");
	command->add_flag("--json", options->json, "print JSON: an array of objects for each statement");
	command->add_flag("--csv", options->csv, "print comma-separated values")->excludes("--json");
	command->footer(
	    "Tables: events, one per event name, classes, streams, info; threads and activities, from the scheduler's\n"
	    "events; ratios, from counters. `.schema` at the prompt shows their columns.\n"
	    "WHERE limits rows to a time (time, time_ns), CPUs (cpu) and threads (tid, tgid, thread).\n"
	    "Exit code: 0, 1 if a statement is wrong or parts of the trace are damaged, 130 if it was interrupted.\n"
	    "Examples:\n"
	    "  monitor query DIR 'SELECT name, count(*) FROM events GROUP BY name'\n"
	    "  monitor query DIR 'SELECT * FROM sched_switch WHERE time BETWEEN 0.5 AND 0.51 AND cpu = 0'\n"
	    "  monitor query DIR \"SELECT time, thread, fields FROM events('ret < 0 and name == \\\"sys_exit\\\"')\"\n"
	    "  monitor query DIR --csv 'SELECT name, sum(duration_ns) FROM activities GROUP BY name'\n"
	    "  monitor query DIR");
	command->callback([options, &exit_code] { exit_code = query_trace(*options); });
}

} // namespace monitor
