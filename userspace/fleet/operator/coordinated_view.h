// SPDX-License-Identifier: MIT
// Coordinated snapshots, as the hosts report them (fleet/wire/snapshot_news.h): the time from the trigger until each
// host's flight recorder froze.
// Messages arrive in a thread of libnats and are untrusted; the sender is the subject. Invariant: memory is bounded
// even if hosts send without end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "fleet/wire/connection.h"
#include "fleet/wire/snapshot_news.h"
#include "fleet_view.h"

namespace monitor::fleet_operator {

struct CoordinatedSnapshot {
	struct HostReport {
		fleet::SnapshotNews news;
		Clock::time_point arrived;
	};
	std::string host;                        // whose trigger fired
	std::uint64_t number = 0;                // of the snapshot there
	std::optional<HostReport> fired;         // none: not received
	std::map<std::string, HostReport> froze; // by other host
	Clock::time_point first_arrival;
};

// From the trigger until the last host froze.
struct FreezeTime {
	std::string last_host;         // by arrival here
	double by_arrival_ns = 0;      // includes the transit of both messages
	std::int64_t by_clocks_ns = 0; // by the hosts' own clocks, which may be wrong
};
std::optional<FreezeTime> freeze_time(const CoordinatedSnapshot &snapshot);

// Reports of one run. Not thread-safe.
class KeptCoordinatedSnapshots {
public:
	static constexpr std::size_t max_snapshots = 10'000, max_reports = 400'000;

	void add(const std::string &host, bool has_fired, fleet::SnapshotNews news, Clock::time_point arrived);
	// Snapshots that all of `hosts` have reported, or whose first report is older than `before`; each once.
	std::vector<CoordinatedSnapshot> take_settled(const std::set<std::string> &hosts, Clock::time_point before);

private:
	std::map<std::pair<std::string, std::uint64_t>, CoordinatedSnapshot> waiting_;
	std::set<std::pair<std::string, std::uint64_t>> settled_;
	std::size_t reports_ = 0;
};

class CoordinatedView {
public:
	CoordinatedView(fleet::Connection &connection, const std::string &run);

	std::vector<CoordinatedSnapshot> take_settled(const std::set<std::string> &hosts, Clock::time_point before);

private:
	// Shared with the connection's handlers.
	struct State {
		std::string run;
		std::mutex mutex;
		KeptCoordinatedSnapshots snapshots;
	};
	std::shared_ptr<State> state_ = std::make_shared<State>();
};

// "the trigger slow of web1 fired (snapshot 001): 2 of 2 other hosts froze, the last, db1, 1.93 ms after it as heard
// here, ..."
std::string coordinated_text(const CoordinatedSnapshot &snapshot, const std::set<std::string> &hosts);
nlohmann::ordered_json coordinated_json(const CoordinatedSnapshot &snapshot);

} // namespace monitor::fleet_operator
