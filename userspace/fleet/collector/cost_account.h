// SPDX-License-Identifier: MIT
// The cost of collecting a run: CPU time and bytes at the agents, at the hub and at the collector.
//
// Agents report in their presence (fleet/wire/reports.h) what they have used since their start: what counts is the
// difference between two reports of one agent, while this collector runs; the sums of earlier collectors are continued.
// The collector's is its process's CPU time. The hub's is known only if its process runs on this machine and is named;
// of several collectors one after the other, perhaps only in part. Not locked. Invariant: what was not measured is no
// number, and what was measured in part says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace monitor::fleet {

struct CostSums {
	std::uint64_t cpu_ns = 0, bytes = 0, messages = 0;
};

// How long that was measured for; nullopt: an earlier collector, of an older version, did not say.
struct TimedCost : CostSums {
	std::optional<std::uint64_t> elapsed_ns = 0;
};

class CostAccount {
public:
	using Clock = std::chrono::steady_clock;

	// `hub_pid`: the server's process; 0: unknown. Throws Error if it does not exist.
	explicit CostAccount(int hub_pid = 0);

	// A host's agent reports its cost since its start.
	void add_report(const std::string &host, const std::string &session, const CostSums &untrusted_since_start,
			Clock::time_point now = Clock::now());
	void add_received(std::size_t bytes);

	// The account of earlier collectors.
	void load(const nlohmann::json &untrusted);
	// `hosts`: those to list.
	nlohmann::ordered_json json(const std::set<std::string> &hosts, Clock::time_point now = Clock::now()) const;

private:
	static constexpr std::size_t max_hosts = 100'000;

	struct Agent {
		std::string session;
		CostSums last;
		Clock::time_point last_at;
		std::optional<TimedCost> sum;
	};

	nlohmann::ordered_json server_json(Clock::time_point now) const;

	std::map<std::string, Agent> agents_;
	CostSums received_; // by this collector's process
	TimedCost before_;  // by earlier ones
	std::optional<TimedCost> hub_before_;
	bool is_hub_partly_known_ = false; // an earlier collector did not measure it
	const int hub_pid_;
	const Clock::time_point start_ = Clock::now();
	std::uint64_t own_start_ns_, hub_start_ns_ = 0;
};

// CPU time of all threads of a process; nullopt: it does not exist, or is not accessible.
std::optional<std::uint64_t> process_cpu_ns(int pid);

} // namespace monitor::fleet
