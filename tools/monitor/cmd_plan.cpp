// SPDX-License-Identifier: MIT
// `monitor plan`: predicts the losses and the cost of a recording with other settings (answers/plan/).
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/plan/plan_text.h"
#include "answers/plan/unanswerable.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "base/ranges.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "print_table.h"
#include "problems.h"
#include "record_commands/plan_command.h"

namespace monitor {
namespace {

struct PlanArguments {
	std::vector<std::string> words; // DIR or CMD
	PilotArguments pilot;
	std::vector<std::string> buffers, disks;
	double rate = 1;
	std::optional<std::uint32_t> cpu;
	bool factorial = false, json = false;
};

// "20M", "100MB/s": in millions, as disks are sold.
double parse_rate(const std::string &text)
{
	std::string number = text;
	for (const char *const unit : {"/s", "B", "M"})
		if (number.ends_with(unit))
			number.resize(number.size() - std::string_view(unit).size());
	double value = 0;
	const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
	if (error != std::errc() || end != number.data() + number.size() || !(value >= 0.001 && value <= 1e6))
		throw Error("--disk: '{}' is not a rate, such as 20MB/s", text);
	return value * 1e6;
}

std::optional<std::uint64_t> parse_buffer(const std::string &text)
{
	if (text == "default")
		return std::nullopt;
	const std::uint64_t bytes = parse_bytes(text, "--buffer");
	plan::expect_possible_buffer(bytes, text);
	return bytes;
}

template <class Value, class Parse>
std::vector<std::optional<Value>> parse_all(const std::vector<std::string> &texts, Parse parse)
{
	return list_of<std::optional<Value>>(texts, parse);
}

plan::Recorded read(const PlanArguments &arguments)
{
	trace::Trace trace = open_trace({arguments.words.front()});
	expect_events(trace, "a plan");
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	plan::Recorded recorded = plan::read_recorded(trace, info);
	if (!trace.problems().empty())
		throw plan::Unanswerable("parts of this recording are damaged: its arrivals are not known");
	if (arguments.rate != 1)
		recorded.arrivals = plan::with_rate(recorded.arrivals, arguments.rate);
	const std::size_t cpus = recorded.arrivals.steps.size();
	if (arguments.cpu && *arguments.cpu >= cpus)
		throw Error("--pin: the recording is of CPUs 0 to {}", cpus - 1);
	return recorded;
}

int print_plan(const PlanArguments &arguments)
{
	auto buffers = parse_all<std::uint64_t>(arguments.buffers, parse_buffer);
	auto disks = parse_all<double>(arguments.disks, parse_rate);
	buffers.resize(std::max<std::size_t>(buffers.size(), 1));
	disks.resize(std::max<std::size_t>(disks.size(), 1));
	plan::expect_few_settings(buffers.size(), disks.size());
	const plan::Recorded recorded = read(arguments);
	std::vector<plan::PlannedRow> rows;
	std::vector<plan::SmallestBuffer> smallest;
	for (const auto &disk : disks) {
		for (const auto &buffer : buffers) {
			const plan::Setting setting{buffer, disk, arguments.cpu};
			rows.push_back({setting, plan::predict(recorded, setting)});
		}
		smallest.push_back({disk, plan::smallest_buffer(recorded, {{}, disk, arguments.cpu})});
	}
	if (arguments.json) {
		fmt::print("{}\n", json_dump(plan::to_json(recorded, rows, smallest), 1));
		return 0;
	}
	print_table(plan::table_of(rows), report::Format::text);
	for (const plan::SmallestBuffer &each : smallest)
		fmt::print("{}", plan::text_of(each));
	return 0;
}

int print_factorial(const PlanArguments &arguments)
{
	const auto two = [](const std::vector<std::string> &given, const char *first, const char *second) {
		return given.empty() ? std::vector<std::string>{first, second} : given;
	};
	const auto buffer_names = two(arguments.buffers, "4M", "24M"), disk_names = two(arguments.disks, "20M", "60M");
	if (buffer_names.size() != 2 || disk_names.size() != 2)
		throw Error(
		    "--factorial compares two levels of each factor: give --buffer and --disk two values, or none");
	const auto buffers = parse_all<std::uint64_t>(buffer_names, parse_buffer);
	const auto disks = parse_all<double>(disk_names, parse_rate);
	const plan::Recorded recorded = read(arguments);
	const std::uint32_t cpu = arguments.cpu.value_or(recorded.arrivals.busiest_cpu());
	const std::vector<plan::Factor> factors{
	    {"buffer", plan::buffer_text(buffers[0]), plan::buffer_text(buffers[1])},
	    {"disk", plan::disk_text(disks[0]), plan::disk_text(disks[1])},
	    {"recorder on", "any CPU", fmt::format("CPU {}", cpu)}};
	std::vector<std::vector<double>> outcomes;
	for (unsigned i = 0; i < 1u << factors.size(); ++i)
		outcomes.push_back(plan::lost_in_each(
		    recorded, {buffers[i & 1], disks[i >> 1 & 1], i >> 2 & 1 ? std::optional(cpu) : std::nullopt}));
	const plan::Design design = plan::analyse(outcomes);
	if (arguments.json) {
		fmt::print("{}\n", json_dump(plan::to_json(design, factors), 1));
		return 0;
	}
	fmt::print("{}", plan::summary_of(design, factors.size(), outcomes[0].size()));
	print_table(plan::table_of(design, factors), report::Format::text);
	return 0;
}

} // namespace

void add_plan(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("plan", "say what a recording would lose and cost, before it is made");
	auto arguments = std::make_shared<PlanArguments>();
	add_option(*command, "trace", "DIR | CMD ...", arguments->words,
		   "a recording of the load, without loss; after --, or with -d, a command to run")
	    ->required();
	add_pilot_options(*command, arguments->pilot);
	add_option(*command, "--buffer", "SIZE,...", arguments->buffers,
		   "of `record --buffer`, or `default` (default: default)")
	    ->delimiter(',');
	add_option(*command, "--disk", "RATE,...", arguments->disks,
		   "what the disk writes in a second, such as 20MB (default: as it was)")
	    ->delimiter(',');
	add_option(*command, "--rate", "K", arguments->rate, "with K times as many events in the same time")
	    ->check(CLI::Range(0.01, 20.))
	    ->check(nan_error);
	add_option(*command, "--pin", "CPU", arguments->cpu, "with the recorder on this CPU only");
	command->add_flag(
	    "--factorial", arguments->factorial,
	    "which matters most: effects of buffer, disk and the recorder's CPU, and of their interactions");
	command->add_flag("--json", arguments->json,
			  "print JSON: {duration_ns, settings, smallest_buffers}, or the effects");
	command->footer("Simulates the recorder with the arrivals and the service times of DIR; see monitor-plan(1).\n"
			"Exit code: 0; 1 on errors; 3 if DIR cannot answer, such as after a loss.\n"
			"Examples:\n"
			"  monitor plan DIR\n"
			"  monitor plan DIR --buffer 4M,16M,64M --disk 20MB/s\n"
			"  monitor plan DIR --rate 3 --pin 0\n"
			"  monitor plan DIR --factorial --buffer 4M,24M --disk 20M,60M\n"
			"  monitor plan DIR --json\n"
			"  sudo monitor plan -d 5 -- make");
	command->callback([arguments, command, &exit_code] {
		const bool has_dashes = !command->remaining().empty(); // all else is an option or one of the words
		if (arguments->pilot.seconds || has_dashes) {
			exit_code = run_pilot(arguments->pilot, arguments->words, arguments->json);
			return;
		}
		if (arguments->words.size() > 1)
			throw Error(
			    "a plan is of one recording, or with -d SECONDS of a command: monitor plan -d 5 -- CMD");
		try {
			exit_code = arguments->factorial ? print_factorial(*arguments) : print_plan(*arguments);
		} catch (const plan::Unanswerable &why) {
			print_error(why.what());
			exit_code = refused;
		}
	});
}

} // namespace monitor
