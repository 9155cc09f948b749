// SPDX-License-Identifier: MIT
// `monitor tdl`: checks a TDL description and prints it as text or JSON.
//
// The work is done in reading/tdl. Exit code: 0, or 1 if the description is wrong: prints FILE:LINE:COLUMN and the
// error.
#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include <fcntl.h>

#include "answers/report/table.h"
#include "base/escape.h"
#include "base/fd.h"
#include "commands.h"
#include "common_options.h"
#include "reading/tdl/read.h"
#include "reading/tdl/show.h"

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

// Notes what the description leaves undefined about times.
void note_times(const tdl::Model &model)
{
	const auto has_time = [](const tdl::Block &block) { return block.time.has_value(); };
	if (!(model.common && has_time(*model.common)) &&
	    std::none_of(model.records.begin(), model.records.end(), has_time))
		fmt::print("note: no record says `time is ...`, so the times of its events are unknown\n");
}

void print_model(const tdl::Model &model)
{
	report::Table table;
	for (const char *name : {"block", "field", "at", "bytes", "type", "unit", "meaning"})
		table.columns.push_back({name, name, report::Unit::text});
	for (const tdl::FieldRow &row : tdl::rows_of(tdl::compile(model, first_magic(model)).placed))
		table.rows.push_back({row.block, row.field, report::cell_of(row.at), report::cell_of(row.size),
				      row.type, row.unit, row.meaning});
	fmt::print("{}{}{}\n\n{}", printable(model.name), model.meaning.empty() ? "" : ": ", printable(model.meaning),
		   report::to_text(table));
	note_times(model);
}

void check_description(const TdlArguments &arguments)
{
	const tdl::ModelFile source = tdl::load(arguments.file);
	fmt::print("{}: ok\n", printable(source.path));
	note_times(source.model);
}

void show(const TdlArguments &arguments)
{
	const tdl::ModelFile source = tdl::load(arguments.file);
	if (!arguments.json)
		return print_model(source.model);
	fmt::print("{}\n", tdl::to_json(source.model, tdl::compile(source.model, first_magic(source.model)).placed));
}

void compile(const TdlArguments &arguments)
{
	const tdl::ModelFile source = tdl::load(arguments.file);
	const std::string text =
	    tdl::to_json(source.model, tdl::compile(source.model, first_magic(source.model)).placed) + "\n";
	if (arguments.output.empty())
		fmt::print("{}", text);
	else
		write_all(open_file(arguments.output, O_WRONLY | O_CREAT | O_TRUNC, 0644).get(),
			  std::as_bytes(std::span(text)), arguments.output);
}

} // namespace

void add_tdl(CLI::App &app, int &exit_code)
{
	auto arguments = std::make_shared<TdlArguments>();
	CLI::App *command = app.add_subcommand("tdl", "check, show or compile descriptions of binary files");
	const auto add = [&](const char *name, const char *help, const char *examples,
			     void (*run)(const TdlArguments &)) {
		CLI::App *added = command->add_subcommand(name, help);
		add_option(*added, "file", "FILE", arguments->file, "a description, or the name of a shipped one")
		    ->required();
		added->footer(std::string("Examples:\n") + examples);
		added->callback([arguments, run, &exit_code] {
			run(*arguments);
			exit_code = 0;
		});
		return added;
	};
	add("check", "check a description", "  monitor tdl check my-format.tdl", check_description);
	add("show", "show the position, type and meaning of every field",
	    "  monitor tdl show pcap\n  monitor tdl show my-format.tdl --json", show)
	    ->add_flag("--json", arguments->json, "print JSON instead of a table");
	add("compile", "print a description as JSON for other programs",
	    "  monitor tdl compile pcap\n  monitor tdl compile my-format.tdl -o my-format.json", compile)
	    ->add_option("-o,--output", arguments->output, "write to this file")
	    ->option_text("FILE");
	command->require_subcommand(1);
	command->footer("Example:\n  monitor tdl check my-format.tdl\n  monitor tdl show pcap");
}

} // namespace monitor
