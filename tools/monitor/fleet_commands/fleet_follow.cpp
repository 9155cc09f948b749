// SPDX-License-Identifier: MIT
#include "fleet_follow.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answers/report/table.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/recording_file/contents.h"
#include "fleet_clocks.h"
#include "fleet_triggers.h"
#include "problems.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto follow_check_interval = 200ms, end_check_interval = 100ms;
constexpr auto end_timeout = 60s, stop_validity = 60s;
constexpr auto block_timeout = 30s; // if no block arrives
constexpr auto part_timeout = 3s;   // an agent looks for new snapshots each second
constexpr auto freeze_timeout = 2s; // from a trigger to the reports of all other hosts

// A command that runs here while hosts are recorded, with the signals of termination.h unblocked.
class LocalCommand {
public:
	// Throws Error if it cannot be started.
	explicit LocalCommand(const std::vector<std::string> &words)
	{
		std::vector<char *> argv;
		for (const std::string &word : words)
			argv.push_back(const_cast<char *>(word.c_str()));
		argv.push_back(nullptr);
		posix_spawnattr_t attributes;
		sigset_t none;
		::sigemptyset(&none);
		::posix_spawnattr_init(&attributes);
		::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
		::posix_spawnattr_setsigmask(&attributes, &none);
		const int error = ::posix_spawnp(&pid_, argv[0], nullptr, &attributes, argv.data(), environ);
		::posix_spawnattr_destroy(&attributes);
		if (error)
			throw Error(error, "cannot run " + words[0]);
	}

	// Its exit code, or 128 + the signal's number; none while it runs.
	std::optional<int> exit_code()
	{
		int status;
		if (!code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
			code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		return code_;
	}
	void terminate()
	{
		if (!exit_code())
			::kill(pid_, SIGTERM);
	}

private:
	pid_t pid_ = -1;
	std::optional<int> code_;
};

} // namespace

FleetFollow::FleetFollow(FleetRequest &request, const std::string &run, const std::string &output, bool is_flight,
			 int hub_pid)
    : request_(request), run_(run), output_(output), is_flight_(is_flight)
{
	if (output.empty())
		return;
	service_ = request.collector(run, output, hub_pid);
}

void FleetFollow::watch_triggers()
{
	triggers_ = std::make_unique<fleet_operator::CoordinatedView>(*request_.session.connection, run_);
}

// Including hosts that another command added to this run.
std::set<std::string> FleetFollow::hosts_taking_part() const
{
	std::set<std::string> hosts;
	for (const auto &[host, seen] : request_.view.hosts())
		for (const fleet::Presence::Run &run : seen.presence.runs)
			if (run.name == run_ && run.takes_part)
				hosts.insert(host);
	for (const auto &[host, outcome] : request_.outcomes())
		if (outcome.accepted && outcome.accepted->takes_part)
			hosts.insert(host);
	return hosts;
}

void FleetFollow::print_settled_triggers(bool is_end)
{
	if (!triggers_)
		return;
	const std::set<std::string> hosts = hosts_taking_part();
	const auto before = is_end ? Clock::time_point::max() : Clock::now() - freeze_timeout;
	for (const fleet_operator::CoordinatedSnapshot &each : triggers_->take_settled(hosts, before)) {
		print_note("monitor: {}\n", fleet_operator::coordinated_text(each, hosts));
		printed_triggers_.push_back(each);
	}
}

std::set<std::string> FleetFollow::started() const
{
	std::set<std::string> hosts;
	for (const auto &[host, outcome] : request_.outcomes())
		if (outcome.started)
			hosts.insert(host);
	return hosts;
}

bool FleetFollow::is_cut_off(const std::string &host)
{
	const auto hosts = request_.view.hosts();
	const auto seen = hosts.find(host);
	if (seen == hosts.end())
		return false;
	const fleet::Presence &presence = seen->second.presence;
	const bool is_of_run = std::ranges::any_of(presence.runs, [&](const auto &run) { return run.name == run_; });
	if (sessions_.try_emplace(host, presence.session).first->second == presence.session || is_of_run)
		return false;
	if (cut_off_.insert(host).second)
		print_error(fmt::format("{}: its agent was started again, and its recording ended then", host));
	return true;
}

bool FleetFollow::all_ended()
{
	bool have_ended = true;
	for (const auto &[host, outcome] : request_.outcomes())
		if (outcome.started && !outcome.ended && !is_cut_off(host))
			have_ended = false;
	return have_ended;
}

std::optional<int> FleetFollow::wait_until_end(const std::vector<std::string> &command, Termination &termination)
{
	std::optional<LocalCommand> running;
	if (!command.empty())
		running.emplace(command);
	for (auto saved_at = Clock::now();;) {
		print_settled_triggers(false);
		if (termination.wait(0ms)) {
			if (running)
				running->terminate();
			return {};
		}
		if (running && running->exit_code())
			return running->exit_code();
		if (request_.view.wait(running ? follow_check_interval / 4 : end_check_interval,
				       [&] { return all_ended(); }) &&
		    !running)
			return {};
		if (running)
			termination.wait(follow_check_interval / 4);
		if (Clock::now() - saved_at > 1s) {
			if (service_)
				service_->save();
			saved_at = Clock::now();
		}
	}
}

void FleetFollow::stop()
{
	std::vector<std::string> hosts;
	for (const auto &[host, outcome] : request_.outcomes())
		if (outcome.accepted && !outcome.ended)
			hosts.push_back(host);
	if (!hosts.empty()) {
		fleet::ControlMessage message;
		message.kind = "stop";
		message.run = run_;
		fleet_operator::send_command(*request_.session.connection, message, hosts, request_.key, stop_validity,
					     0ns);
	}
	request_.view.wait(end_timeout, [&] { return all_ended(); });
	print_settled_triggers(true);
}

// A recording's end mark is the last message that reaches the collector.
bool FleetFollow::is_stored(const std::string &directory) const
{
	const auto recorded = recording_file::contents_in(output_ + '/' + directory);
	return recorded && recorded->complete();
}

// A host has one recording in the run, or the snapshots of its flight recorder, possibly none.
FleetFollow::Stored FleetFollow::stored()
{
	Stored stored;
	std::set<std::string> whole;
	const nlohmann::ordered_json accounts = service_->collector().accounts();
	for (const auto &host : accounts["hosts"]) {
		stored.blocks += host["blocks"].get<std::uint64_t>();
		stored.traces += host["traces"].size();
		const auto is_whole = [&](const auto &trace) { return is_stored(trace["directory"]); };
		if (!host["traces"].empty() && std::ranges::all_of(host["traces"], is_whole))
			whole.insert(host["host"].get<std::string>());
		else if (!host["traces"].empty())
			stored.missing.push_back(host["host"].get<std::string>());
	}
	const std::set<std::string> hosts = started();
	std::erase_if(stored.missing, [&](const std::string &host) { return !hosts.contains(host); });
	for (const std::string &host : hosts)
		if (!is_flight_ && !whole.contains(host) && std::ranges::count(stored.missing, host) == 0)
			stored.missing.push_back(host);
	return stored;
}

std::vector<std::string> FleetFollow::wait_until_stored(Termination &termination)
{
	if (!service_)
		return {};
	Stored last;
	for (auto progressed = Clock::now(); Clock::now() - progressed < block_timeout;) {
		service_->save();
		Stored now = stored();
		if (now.blocks != last.blocks || now.traces != last.traces)
			progressed = Clock::now();
		last = std::move(now);
		const bool is_settled = !is_flight_ || Clock::now() - progressed > part_timeout;
		if ((last.missing.empty() && is_settled) || termination.wait(follow_check_interval))
			break;
	}
	service_->wait_for_costs(started());
	service_->stop();
	service_->save();
	write_fleet_clocks(output_);
	if (triggers_)
		write_fleet_triggers(output_, printed_triggers_);
	print_note("monitor: {} of {} hosts in {}{}\n",
		   report::bytes_text(static_cast<double>(last.blocks) * fleet::block_bytes),
		   started().size() - last.missing.size(), printable(output_),
		   last.missing.empty() ? "" : ", and what has come from the others");
	return last.missing;
}

} // namespace monitor
