// SPDX-License-Identifier: MIT
// `monitor snapshot`: requests a snapshot from a flight recorder (record --flight), and waits until it is written.
#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "commands.h"
#include "common_options.h"
#include "recording/recorder/snapshot_question.h"

namespace monitor {
namespace {

struct SnapshotArguments {
	std::string which, before, after;
	bool json = false, status = false;
};

// The recorder of a directory, by any of its paths.
int recorder_of(const std::string &directory)
{
	struct stat wanted;
	if (::stat(directory.c_str(), &wanted) < 0)
		throw Error("{} does not exist: name the directory of a flight recorder, or its process", directory);
	for (const int pid : record::flight_recorders()) {
		struct stat found;
		const std::string of_pid = record::flight_directory(pid);
		if (!of_pid.empty() && ::stat(of_pid.c_str(), &found) == 0 && found.st_ino == wanted.st_ino &&
		    found.st_dev == wanted.st_dev)
			return pid;
	}
	throw Error("no flight recorder that runs has the directory {}: start one with `monitor record --flight`, or "
		    "name its process",
		    directory);
}

int only_recorder()
{
	const std::vector<int> all = record::flight_recorders();
	if (all.empty())
		throw Error("no flight recorder runs here: start one with `monitor record --flight`");
	if (all.size() > 1)
		throw Error("{} flight recorders run here: name the process of one, {}, or its directory", all.size(),
			    fmt::join(all, " or "));
	return all.front();
}

int chosen_recorder(const std::string &which)
{
	if (which.empty())
		return only_recorder();
	const bool is_number = std::ranges::all_of(which, [](unsigned char c) { return std::isdigit(c); });
	return is_number && which.size() < 9 ? std::atoi(which.c_str()) : recorder_of(which);
}

std::string status_text(const nlohmann::ordered_json &state)
{
	const std::string directory = printable(state["directory"].get<std::string>());
	try {
		const auto failed = state.at("failed").get<std::uint64_t>();
		const auto failure = state.at("failure").get<std::string>();
		std::string text = fmt::format("process {}, {}: {} snapshots", state.at("pid").get<int>(), directory,
					       state.at("snapshots").get<std::uint64_t>());
		if (failed)
			text += fmt::format(", {} more could not be written whole", failed);
		return failure.empty() ? text : text + "; the last one: " + printable(failure);
	} catch (const nlohmann::json::exception &) {
		return directory + ": its recorder is another version of monitor, which does not say more";
	}
}

// Of all recorders unless one is given. Exit code 0 if the newest snapshots were written.
int print_status(const SnapshotArguments &arguments)
{
	std::vector<int> recorders = record::flight_recorders();
	if (!arguments.which.empty() || recorders.empty())
		recorders = {chosen_recorder(arguments.which)};
	nlohmann::ordered_json all = nlohmann::ordered_json::array();
	int exit_code = 0;
	for (const int pid : recorders) {
		const nlohmann::ordered_json state = record::flight_state(pid);
		if (state.is_null())
			throw Error("process {} is not a flight recorder, or does not answer", pid);
		if (!arguments.json)
			fmt::print("{}\n", status_text(state));
		exit_code |= state.contains("failure") && state["failure"] != "";
		all.push_back(state);
	}
	if (arguments.json)
		fmt::print("{}\n", json_dump(all, 1));
	return exit_code;
}

int run_snapshot(const SnapshotArguments &arguments)
{
	if (arguments.status)
		return print_status(arguments);
	record::SnapshotRequest request;
	if (!arguments.before.empty())
		request.before_ns = parse_duration(arguments.before, "--before");
	if (!arguments.after.empty())
		request.after_ns = parse_duration(arguments.after, "--after");
	const std::string reply = record::ask_for_snapshot(chosen_recorder(arguments.which), request);
	auto json = parse_json<nlohmann::ordered_json>(reply);
	if (!json.is_object())
		throw Error("the flight recorder's answer is not understood: use its version of monitor");
	if (const auto error = text_field(json, "error"))
		throw Error(*error);
	const std::string text = json.value("text", "");
	json.erase("text");
	fmt::print("{}\n", arguments.json ? json_dump(json, 1) : printable(text));
	return 0;
}

} // namespace

void add_snapshot(CLI::App &app, int &exit_code)
{
	CLI::App *snapshot = app.add_subcommand("snapshot", "write what a flight recorder has kept (record --flight)");
	auto arguments = std::make_shared<SnapshotArguments>();
	add_option(*snapshot, "which", "DIR|PID", arguments->which,
		   "directory or process of the recorder (default: the only one)");
	CLI::Option *before = add_option(*snapshot, "--before", "TIME", arguments->before,
					 "how much of the past, such as 5s (default: as the recorder says)");
	CLI::Option *after = add_option(*snapshot, "--after", "TIME", arguments->after,
					"for how long to go on, such as 500ms (default: not at all)");
	snapshot
	    ->add_flag("--status", arguments->status,
		       "take none: say how many were taken, how many could not be written, and why the last one (exit "
		       "code 1 then)")
	    ->excludes(before)
	    ->excludes(after);
	snapshot->add_flag("--json", arguments->json, "JSON instead of text");
	snapshot->footer("It waits until the snapshot is written, a trace directory in that of the recorder.\n"
			 "Examples:\n"
			 "  sudo monitor snapshot\n"
			 "  sudo monitor snapshot --before 5s --after 1s /var/tmp/flight\n"
			 "  sudo monitor snapshot 1234 --json\n"
			 "  sudo monitor snapshot --status");
	snapshot->callback([arguments, &exit_code] { exit_code = run_snapshot(*arguments); });
}

} // namespace monitor
