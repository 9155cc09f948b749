// SPDX-License-Identifier: MIT
// `monitor convert`: a trace in the format of another tool. answers/export/ writes the formats.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "answers/export/lttng.h"
#include "answers/export/perfetto.h"
#include "answers/export/pprof.h"
#include "answers/export/speedscope.h"
#include "answers/export/wait_fold.h"
#include "answers/report/profile.h"
#include "answers/reports/folded_stacks.h"
#include "base/error.h"
#include "base/escape.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "output_path.h"
#include "problems.h"
#include "selection.h"

namespace monitor {
namespace {

namespace fs = std::filesystem;

enum class Target : std::uint8_t { perfetto, lttng, speedscope, folded, pprof };

struct TargetInfo {
	Target format;
	const char *suffix; // of the default output file
	bool is_events;     // all events, else stacks
	bool is_binary;
};

const std::map<std::string, TargetInfo> formats = {
    {"perfetto", {Target::perfetto, ".perfetto-trace", true, true}},
    {"lttng", {Target::lttng, ".lttng", true, true}},
    {"speedscope", {Target::speedscope, ".speedscope.json", false, false}},
    {"folded", {Target::folded, ".folded", false, false}},
    {"pprof", {Target::pprof, ".pb.gz", false, true}}};

struct ConvertArguments {
	std::vector<std::string> directories;
	std::string tdl, to, output, by;
	std::vector<std::string> debug_directories;
	Selection selection;
	bool flows = false, lines = false;

	const TargetInfo &format() const { return formats.at(to); }
};

std::vector<std::string> format_names()
{
	return {"perfetto", "lttng", "speedscope", "folded", "pprof"};
}

// Options that have no meaning for a format are errors.
void expect_options(const ConvertArguments &arguments)
{
	const TargetInfo &format = arguments.format();
	if (arguments.flows && format.format != Target::perfetto)
		throw CLI::ValidationError("--flows needs --to perfetto");
	if (format.is_events && (!arguments.by.empty() || arguments.lines || !arguments.debug_directories.empty()))
		throw CLI::ValidationError(
		    "--by, --lines and --debug-dir are for stacks: --to speedscope, folded or pprof");
	if (format.is_events && !arguments.selection.threads.is_all())
		throw CLI::ValidationError(
		    fmt::format("--to {} has all threads of the machine: select a part by --from, --until and --cpu",
				arguments.to));
	if (format.format == Target::lttng && arguments.output == "-")
		throw CLI::ValidationError("--to lttng writes a directory, not standard output");
	if (format.is_binary && arguments.output == "-" && ::isatty(STDOUT_FILENO))
		throw CLI::ValidationError("-o -: standard output is a terminal, and this format is not text");
}

// Next to the trace, with its name.
std::string default_output(const ConvertArguments &arguments)
{
	fs::path path = fs::path(arguments.directories.front()).lexically_normal();
	if (!path.has_filename())
		path = path.parent_path();
	if (path.filename() == "." || path.filename() == "..")
		path = fs::canonical(path);
	return path.string() + arguments.format().suffix;
}

std::string size_text(std::uint64_t bytes)
{
	return bytes < 1'000'000 ? fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3)
				 : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// What the conversion leaves out, "" if nothing.
std::string missing_text(const exporting::Converted &converted, const analyze::RecordingInfo &info, bool marks_losses)
{
	std::vector<std::string> parts;
	if (!converted.left_out.empty()) {
		constexpr std::size_t max_named = 6;
		std::vector<std::string> names;
		std::uint64_t sum = 0;
		for (const auto &[name, count] : converted.left_out) {
			sum += count;
			if (names.size() < max_named)
				names.push_back(fmt::format("{} {}", count, printable(name)));
		}
		parts.push_back(fmt::format("{} events that the format has no place for ({}{})", sum,
					    fmt::join(names, ", "),
					    converted.left_out.size() > max_named ? ", ..." : ""));
	}
	if (converted.outside)
		parts.push_back(
		    fmt::format("{} not selected, or recorded while not all probes were attached", converted.outside));
	const trace::Losses &losses = converted.losses;
	const char *marked = marks_losses ? "which are marked" : "which are not marked: the format cannot";
	if (losses.gaps && info.has_only_phases())
		parts.push_back(fmt::format("what happened in phases without probes, {}", marked));
	else if (losses.gaps)
		parts.push_back(fmt::format(
		    "{} that the recording lost, {}",
		    losses.total_lost() ? std::to_string(losses.lost) : std::string("an unknown number"), marked));
	return parts.empty() ? "" : fmt::format("not in it: {}", fmt::join(parts, "; "));
}

// One line; if the output is standard output, only what is left out.
void print_written(const std::string &path, std::uint64_t bytes, const std::string &what, const std::string &missing)
{
	if (path != "-")
		print_note("monitor: {} written, {}, {}{}{}\n", printable(path), size_text(bytes), what,
			   missing.empty() ? "" : "; ", missing);
	else if (!missing.empty())
		print_note("monitor: {}\n", missing);
}

void print_unknown(const analyze::RecordingInfo &info)
{
	if (info.present && !info.complete())
		print_note("monitor: the recording was not completed: its last events are missing\n");
	if (!info.unknown_text().empty())
		print_note("monitor: {}\n", info.unknown_text());
}

// The error if no event matches the options.
Error nothing_matches()
{
	return Error("nothing in this trace matches the options");
}

exporting::Converted write_events(const ConvertArguments &arguments, trace::Trace &trace,
				  const analyze::RecordingInfo &info, const analyze::Scope &scope,
				  const std::string &path)
{
	if (arguments.format().format == Target::lttng)
		return exporting::write_lttng(trace, info, scope, path);
	exporting::Output output(path);
	return exporting::write_perfetto(trace, info, {scope, arguments.flows}, output);
}

int convert_events(const ConvertArguments &arguments, const std::string &path)
{
	trace::Trace trace = open_trace(arguments.directories, arguments.tdl);
	expect_events(trace, "a file of another tool");
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	const analyze::Scope scope = arguments.selection.scope(trace, info);
	const auto is_included = [&](const std::unique_ptr<trace::Stream> &stream) {
		return stream->info().has_cpu() && scope.includes_cpu(stream->info().cpu);
	};
	if (!scope.cpus.empty() && std::ranges::none_of(trace.streams(), is_included))
		throw nothing_matches();
	const exporting::Converted converted = write_events(arguments, trace, info, scope, path);
	print_written(path, converted.size_bytes, fmt::format("{} events", converted.events),
		      missing_text(converted, info, true));
	print_unknown(info);
	return print_problems(trace.problems());
}

// The stacks of a trace, or the waits of its threads.
class StacksOrWaits {
public:
	explicit StacksOrWaits(const ConvertArguments &arguments)
	    : trace_(open_trace(arguments.directories, arguments.tdl)), info_(analyze::recording_of(trace_)),
	      fold_(trace_, info_, arguments.selection.scope(trace_, info_))
	{
		expect_events(trace_, "a file of stacks");
		fold_.add(stacks_);
		fold_.add(waits_);
		losses_ = analyze::feed(trace_, fold_);
		if (stacks_.any())
			find_stacks(arguments);
		else if (info_.present && !info_.has_program("sched_waking"))
			throw Error(printable(arguments.directories.front()) +
				    " has neither stacks nor all wake-ups, so what threads waited for is not known: "
				    "record with --stacks, or -e sched");
		else if (arguments.by.empty() || arguments.by == "offcpu")
			find_waits(arguments);
		else
			throw Error(printable(arguments.directories.front()) +
				    " has no stacks: record with --stacks, or convert what threads waited for and who "
				    "woke them: --by offcpu");
	}

	// At least one.
	const std::vector<report::Profile> &profiles() const { return profiles_; }
	bool has_stacks() const { return stacks_.any(); }
	const trace::Trace &trace() const { return trace_; }
	const trace::Losses &losses() const { return losses_; }
	const analyze::RecordingInfo &info() const { return info_; }

	std::string content() const
	{
		std::vector<std::string> names;
		for (const report::Profile &profile : profiles_)
			names.push_back(has_stacks()
					    ? fmt::format("{} stacks of {}", profile.stacks.size(), profile.name)
					    : fmt::format("{} kinds of sleeps", profile.stacks.size()));
		return fmt::format("{}", fmt::join(names, ", "));
	}

	exporting::ProfileOrigin origin() const
	{
		return {info_.title(), clock().wall_ns(fold_.window_begin()),
			clock().to_ns(fold_.window_end() - fold_.window_begin()), info_.stacks.timer_hz};
	}

private:
	const trace::Clock &clock() const { return trace_.description().clock; }

	void find_waits(const ConvertArguments &arguments)
	{
		if (!arguments.selection.cpus.empty())
			throw CLI::ValidationError("--cpu: a thread that is blocked is on no CPU, so what threads "
						   "waited for can only be limited to times and threads");
		profiles_.push_back(waits_.profile(fold_, clock()));
	}

	void find_stacks(const ConvertArguments &arguments)
	{
		symbols::SymbolOptions options;
		options.debug_directories = arguments.debug_directories;
		options.lines = arguments.lines;
		report::NamedStacks named(arguments.directories.front(), clock(), info_, fold_, stacks_,
					  std::move(options));
		const bool takes_several = arguments.format().format == Target::speedscope && arguments.by.empty();
		const report::StackBy chosen = reports::stacks_by(arguments.by, info_);
		for (const auto &[name, by] : report::stack_groupings)
			if (by == chosen || (takes_several && named.tree(by).total() > 0))
				profiles_.push_back(report::profile_of(named.tree(by), clock(), by, name));
		reports::print_missing(named.symbolizer());
	}

	trace::Trace trace_;
	analyze::RecordingInfo info_;
	analyze::ThreadFold fold_;
	analyze::StackFold stacks_;
	exporting::WaitFold waits_;
	trace::Losses losses_;
	std::vector<report::Profile> profiles_;
};

int convert_stacks(const ConvertArguments &arguments, const std::string &path)
{
	const StacksOrWaits source(arguments);
	const auto is_empty = [](const report::Profile &profile) { return profile.stacks.empty(); };
	if (!arguments.selection.is_all() && std::ranges::all_of(source.profiles(), is_empty))
		throw nothing_matches();
	exporting::Output output(path);
	const report::Profile &first = source.profiles().front();
	if (arguments.format().format == Target::folded)
		output.append(report::folded_text(first));
	else if (arguments.format().format == Target::pprof)
		exporting::write_pprof(first, source.origin(), output);
	else
		exporting::write_speedscope(source.profiles(), source.origin(), output);
	output.finish();
	print_written(path, output.size_bytes(), source.content(),
		      missing_text({0, 0, 0, {}, source.losses()}, source.info(), false));
	print_unknown(source.info());
	return print_problems(source.trace().problems());
}

// Returns the exit code.
int run_convert(const ConvertArguments &arguments)
{
	expect_options(arguments);
	const std::string path = arguments.output.empty() ? default_output(arguments) : arguments.output;
	expect_outside(path, arguments.directories);
	return arguments.format().is_events ? convert_events(arguments, path) : convert_stacks(arguments, path);
}

} // namespace

void add_convert(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("convert", "write a trace in the format of another tool");
	auto arguments = std::make_shared<ConvertArguments>();
	add_option(*command, "trace", "DIR", arguments->directories, "a trace directory")->required()->expected(1);
	add_option(
	    *command, "--to", "FORMAT", arguments->to,
	    "the format: perfetto, lttng; of stacks, or else of what threads waited for: speedscope, folded, pprof")
	    ->required()
	    ->check(CLI::IsMember(format_names()));
	add_option(*command, "-o,--output", "FILE", arguments->output,
		   "write to this file, or directory (lttng); - is standard output (default: beside DIR)");
	command->add_flag("--flows", arguments->flows, "perfetto: an arrow from each thread that wakes another");
	command
	    ->add_option("--by", arguments->by,
			 "of stacks: those on the cpu, offcpu (blocked), wait (blocked, and by whom it was ended), at "
			 "a fault or other events (default: the first that was recorded; speedscope: all)")
	    ->check(CLI::IsMember({"cpu", "offcpu", "wait", "fault", "other"}));
	command->add_flag("--lines", arguments->lines,
			  "of stacks: tell lines of the source apart, where there is debug information");
	add_debug_directories(*command, arguments->debug_directories);
	add_tdl_option(*command, arguments->tdl);
	arguments->selection.end_option = "--until"; // --to is the format
	add_selection(*command, arguments->selection, "convert only", "of stacks: convert only");
	command->footer(
	    "Exit code: 0, or 1 if parts of the trace are damaged.\n"
	    "Examples:\n"
	    "  monitor convert DIR --to perfetto            then open DIR.perfetto-trace in ui.perfetto.dev\n"
	    "  monitor convert DIR --to lttng -o OUT        then lttng-cputop OUT/kernel, babeltrace2 OUT\n"
	    "  monitor convert DIR --to folded -o - | flamegraph.pl > flame.svg");
	command->callback([arguments, &exit_code] { exit_code = run_convert(*arguments); });
}

} // namespace monitor
