// SPDX-License-Identifier: MIT
// `monitor tdl`: is a description in TDL right, what does it say, and the same for programs.
//
// What it does is in trace/tdl. Exit code: 0, or 1 if the description is wrong: FILE:LINE:COLUMN and what is.
#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include <fcntl.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "commands.h"
#include "report/table.h"
#include "trace/tdl/read.h"
#include "trace/tdl/show.h"

namespace monitor {
namespace {

using namespace trace;

struct TdlArguments {
	std::string file, output;
	bool json = false;
};

const tdl::Magic *first_magic(const tdl::Model &model)
{
	return model.magics.empty() ? nullptr : &model.magics.front();
}

// Behind what is printed: what the description leaves unknown.
void note_times(const tdl::Model &model)
{
	const auto tells = [](const tdl::Block &block) { return block.time.has_value(); };
	if (!(model.common && tells(*model.common)) && std::none_of(model.records.begin(), model.records.end(), tells))
		fmt::print("note: no record says `time is ...`, so nobody knows when its events were\n");
}

void print_table(const tdl::Model &model)
{
	report::Table table;
	for (const char *name : {"block", "field", "at", "bytes", "type", "unit", "meaning"})
		table.columns.push_back({name, name, report::Unit::text});
	const auto known = [](const std::string &text) { return text.empty() ? report::Cell() : report::Cell(text); };
	for (const tdl::Row &row : tdl::rows_of(tdl::compile(model, first_magic(model)).placed))
		table.rows.push_back(
		    {row.block, row.field, known(row.at), known(row.size), row.type, row.unit, row.meaning});
	fmt::print("{}{}{}\n\n{}", printable(model.name), model.meaning.empty() ? "" : ": ", printable(model.meaning),
		   report::to_text(table));
	note_times(model);
}

void check(const TdlArguments &arguments)
{
	const tdl::Source source = tdl::load(arguments.file);
	fmt::print("{}: ok\n", printable(source.path));
	note_times(source.model);
}

void show(const TdlArguments &arguments)
{
	const tdl::Source source = tdl::load(arguments.file);
	if (!arguments.json)
		return print_table(source.model);
	fmt::print("{}\n", tdl::to_json(source.model, tdl::compile(source.model, first_magic(source.model)).placed));
}

void compile(const TdlArguments &arguments)
{
	const tdl::Source source = tdl::load(arguments.file);
	const std::string text =
	    tdl::to_json(source.model, tdl::compile(source.model, first_magic(source.model)).placed) + "\n";
	if (arguments.output.empty())
		fmt::print("{}", text);
	else
		replace_file(arguments.output, text, 0644);
}

} // namespace

void add_tdl(CLI::App &app, int &exit_code)
{
	auto arguments = std::make_shared<TdlArguments>();
	CLI::App *command = app.add_subcommand("tdl", "descriptions of binary files: check, show or compile one");
	const auto add = [&](const char *name, const char *help, const char *examples,
			     void (*run)(const TdlArguments &)) {
		CLI::App *added = command->add_subcommand(name, help);
		added->add_option("file", arguments->file, "a description, or the name of a shipped one")
		    ->required()
		    ->option_text("FILE");
		added->footer(std::string("Examples:\n") + examples);
		added->callback([arguments, run, &exit_code] {
			run(*arguments);
			exit_code = 0;
		});
		return added;
	};
	add("check", "is it right?", "  monitor tdl check my-format.tdl", check);
	add("show", "where every field lies, of which type it is, what it means",
	    "  monitor tdl show pcap\n  monitor tdl show my-format.tdl --json", show)
	    ->add_flag("--json", arguments->json, "JSON instead of a table");
	add("compile", "what it says, as JSON for other programs",
	    "  monitor tdl compile pcap\n  monitor tdl compile my-format.tdl -o my-format.json", compile)
	    ->add_option("-o,--output", arguments->output, "write it there")
	    ->option_text("FILE");
	command->require_subcommand(1);
	command->footer("Example:\n  monitor tdl check my-format.tdl\n  monitor tdl show pcap");
}

} // namespace monitor
