// SPDX-License-Identifier: MIT
// `monitor archive`: recordings kept as projects, experiments and measurements, found again and compared over runs.
// answers/archive/ does the work.
#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "answers/archive/adding.h"
#include "answers/archive/condition.h"
#include "answers/archive/folder.h"
#include "answers/archive/listing.h"
#include "answers/archive/measurement_tables.h"
#include "answers/archive/name.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/text.h"
#include "commands.h"
#include "common_options.h"
#include "plots.h"
#include "print_table.h"
#include "problems.h"
#include "progress_line.h"
#include "recording/recorder/recorders.h"

namespace monitor {
namespace {

using report::Format;

struct ArchiveArguments {
	std::string archive, directory, name, second, text, note;
	std::vector<std::string> figures, removed;
	PlotArguments plot;
	bool json = false, csv = false, move = false, link = false;

	Format format() const { return format_of(json, csv); }
};

// Returns the exit code.
int print_sentences(const std::vector<std::string> &sentences)
{
	for (const std::string &sentence : sentences)
		print_error(sentence);
	return sentences.empty() ? 0 : 1;
}

std::vector<archive::Figure> figures_of(const std::vector<std::string> &texts)
{
	std::vector<archive::Figure> figures;
	for (const std::string &text : texts) {
		archive::Figure figure = archive::parse_figure(text);
		if (std::ranges::none_of(figures, [&](const auto &other) { return other.text() == figure.text(); }))
			figures.push_back(std::move(figure));
	}
	return figures;
}

// The requested figures, else those chosen for these projects, else `elapsed`.
std::vector<archive::Figure> figures_of(const ArchiveArguments &arguments, const std::vector<std::string> &names)
{
	std::vector<std::string> texts = arguments.figures;
	for (const std::string &name : names)
		if (arguments.figures.empty())
			for (const std::string &text :
			     archive::read_group(arguments.archive + "/" + archive::levels_of(name).front(),
						 archive::project_file)
				 .figures)
				texts.push_back(text);
	if (texts.empty())
		texts.emplace_back("elapsed");
	return figures_of(texts);
}

// Reads the traces, with a progress line. Returns messages about what is unknown.
std::vector<std::string> complete_all(std::vector<archive::Entry> &entries, const ArchiveArguments &arguments,
				      const std::vector<archive::Figure> &figures)
{
	ProgressLine line;
	std::vector<std::string> problems;
	for (std::size_t i = 0; i < entries.size(); ++i) {
		line.show(fmt::format("monitor: reading {} of {}", i + 1, entries.size()));
		for (std::string &problem : archive::add_missing_figures(entries[i], arguments.archive, figures))
			problems.push_back(std::move(problem));
	}
	return problems.empty() ? archive::missing_calls(entries, figures) : problems;
}

int run_add(const ArchiveArguments &arguments)
{
	if (const auto recorder = record::recorder_of(arguments.directory))
		throw Error("{} is still being recorded by process {}: stop it first", printable(arguments.directory),
			    *recorder);
	const archive::Transfer transfer = arguments.move   ? archive::Transfer::move
					   : arguments.link ? archive::Transfer::link
							    : archive::Transfer::copy;
	const archive::Added added =
	    archive::add(arguments.archive, arguments.directory, arguments.name, arguments.note, transfer);
	for (const std::string &note : added.notes)
		print_error(note);
	fmt::print("{}\n", archive::trace_of(arguments.archive, added.entry.name));
	return 0;
}

int run_list(const ArchiveArguments &arguments)
{
	const archive::Listing listing = archive::list(arguments.archive, arguments.name);
	print_table(archive::list_table(listing.entries, arguments.archive, arguments.format()), arguments.format());
	return print_sentences(listing.problems);
}

int run_find(const ArchiveArguments &arguments)
{
	const archive::Condition condition(arguments.text);
	archive::Listing listing = archive::list(arguments.archive, arguments.name);
	const std::vector<std::string> problems =
	    complete_all(listing.entries, arguments, figures_of(condition.figures()));
	std::erase_if(listing.entries, [&](const archive::Entry &entry) { return !condition.matches(entry); });
	print_table(archive::list_table(listing.entries, arguments.archive, arguments.format()), arguments.format());
	return std::max(print_sentences(listing.problems), print_sentences(problems));
}

// The folder of a name in the archive. Throws Error if it does not exist.
std::string folder_of(const ArchiveArguments &arguments)
{
	const std::string folder =
	    fmt::format("{}/{}", arguments.archive, fmt::join(archive::levels_of(arguments.name), "/"));
	if (::access(folder.c_str(), X_OK) < 0 && errno == EACCES)
		throw Error(errno, "cannot read " + printable(folder));
	if (::access(folder.c_str(), F_OK) < 0)
		throw Error("there is no {} in the archive {}; `monitor archive list` shows what there is",
			    printable(arguments.name), printable(arguments.archive));
	return folder;
}

const char *file_of_group(const ArchiveArguments &arguments)
{
	return archive::levels_of(arguments.name).size() == 1 ? archive::project_file : archive::experiment_file;
}

int run_show(const ArchiveArguments &arguments)
{
	const std::string folder = folder_of(arguments);
	if (archive::is_measurement(folder)) {
		const archive::Entry entry = archive::read_entry(arguments.archive, arguments.name);
		fmt::print("{}",
			   arguments.json ? archive::to_json(entry) : archive::entry_text(entry, arguments.archive));
		return 0;
	}
	if (arguments.json)
		throw Error(printable(arguments.name) +
			    " is not a measurement; `monitor archive list --json` has those that are in it");
	const archive::Group group = archive::read_group(folder, file_of_group(arguments));
	const std::string figures = fmt::format("{}", fmt::join(group.figures, "; "));
	fmt::print("{}\nnote: {}\nfigures: {}\n\n", printable(arguments.name),
		   group.note.empty() ? "-" : printable(group.note), figures.empty() ? "-" : printable(figures));
	return run_list(arguments);
}

int run_note(const ArchiveArguments &arguments)
{
	const std::string folder = folder_of(arguments);
	if (archive::is_measurement(folder)) {
		archive::set_note(folder, arguments.text);
		return 0;
	}
	const Fd lock = archive::lock_folder(folder);
	archive::Group group = archive::read_group(folder, file_of_group(arguments));
	group.note = arguments.text;
	archive::write_group(folder, file_of_group(arguments), group);
	return 0;
}

int run_figures(const ArchiveArguments &arguments)
{
	if (const auto levels = archive::levels_of(arguments.name); levels.size() != 1)
		throw Error("figures are chosen for a project: monitor archive figures " + readable(levels.front()));
	const std::string folder = folder_of(arguments);
	const Fd lock = archive::lock_folder(folder);
	archive::Group group = archive::read_group(folder, archive::project_file);
	for (const archive::Figure &figure : figures_of(arguments.figures))
		if (std::ranges::find(group.figures, figure.text()) == group.figures.end())
			group.figures.push_back(figure.text());
	for (const archive::Figure &figure : figures_of(arguments.removed))
		if (std::erase(group.figures, figure.text()) == 0)
			throw Error("{} is not among the figures of {}", printable(figure.text()),
				    printable(arguments.name));
	if (!arguments.figures.empty() || !arguments.removed.empty())
		archive::write_group(folder, archive::project_file, group);
	for (const std::string &figure : group.figures)
		fmt::print("{}\n", printable(figure));
	return 0;
}

int run_history(const ArchiveArguments &arguments)
{
	archive::Listing listing = archive::list(arguments.archive, arguments.name);
	const std::vector<archive::Figure> figures = figures_of(arguments, {arguments.name});
	const std::vector<std::string> problems = complete_all(listing.entries, arguments, figures);
	std::vector<plot::Chart> charts;
	if (arguments.plot.is_asked())
		for (const archive::Figure &figure : figures)
			charts.push_back(archive::history_chart(listing.entries, figure, arguments.name));
	if (arguments.plot.in_text)
		fmt::print("{}", plot_text(charts));
	else
		print_table(archive::history_table(listing.entries, figures), arguments.format());
	write_svg(charts, arguments.plot.file, archive::history_note(listing.entries));
	if (arguments.format() == Format::text)
		fmt::print("{}", archive::history_note(listing.entries));
	return std::max(print_sentences(listing.problems), print_sentences(problems));
}

// Quoted for a shell.
std::string shell_word(const std::string &word)
{
	std::string quoted = "'";
	for (const char c : printable(word))
		quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return quoted + "'";
}

int run_compare(const ArchiveArguments &arguments)
{
	std::vector<archive::Entry> entries = {archive::read_entry(arguments.archive, arguments.name),
					       archive::read_entry(arguments.archive, arguments.second)};
	const std::vector<archive::Figure> figures = figures_of(arguments, {arguments.name, arguments.second});
	const std::vector<std::string> problems = complete_all(entries, arguments, figures);
	print_table(archive::comparison_table(entries[0], entries[1], figures, arguments.format()), arguments.format());
	if (arguments.format() == Format::text)
		fmt::print("{}\nwhat else changed: monitor diff {} {}\n", archive::history_note(entries),
			   shell_word(archive::trace_of(arguments.archive, entries[0].name)),
			   shell_word(archive::trace_of(arguments.archive, entries[1].name)));
	return print_sentences(problems);
}

void add_formats(CLI::App &verb, ArchiveArguments &arguments)
{
	verb.add_flag("--json", arguments.json, "print JSON instead of text");
	verb.add_flag("--csv", arguments.csv, "print CSV instead of text")->excludes("--json");
}

// The option may precede or follow the verb.
void add_directory(CLI::App &command, ArchiveArguments &arguments)
{
	add_option(command, "--archive", "DIR", arguments.archive,
		   "the folder of the archive (default: MONITOR_ARCHIVE, else monitor/archive in XDG_DATA_HOME or "
		   "~/.local/share)");
}

// The verbs that change the archive.
void add_writing_verbs(
    const std::function<CLI::App *(const char *, const char *, int (*)(const ArchiveArguments &))> &verb,
    ArchiveArguments &arguments)
{
	CLI::App *add = verb("add", "add a trace as a measurement", run_add);
	add_option(*add, "trace", "DIR", arguments.directory, "a trace directory")->required();
	add_option(*add, "name", "PROJECT/EXPERIMENT/MEASUREMENT", arguments.name, "what it is called")->required();
	add_option(*add, "--note", "TEXT", arguments.note, "say what is special about it");
	add->add_flag("--move", arguments.move, "remove the original when the measurement is complete");
	add->add_flag("--link", arguments.link, "refer to the original instead of copying it")->excludes("--move");
	add->footer("Examples:\n  monitor archive add DIR 'web/more workers/run 1' --note '8 workers'\n"
		    "  monitor archive add DIR web/baseline/run1 --move");
	CLI::App *note = verb("note", "replace the note of a measurement, an experiment or a project", run_note);
	add_option(*note, "name", "NAME", arguments.name, "what it is about")->required();
	add_option(*note, "text", "TEXT", arguments.text, "the note")->required();
	note->footer("Examples:\n  monitor archive note 'web/more workers/run 1' '8 workers'\n"
		     "  monitor archive note web 'the front end'");
	CLI::App *figures = verb("figures", "choose the figures of a project", run_figures);
	add_option(*figures, "name", "PROJECT", arguments.name, "the project")->required();
	add_option(*figures, "--figure", "FIGURE", arguments.figures, "add this figure");
	add_option(*figures, "--remove", "FIGURE", arguments.removed, "remove this figure");
	figures->footer(
	    "A figure is: elapsed; cpu of COMMAND; or p50, p90, p99, min, mean, max, total or count of CALL,\n"
	    "of the whole machine.\n"
	    "Example:\n  monitor archive figures web --figure 'p99 of fsync' --figure 'cpu of nginx'");
}

void add_reading_verbs(
    const std::function<CLI::App *(const char *, const char *, int (*)(const ArchiveArguments &))> &verb,
    ArchiveArguments &arguments)
{
	CLI::App *list = verb("list", "list measurements, by date", run_list);
	add_option(*list, "name", "NAME", arguments.name, "those of this project or experiment");
	add_formats(*list, arguments);
	list->footer("Examples:\n  monitor archive list\n  monitor archive list web --json");
	CLI::App *show = verb("show", "show what is known of a measurement, an experiment or a project", run_show);
	add_option(*show, "name", "NAME", arguments.name, "which one")->required();
	show->add_flag("--json", arguments.json, "print JSON instead of text: of a measurement");
	show->footer("Examples:\n  monitor archive show web\n  monitor archive show 'web/more workers/run 1'");
	CLI::App *find = verb("find", "list the measurements for which a condition is true", run_find);
	add_option(*find, "condition", "EXPR", arguments.text,
		   "a condition in FDL over name, note, date, user, host, kernel, command ...")
	    ->required();
	add_formats(*find, arguments);
	find->footer("Examples:\n  monitor archive find 'command ~ \"*pgbench*\" and date > 2026-11-01'\n"
		     "  monitor archive find '`p99 of fsync` > 20ms'");
	CLI::App *history =
	    verb("history", "show figures over the measurements of a project or an experiment", run_history);
	add_option(*history, "name", "NAME", arguments.name, "which one")->required();
	add_option(*history, "--figure", "FIGURE", arguments.figures,
		   "show this figure (default: those of the project)");
	CLI::Option *plot = add_plot_options(*history, arguments.plot);
	add_formats(*history, arguments);
	plot->excludes("--json")->excludes("--csv");
	history->footer("Example:\n  monitor archive history web --figure 'p99 of fsync' --plot");
	CLI::App *compare = verb("compare", "compare the figures of two measurements", run_compare);
	add_option(*compare, "first", "NAME", arguments.name, "the one that is compared with")->required();
	add_option(*compare, "second", "NAME", arguments.second, "the other one")->required();
	add_option(*compare, "--figure", "FIGURE", arguments.figures,
		   "compare this figure (default: those of the projects)");
	add_formats(*compare, arguments);
	compare->footer(
	    "Example:\n  monitor archive compare web/baseline/run1 'web/more workers/run 1' --figure 'p99 of fsync'");
}

} // namespace

void add_archive(CLI::App &app, int &exit_code)
{
	auto arguments = std::make_shared<ArchiveArguments>();
	CLI::App *command =
	    app.add_subcommand("archive", "keep recordings as measurements of projects; the history of a figure");
	add_directory(*command, *arguments);
	const auto verb = [&](const char *name, const char *help, int (*run)(const ArchiveArguments &)) {
		CLI::App *added = command->add_subcommand(name, help);
		add_directory(*added, *arguments);
		added->callback([arguments, run, &exit_code] {
			arguments->archive = archive::archive_directory(arguments->archive);
			exit_code = run(*arguments);
		});
		return added;
	};
	add_writing_verbs(verb, *arguments);
	add_reading_verbs(verb, *arguments);
	command->require_subcommand(1);
	command->footer(
	    "Measurements are plain folders: moving, copying or removing them with other tools breaks nothing.\n"
	    "Exit code: 0, or 1 if some measurements are damaged.\n"
	    "Examples:\n"
	    "  monitor archive add DIR web/baseline/run1\n"
	    "  monitor archive list web\n"
	    "  monitor archive figures web --figure 'p99 of fsync'\n"
	    "  monitor archive history web --plot\n"
	    "  monitor archive compare web/baseline/run1 web/baseline/run2");
}

} // namespace monitor
