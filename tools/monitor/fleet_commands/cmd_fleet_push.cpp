// SPDX-License-Identifier: MIT
// `monitor fleet push`: sends trace directories to a fleet's collector, without an agent. fleet/forward/ does the
// work.
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/recording_file/contents.h"
#include "cmd_fleet.h"
#include "common_options.h"
#include "fleet/forward/clock_exchange.h"
#include "fleet/forward/forwarding.h"
#include "fleet/forward/nats_forwarder.h"
#include "fleet/forward/trace_parts.h"
#include "fleet/wire/names.h"
#include "hub_options.h"
#include "problems.h"
#include "termination.h"
#ifdef MONITOR_RECORD_SIDE
#include "recording/recorder/recorders.h"
#endif

namespace monitor {
namespace {

using fleet::ForwardingAccount;

struct PushArguments {
	HubArguments hub;
	std::vector<std::string> directories;
	std::string host, run, forward = "batch", timeout;
	bool json = false;
};

bool is_being_recorded(const std::string &directory)
{
#ifdef MONITOR_RECORD_SIDE
	return record::recorder_of(directory).has_value();
#else
	return directory.empty(); // this build has no recorder
#endif
}

std::string this_host()
{
	char name[256] = "";
	::gethostname(name, sizeof name - 1);
	return name;
}

void expect_trace(const std::string &directory)
{
	Uuid uuid;
	const auto recorded = recording_file::contents_in(directory);
	if (!recorded || !parse_uuid(recorded->uuid, uuid))
		throw Error(directory + " is not a trace that monitor recorded; name the directory of one");
}

// Clock exchanges apply only to a trace of this boot.
std::unique_ptr<fleet::ClockExchange> exchange_for(const PushArguments &arguments, const fleet::ConnectionOptions &hub)
{
	for (const std::string &directory : arguments.directories) {
		const auto recorded = recording_file::contents_in(directory);
		if (!recorded || !recorded->is_of_this_boot())
			continue;
		const std::string metadata = read_text(directory + "/metadata", 1 << 20);
		const bool is_tsc = metadata.find("name = tsc") != std::string::npos ||
				    metadata.find("name = \"tsc\"") != std::string::npos;
		return std::make_unique<fleet::ClockExchange>(hub, arguments.host, is_tsc,
							      std::function<void(const std::string &)>());
	}
	return nullptr;
}

nlohmann::ordered_json json_of_push(const std::vector<ForwardingAccount> &accounts, const fleet::Forwarding &forwarding)
{
	auto traces = nlohmann::ordered_json::array();
	for (const ForwardingAccount &account : accounts)
		traces.push_back({{"directory", account.directory},
				  {"blocks", account.recorded},
				  {"stored", account.stored},
				  {"conflicts", account.conflicts},
				  {"refused", account.refused},
				  {"vanished", account.vanished},
				  {"refused_files", account.refused_files},
				  {"complete", account.is_complete}});
	return {{"sent_again", forwarding.sent_again()}, {"traces", traces}};
}

void print_pushed(const std::vector<ForwardingAccount> &accounts)
{
	for (const ForwardingAccount &account : accounts) {
		fmt::print("{}: {} of {} blocks stored{}", printable(account.directory), account.stored,
			   account.recorded, account.is_complete ? "" : ", not all of it yet");
		for (const auto &[number, what] : {std::pair(account.conflicts, "kept aside: the collector had others"),
						   std::pair(account.refused, "refused"),
						   std::pair(account.vanished, "removed before they were sent"),
						   std::pair(account.refused_files, "descriptions refused")})
			if (number)
				fmt::print(", {} {}", number, what);
		fmt::print("\n");
	}
}

// Waits until everything is stored. False: interrupted.
bool push_all(const PushArguments &arguments, fleet::Forwarding &forwarding, Termination &termination)
{
	using Clock = std::chrono::steady_clock;
	std::optional<Clock::time_point> deadline;
	if (!arguments.timeout.empty())
		deadline = Clock::now() + std::chrono::nanoseconds(parse_duration(arguments.timeout, "--timeout"));
	Clock::time_point looked{};
	while (!forwarding.is_complete()) {
		if ((deadline && Clock::now() > *deadline) || termination.wait(std::chrono::milliseconds(0)))
			return false;
		if (Clock::now() - looked > std::chrono::seconds(1)) {
			looked = Clock::now();
			for (const ForwardingAccount &account : forwarding.accounts())
				if (!is_being_recorded(account.directory))
					forwarding.set_ended(account.directory);
		}
		forwarding.step(Clock::now() + std::chrono::milliseconds(200));
	}
	return true;
}

int run_push(PushArguments &arguments)
{
	std::string name;
	const fleet::ConnectionOptions hub = arguments.hub.connection(name);
	if (arguments.host.empty())
		arguments.host = name.empty() ? this_host() : name;
	if (!fleet::is_host_name(arguments.host))
		throw Error("'{}' is not the name of a host: give it with --host", printable(arguments.host));
	if (!arguments.run.empty())
		expect_run_name(arguments.run);
	std::vector<fleet::TracePart> parts;
	for (const std::string &directory : arguments.directories)
		for (fleet::TracePart &part : fleet::trace_parts(directory)) {
			expect_trace(part.directory);
			parts.push_back(std::move(part));
		}
	if (parts.empty())
		throw Error("these flight recorders have no snapshot: take one with `monitor snapshot`");
	Termination termination;
	const auto report = [](const std::string &sentence) { print_error(sentence); };
	fleet::NatsForwarder forwarder(hub, arguments.host, report);
	fleet::Forwarding forwarding(forwarder, report);
	for (const fleet::TracePart &part : parts) {
		fleet::TailOptions options;
		options.run = arguments.run;
		options.part = part.part;
		if (arguments.forward == "each")
			options.max_blocks = 1;
		forwarding.add(part.directory, options);
	}
	const auto clock = exchange_for(arguments, hub);
	const bool is_done = push_all(arguments, forwarding, termination);
	if (is_done && clock && !clock->wait_for_burst(std::chrono::seconds(3)))
		print_error("the collector's clock does not answer: how far off this host's is will be unknown");
	const std::vector<ForwardingAccount> accounts = forwarding.accounts();
	if (arguments.json)
		fmt::print("{}\n", json_dump(json_of_push(accounts, forwarding), 1));
	else
		print_pushed(accounts);
	bool is_whole = is_done;
	for (const ForwardingAccount &account : accounts)
		is_whole = is_whole && account.stored == account.recorded && account.refused_files == 0;
	return is_whole ? 0 : 1;
}

} // namespace

void add_fleet_push(CLI::App &fleet, int &exit_code)
{
	CLI::App *push = fleet.add_subcommand("push", "bring traces made without an agent to the collector");
	auto arguments = std::make_shared<PushArguments>();
	arguments->hub.files.name = "monitor push";
	add_option(*push, "trace", "DIR...", arguments->directories, "trace directories of this host")->required();
	add_hub_options(*push, arguments->hub);
	add_option(*push, "--host", "NAME", arguments->host,
		   "name of the host, as its certificate says (default: that of the keys, or hostname)");
	add_option(*push, "--run", "NAME", arguments->run,
		   "name of the run that they belong to (default: whatever is collected)");
	add_option(*push, "--forward", "HOW", arguments->forward, "batch: 256 KiB in a message; each: one block")
	    ->check(CLI::IsMember({"batch", "each"}));
	add_option(*push, "--timeout", "TIME", arguments->timeout,
		   "give up after this time, such as 60s (default: never)");
	push->add_flag("--json", arguments->json, "JSON instead of text");
	push->footer(
	    "It waits until the collector has stored everything; a trace that is being recorded is followed until\n"
	    "its end. Exit code: 0, or 1 if something is not stored.\n"
	    "Example:\n"
	    "  monitor fleet push DIR --keys fleet/hosts/web1");
	push->callback([arguments, &exit_code] { exit_code = run_push(*arguments); });
}

} // namespace monitor
