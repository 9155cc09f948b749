// SPDX-License-Identifier: MIT
// `monitor pack`: stores the function names of all recorded stacks in the trace, so that hosts without its programs can
// read it. Exit code: 0, or 1 if parts of the trace are damaged.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "answers/reports/folded_stacks.h"
#include "base/escape.h"
#include "base/fd.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "problems.h"

namespace monitor {
namespace {

struct PackArguments {
	std::string directory, tdl;
	std::vector<std::string> debug_directories;
};

int run_pack(const PackArguments &arguments)
{
	symbols::SymbolOptions options;
	options.debug_directories = arguments.debug_directories;
	options.lines = true;
	trace::Trace trace = open_trace({arguments.directory}, arguments.tdl);
	reports::FoldedStacks folded(trace, {}, std::move(options));
	for (const auto &[name, by] : report::stack_groupings)
		folded.stacks->tree(by);
	const symbols::PackedFrames found = folded.stacks->symbolizer().found();
	const std::string text = symbols::packed_frames_text(found);
	const std::string directory = arguments.directory + "/.monitor/";
	replace_file(directory + "frames", text, 0600);
	if (folded.info.complete())
		::unlink((directory + "kallsyms").c_str()); // `frames` has the symbols that are used
	reports::print_missing(folded.stacks->symbolizer());
	print_problems(trace.problems());
	fmt::print("{}: the names of {} addresses are in the trace now, {} kB\n", printable(arguments.directory),
		   found.in_files.size() + found.jit.size(), (text.size() + 999) / 1000);
	return trace.problems().empty() ? 0 : 1;
}

} // namespace

void add_pack(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("pack", "put the names of functions into a trace");
	auto arguments = std::make_shared<PackArguments>();
	add_option(*command, "trace", "DIR", arguments->directory, "the trace directory")->required();
	add_tdl_option(*command, arguments->tdl);
	add_debug_directories(*command, arguments->debug_directories);
	command->footer(
	    "A trace with stacks has addresses; their names are in the programs' files, on the machine where\n"
	    "they ran. After this, it can be reported anywhere. Only names are put into it, nothing else of\n"
	    "these files.\n"
	    "Examples:\n"
	    "  monitor pack DIR\n"
	    "  monitor pack DIR --debug-dir build/debug");
	command->callback([arguments, &exit_code] { exit_code = run_pack(*arguments); });
}

} // namespace monitor
