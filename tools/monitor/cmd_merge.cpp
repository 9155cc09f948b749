// SPDX-License-Identifier: MIT
// `monitor merge`: combines traces of several machines or tracers into one collection, ordered by one clock.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "answers/collection/collection.h"
#include "answers/collection/messages.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/ranges.h"
#include "base/suggestions.h"
#include "commands.h"
#include "common_options.h"
#include "fleet/clocks/run_merge.h"
#include "open.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"
#include "standard_descriptors.h"

namespace monitor {
namespace {

namespace fs = std::filesystem;
using collection::Part;

struct MergeArguments {
	std::vector<std::string> directories, clocks, sync;
	std::string output, key, tdl;
	std::uint64_t rho_ppb = collection::LineOptions::default_rho_ppb;
	bool copy = false;
};

// The last part of the path, with a number appended if the name is taken.
std::string name_in_collection(const std::string &directory, std::set<std::string> &taken)
{
	fs::path path = fs::path(directory).lexically_normal();
	if (!path.has_filename())
		path = path.parent_path();
	std::string name = path.filename().string();
	name.erase(0, name.find_first_not_of('.')); // readers skip hidden directories
	if (name.empty())
		throw Error("expected the directory of a trace, or a file, not " + directory);
	std::string made = name;
	for (int number = 2; !taken.insert(made).second; ++number)
		made = fmt::format("{}-{}", name, number);
	return made;
}

std::uint64_t bound_ns(const std::string &text)
{
	const std::int64_t ns = parse_offset(text, "--clock");
	if (ns < 0)
		throw Error("--clock: the bound " + text + " is negative");
	return static_cast<std::uint64_t>(ns);
}

// DIR=OFFSET or DIR=OFFSET,BOUND
void apply_clock_option(const std::string &text, std::vector<Part> &parts)
{
	const std::size_t equal = text.rfind('='), comma = text.find(',', equal);
	if (equal == std::string::npos)
		throw Error("--clock: expected DIR=OFFSET or DIR=OFFSET,BOUND, not '" + text + "'");
	std::string name = text.substr(0, equal);
	while (name.size() > 1 && name.back() == '/')
		name.pop_back();
	std::vector<std::string> names;
	for (Part &part : parts) {
		names.push_back(part.directory);
		if (name != part.directory && name != part.source)
			continue;
		if (part.how == "given")
			throw Error("--clock: the offset of " + name + " is given twice");
		if (&part == parts.data())
			throw Error("--clock: " + name +
				    " is the first trace, whose clock is kept: give offsets of the others");
		part.shift_ns = parse_offset(text.substr(equal + 1, comma - equal - 1), "--clock");
		part.bound_ns.reset();
		if (comma != std::string::npos)
			part.bound_ns = bound_ns(text.substr(comma + 1));
		part.how = "given";
		return;
	}
	throw Error("--clock: {} is not one of the traces.{}", name, suggestions(name, names));
}

// Two recordings' measured rates of one TSC differ by less than 1 / this.
constexpr std::uint64_t same_rate_parts = 10'000;

bool is_same_counter(const trace::Clock &a, const trace::Clock &b)
{
	const std::uint64_t low = std::min(a.frequency_hz, b.frequency_hz);
	return a.name == b.name && std::max(a.frequency_hz, b.frequency_hz) - low <= low / same_rate_parts;
}

// Recordings of one boot share one TSC: their clocks differ only by the read of the wall clock and the measured rate.
// The offset is exact in the middle of the trace; the bound holds at its ends.
void align_same_boot(const std::vector<trace::Trace> &traces, std::vector<Part> &parts)
{
	struct Known {
		std::string boot;
		trace::Clock clock;
	};
	std::vector<Known> known; // by part, in order
	for (std::size_t i = 0; i < parts.size(); ++i) {
		Part &part = parts[i];
		known.push_back({analyze::recording_of(traces[i]).boot_id, traces[i].description().clock});
		const Known &first = known.front(), &mine = known.back();
		if (known.size() == 1 || mine.boot.empty() || mine.boot != first.boot ||
		    !is_same_counter(mine.clock, first.clock))
			continue;
		const auto offset_at = [&](std::uint64_t time) {
			return first.clock.wall_ns(time) - mine.clock.wall_ns(time);
		};
		const std::uint64_t begin = traces[i].first_time(), end = std::max(traces[i].end_time(), begin);
		part.shift_ns = offset_at(begin + (end - begin) / 2);
		part.bound_ns = static_cast<std::uint64_t>(
		    std::max(std::abs(offset_at(begin) - part.shift_ns), std::abs(offset_at(end) - part.shift_ns)));
		part.how = "same clock";
	}
}

// A rate correction needs a single clock. A trace with several clocks has converted times, which only an offset can
// shift.
bool has_one_clock(const trace::Trace &trace)
{
	return std::none_of(trace.streams().begin(), trace.streams().end(),
			    [](const auto &stream) { return stream->maps_time(); });
}

// The resolution of this clock: an event may be this much later than its time.
std::uint64_t tick_ns(const trace::Clock &clock)
{
	constexpr std::uint64_t second_ns = 1'000'000'000;
	return (second_ns + clock.frequency_hz - 1) / clock.frequency_hz - 1;
}

void align_by_lines(const collection::Exchanged &exchanged, const trace::Trace &first, const trace::Trace &trace,
		    std::uint64_t rho_ppb, Part &part)
{
	const trace::Clock &clock = trace.description().clock;
	collection::LineOptions options;
	options.frequency_hz = clock.frequency_hz;
	options.rho_ppb = rho_ppb;
	options.widen_ns = tick_ns(first.description().clock);
	options.cover = {trace.first_time(), trace.end_time()};
	auto lines = collection::lines_of(exchanged.samples, options);
	if (!lines.has_bound())
		throw Error("no line lets the messages between the first trace and " + part.source +
			    " arrive after they were sent, in any window of time: check --sync and --key, or the clock "
			    "steps all the time");
	const collection::Offset offset = collection::offset_of(lines, clock, *options.cover);
	part.shift_ns = offset.shift_ns;
	part.bound_ns = offset.bound_ns;
	if (has_one_clock(trace))
		part.clock = std::move(lines);
}

// A message received before it was sent proves that a given bound is too small, but gives no new bound.
void check_given_bound(const collection::Exchanged &exchanged, const trace::Clock &clock, Part &part)
{
	const std::uint64_t needed = collection::contradiction_ns(exchanged.samples, clock, part.shift_ns);
	if (!part.bound_ns || needed <= *part.bound_ns)
		return;
	part.how = fmt::format("given with a bound of {} ns, which messages contradict", *part.bound_ns);
	part.bound_ns.reset();
}

void align_by_messages(const MergeArguments &arguments, std::vector<trace::Trace> &traces, std::vector<Part> &parts)
{
	const collection::MessageText text{arguments.sync[0], arguments.sync[1], arguments.key};
	const collection::Messages first = collection::find_messages(traces.front(), text);
	for (std::size_t i = 1; i < parts.size(); ++i) {
		Part &part = parts[i];
		const trace::Clock &clock = traces[i].description().clock;
		const collection::Exchanged exchanged = collection::exchanged(
		    first, traces.front().description().clock, collection::find_messages(traces[i], text));
		if (part.how == "given") {
			check_given_bound(exchanged, clock, part);
			continue;
		}
		if (exchanged.forth + exchanged.back == 0)
			throw Error("no message of --sync passed between the first trace and " + part.source);
		part.how = fmt::format("messages ({} there, {} back)", exchanged.forth, exchanged.back);
		if (exchanged.forth > 0 && exchanged.back > 0) {
			align_by_lines(exchanged, traces.front(), traces[i], arguments.rho_ppb, part);
		} else {
			part.shift_ns = collection::offset_of(exchanged.samples, clock).shift_ns;
			part.bound_ns.reset();
		}
	}
}

// Readers treat everything with one uuid as one trace with one clock. Returns messages about recordings given twice.
std::vector<std::string> expect_different(const std::vector<trace::Trace> &traces, const std::vector<Part> &parts)
{
	std::vector<std::string> twice;
	std::map<std::array<std::uint8_t, 16>, const Part *> seen;
	for (std::size_t i = 0; i < parts.size(); ++i) {
		const Part &part = parts[i];
		const trace::Description &description = traces[i].description();
		if (!description.has_uuid)
			continue;
		const auto [other, is_new] = seen.emplace(description.uuid, &part);
		if (!is_new && other->second->shift_ns != part.shift_ns)
			throw Error(
			    part.source + " and " + other->second->source +
			    " belong to one trace (they have the same uuid): their clocks cannot be moved apart");
		const trace::Trace &first = traces[static_cast<std::size_t>(other->second - parts.data())];
		if (!is_new && description.has_tokens() && traces[i].first_time() <= first.end_time() &&
		    first.first_time() <= traces[i].end_time()) {
			const std::string both = part.source + " and " + other->second->source;
			if (traces[i].first_time() == first.first_time() && traces[i].end_time() == first.end_time())
				throw Error(both + " are one recording and a copy of it: merge one of them");
			twice.push_back(both +
					" are one recording: what both have will be read twice; merge one of them");
		}
	}
	return twice;
}

// Rounds offsets to whole ticks. The rounding error is added to the bound, except for fast clocks.
void round_to_ticks(const std::vector<trace::Trace> &traces, std::vector<Part> &parts)
{
	constexpr std::int64_t second_ns = 1'000'000'000;
	for (std::size_t i = 0; i < parts.size(); ++i) {
		Part &part = parts[i];
		const auto frequency_hz = static_cast<__int128>(traces[i].description().clock.frequency_hz);
		if (2 * frequency_hz > second_ns)
			continue;
		const __int128 product = part.shift_ns * frequency_hz;
		const __int128 ticks = (product + (product < 0 ? -second_ns / 2 : second_ns / 2)) / second_ns;
		const auto moved_ns = static_cast<std::int64_t>(ticks * second_ns / frequency_hz);
		if (part.bound_ns)
			*part.bound_ns += static_cast<std::uint64_t>(std::abs(part.shift_ns - moved_ns));
		part.shift_ns = moved_ns;
	}
}

std::vector<Part> parts_of(const MergeArguments &arguments, std::vector<trace::Trace> &traces)
{
	std::vector<Part> parts;
	std::set<std::string> taken = {"metadata"}; // reserved: a collection itself is not a trace
	for (std::size_t i = 0; i < traces.size(); ++i) {
		const std::string &source = arguments.directories[i];
		parts.push_back({source, name_in_collection(source, taken), 0, std::nullopt, "unchanged"});
		if (fs::is_regular_file(source))
			parts.back().file = &traces[i];
	}
	align_same_boot(traces, parts);
	for (const std::string &clock : arguments.clocks)
		apply_clock_option(clock, parts);
	if (!arguments.sync.empty())
		align_by_messages(arguments, traces, parts);
	round_to_ticks(traces, parts);
	parts.front().bound_ns = tick_ns(traces.front().description().clock);
	parts.front().how = "first";
	return parts;
}

// By how much the clock is faster than described, in ppm; if known.
double rate_ppm(const collection::ClockLines &lines, const trace::Clock &clock)
{
	double ticks = 0, ns = 0;
	for (std::size_t i = 1; i < lines.nodes.size(); ++i) {
		if (!lines.bounds_ns[i])
			continue;
		ticks += static_cast<double>(lines.nodes[i].ticks - lines.nodes[i - 1].ticks);
		ns += static_cast<double>(lines.nodes[i].ns - lines.nodes[i - 1].ns);
	}
	return (ticks * 1e9 / static_cast<double>(clock.frequency_hz) / ns - 1) * 1e6;
}

void print_part(const Part &part, const trace::Trace &trace)
{
	fmt::print("{:<20} clock moved by {} ns, {} ({}){}\n", printable(part.directory), part.shift_ns,
		   part.bound_ns ? fmt::format("at most {} ns off", *part.bound_ns) : "how far off is unknown",
		   part.how, part.file ? ", converted" : "");
	if (!part.clock)
		return;
	const collection::ClockLines &lines = *part.clock;
	fmt::print("{:<20} by lines {} to {} ns off{}; its rate is {:+.3f} ppm, and changes by at most {} ppb/s "
		   "(assumed; the messages need {})\n",
		   "", lines.min_bound_ns(), lines.max_bound_ns(),
		   lines.infeasible ? fmt::format(", unknown in {} of {} windows, through which no line passes",
						  lines.infeasible, lines.windows)
				    : "",
		   rate_ppm(lines, trace.description().clock), lines.rho_ppb, lines.min_rho_ppb);
}

// The shards of a fleet's run.
int merge_shards(const MergeArguments &arguments)
{
	if (!arguments.clocks.empty() || !arguments.sync.empty() || !arguments.tdl.empty())
		throw Error("the shards of a fleet's run have one clock: leave out --clock, --sync and --tdl");
	const fleet::MergedRuns merged = fleet::merge_runs(arguments.output, arguments.directories, arguments.copy);
	fmt::print("{} hosts of {} shards in {}\n", merged.hosts.size(), arguments.directories.size(),
		   printable(arguments.output));
	if (!merged.missing.empty())
		print_error(fmt::format("the shards {} of this run are missing: their hosts are not in it",
					fmt::join(merged.missing, ", ")));
	return merged.missing.empty() ? 0 : 1;
}

// Removes duplicates (symbolic links), with a note.
std::vector<std::string> without_links(const std::vector<std::string> &directories)
{
	std::vector<std::string> all;
	std::map<fs::path, std::string> taken; // real path -> first name
	for (const std::string &directory : directories) {
		std::error_code unreadable;
		const fs::path real = fs::canonical(directory, unreadable);
		const auto [known, is_new] = taken.emplace(unreadable ? fs::path(directory) : real, directory);
		if (is_new)
			all.push_back(directory);
		else
			print_error(directory + " and " + known->second +
				    " are one trace by two names: it is merged once");
	}
	return all;
}

// Returns the exit code.
int run_merge(MergeArguments arguments)
{
	arguments.directories = without_links(arguments.directories);
	::umask(S_IRWXG | S_IRWXO); // as private as recordings are
	drop_text_if_stdout_closed();
	if (arguments.directories.size() > 1 && std::ranges::all_of(arguments.directories, fleet::is_shard))
		return merge_shards(arguments);
	if (arguments.directories.size() < 2 && !fs::is_regular_file(arguments.directories.front()))
		throw CLI::ValidationError("expected at least two traces, or a file to convert");
	auto traces = list_of<trace::Trace>(
	    arguments.directories, [&](const std::string &source) { return open_trace({source}, arguments.tdl); });
	const std::vector<Part> parts = parts_of(arguments, traces);
	const std::vector<std::string> twice = expect_different(traces, parts);
	collection::write(arguments.output, parts, arguments.copy);
	for (const std::string &sentence : twice)
		print_error(sentence);
	for (std::size_t i = 0; i < parts.size(); ++i)
		print_part(parts[i], traces[i]);
	int exit_code = 0;
	for (const trace::Trace &trace : traces)
		exit_code |= print_problems(trace.problems());
	return exit_code;
}

} // namespace

void add_merge(CLI::App &app, int &exit_code)
{
	CLI::App *command =
	    app.add_subcommand("merge", "combine several traces, also of several hosts, into one collection");
	auto arguments = std::make_shared<MergeArguments>();
	add_option(*command, "trace", "DIR...", arguments->directories,
		   "trace directories, or files described in TDL; the first one's clock is kept")
	    ->required();
	add_tdl_option(*command, arguments->tdl);
	add_option(*command, "-o,--output", "DIR", arguments->output, "directory to write the collection to")
	    ->required();
	add_option(*command, "--clock", "DIR=OFFSET[,BOUND]", arguments->clocks,
		   "add OFFSET to the times of a trace, which are then off by at most BOUND");
	CLI::Option *const sync =
	    add_message_options(*command, arguments->sync, arguments->key, "find how the clocks differ from messages");
	add_option(
	    *command, "--rho", "PPB", arguments->rho_ppb,
	    "assume that the rate of a clock changes by at most PPB parts per billion in a second (default: 2000)")
	    ->needs(sync)
	    ->check(CLI::Range(0, 1'000'000));
	command->add_flag("--copy", arguments->copy, "copy the streams instead of linking them");
	command->footer(
	    "Exit code: 0, or 1 if the collection could not be written or a trace is damaged.\n"
	    "Examples:\n"
	    "  monitor merge -o both kernel-trace ust-trace\n"
	    "  monitor merge -o cluster node1 node2 --clock node2=-1.5ms,20us\n"
	    "  monitor merge -o both kernel-trace capture.pcap\n"
	    "  monitor merge -o cluster node1 node2 --sync 'name == \"send\"' 'name == \"receive\"' --key message\n"
	    "  monitor merge -o RUN part0 part1    (of monitor fleet collect --shard)\n"
	    "  monitor list cluster");
	command->callback([arguments, &exit_code] { exit_code = run_merge(*arguments); });
}

} // namespace monitor
