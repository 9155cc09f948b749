// SPDX-License-Identifier: MIT
// What it costs to bring a run here: CPU time and bytes at the agents, at the hub and at the collector.
//
// Used by collector.cpp, which locks; `monitor fleet cost` shows what it writes into fleet.json. Agents say in their
// presence (fleet/wire/reports.h) what they have used since their start: what counts is the difference between two of
// the same agent, while this collector runs; sums of collectors before this one are continued. The collector's is the
// CPU time of its process. The hub's is known only if its process is, which is then on this machine; of several
// collectors one after the other, perhaps only while some of them ran. Invariant: what was not measured is no number,
// and what was measured in part says so.
#pragma once

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

class CostAccount {
public:
	// `hub_pid`: the server's process; 0: not known. Throws Error if there is none.
	explicit CostAccount(int hub_pid = 0);

	// What the agent of a host says it has used since its start.
	void take_presence(const std::string &host, const std::string &session, const CostSums &untrusted_since_start);
	void add_received(std::size_t bytes);

	// What collectors before this one have written.
	void load(const nlohmann::json &untrusted);
	// `hosts`: those to be listed.
	nlohmann::ordered_json json(const std::set<std::string> &hosts) const;

private:
	static constexpr std::size_t max_hosts = 100'000;

	struct Agent {
		std::string session;
		CostSums last;
		std::optional<CostSums> sum;
	};

	std::map<std::string, Agent> agents_;
	CostSums received_, before_; // by this process, by those before
	std::optional<std::uint64_t> hub_before_;
	bool is_hub_partly_known_ = false; // a collector before this one did not measure it
	const int hub_pid_;
	std::uint64_t own_start_ns_, hub_start_ns_ = 0;
};

// CPU time of all threads of a process; nullopt: there is none, or it cannot be seen.
std::optional<std::uint64_t> process_cpu_ns(int pid);

} // namespace monitor::fleet
