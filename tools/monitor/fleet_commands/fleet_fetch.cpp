// SPDX-License-Identifier: MIT
#include "fleet_fetch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/escape.h"
#include "base/fd.h"
#include "base/fetched_trace.h"
#include "fleet_clocks.h"

namespace monitor {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds fetch_check_interval = 100ms, note_interval = 2s;
constexpr auto sender_timeout = 30s;       // if nothing arrives
constexpr auto next_snapshot_timeout = 2s; // between two snapshots of a flight recorder
constexpr std::size_t max_fetched_bytes = 64 << 20;

const nlohmann::ordered_json *account_of(const nlohmann::ordered_json &accounts, const std::string &host)
{
	for (const auto &each : accounts["hosts"])
		if (each["host"] == host)
			return &each;
	return nullptr;
}

std::uint64_t blocks_of(const nlohmann::ordered_json &accounts, const std::string &host)
{
	const auto *const account = account_of(accounts, host);
	return account ? (*account)["blocks"].get<std::uint64_t>() : 0;
}

const char *state_text(const FleetFetch::Host &host)
{
	switch (host.state) {
	case FleetFetch::State::fetched:
		return host.is_recording ? "fetched, goes on" : "fetched";
	case FleetFetch::State::has_none:
		return "has none";
	case FleetFetch::State::refused:
		return "refused";
	case FleetFetch::State::not_whole:
		return "not whole";
	case FleetFetch::State::no_answer:
		break;
	}
	return "no answer";
}

} // namespace

FleetFetch::FleetFetch(FleetRequest &request, const std::string &run, const std::string &output, int hub_pid)
    : request_(request), output_(output)
{
	service_ = request.collector(run, output, hub_pid);
	before_ = service_->collector().accounts();
	store_ = before_["store"].get<std::string>();
}

// Updates the host's state from its traces' fetched.json.
void FleetFetch::update_state(Host &host, const fleet::CommandAnswer &accepted, const Accounts &accounts) const
{
	std::set<std::string> missing;
	if (accepted.traces)
		for (const fleet::CommandAnswer::Trace &trace : *accepted.traces)
			missing.insert(trace.part);
	if (accepted.traces && accepted.traces->empty()) {
		host.state = State::has_none;
		host.why = "its flight recorder has taken no snapshot";
		return;
	}
	host.state = State::not_whole;
	const auto *const account = account_of(accounts, host.name);
	host.blocks = blocks_of(accounts, host.name);
	host.added = host.blocks - std::min(host.blocks, blocks_of(before_, host.name));
	if (!account)
		return;
	for (const auto &trace : (*account)["traces"]) {
		const std::string directory = output_ + '/' + trace["directory"].get<std::string>() + '/';
		const auto fetched = FetchedTrace::parse(read_text(directory + fetched_file, max_fetched_bytes));
		std::error_code error;
		if (!fetched || fetched->request != accepted.nonce ||
		    (fetched->has_ended && !std::filesystem::exists(directory + ".monitor/recording.json", error)))
			continue;
		host.state = State::fetched;
		host.host_blocks += fetched->blocks();
		host.is_recording = host.is_recording || !fetched->has_ended;
		missing.erase(trace["part"].get<std::string>());
	}
	if (!missing.empty())
		host.state = State::not_whole;
}

std::vector<FleetFetch::Host> FleetFetch::hosts()
{
	const Accounts accounts = service_->collector().accounts();
	std::vector<Host> all;
	for (const auto &[name, outcome] : request_.outcomes()) {
		Host host;
		host.name = name;
		if (outcome.accepted) {
			update_state(host, *outcome.accepted, accounts);
		} else if (outcome.refused) {
			host.why = outcome.refused->reason;
			host.state = host.why.find("no trace of this run") != std::string::npos ? State::has_none
												: State::refused;
		} else {
			host.why = request_.present.contains(name) ? "see its agent's journal"
								   : "no agent of this host is connected to the hub";
		}
		all.push_back(std::move(host));
	}
	return all;
}

// If false, another snapshot may still arrive.
bool FleetFetch::all_list_traces() const
{
	const fleet_operator::Outcomes outcomes = request_.outcomes();
	return std::ranges::all_of(outcomes, [](const auto &each) {
		const auto &accepted = each.second.accepted;
		return !accepted || (accepted->traces && accepted->traces->size() < fleet::max_traces_shown);
	});
}

// Each snapshot is a trace of its own; they arrive one after the other.
bool FleetFetch::has_snapshots() const
{
	const Accounts accounts = service_->collector().accounts();
	for (const auto &host : accounts["hosts"])
		for (const auto &trace : host["traces"])
			if (trace["part"] != "")
				return true;
	return false;
}

std::vector<FleetFetch::Host> FleetFetch::wait_until_fetched(Termination &termination)
{
	std::vector<Host> last;
	std::uint64_t blocks = 0;
	auto progressed = SteadyClock::now(), noted = progressed;
	for (;;) {
		service_->save();
		last = hosts();
		const auto now = SteadyClock::now();
		const std::uint64_t added =
		    std::accumulate(last.begin(), last.end(), std::uint64_t(0),
				    [](std::uint64_t sum, const Host &host) { return sum + host.added; });
		if (added != std::exchange(blocks, added))
			progressed = now;
		const auto waiting = std::ranges::count(last, State::not_whole, &Host::state);
		if (now - noted > note_interval) {
			noted = now;
			print_note("monitor: {} so far, {} hosts still send\n",
				   report::bytes_text(static_cast<double>(blocks) * fleet::block_bytes), waiting);
		}
		const bool is_settled =
		    all_list_traces() || !has_snapshots() || now - progressed > next_snapshot_timeout;
		if ((waiting == 0 && is_settled) || now - progressed > sender_timeout ||
		    termination.wait(fetch_check_interval))
			break;
	}
	std::set<std::string> fetched_hosts;
	for (const Host &host : last)
		if (host.state == State::fetched)
			fetched_hosts.insert(host.name);
	service_->wait_for_costs(fetched_hosts);
	service_->stop();
	service_->save();
	write_fleet_clocks(output_);
	return last;
}

report::Table FleetFetch::table(const std::vector<Host> &hosts)
{
	report::Table table;
	table.columns = {{"host", "host", report::Unit::text},         {"state", "state", report::Unit::text},
			 {"added_blocks", "new", report::Unit::count}, {"blocks", "blocks", report::Unit::count},
			 {"of_blocks", "of", report::Unit::count},     {"reason", "why", report::Unit::text}};
	for (const Host &host : hosts) {
		const bool is_known = host.state == State::fetched || host.state == State::not_whole;
		report::Cell added, blocks, host_blocks;
		if (is_known) {
			added = host.added;
			blocks = host.blocks;
		}
		if (host.state == State::fetched)
			host_blocks = host.host_blocks;
		table.rows.push_back({host.name, state_text(host), added, blocks, host_blocks, printable(host.why)});
	}
	return table;
}

} // namespace monitor
