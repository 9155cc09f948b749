// SPDX-License-Identifier: MIT
#include "begun_snapshots.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"

namespace monitor::record {
namespace {

constexpr const char *by_names[] = {"request", "signal", "trigger"};
constexpr std::size_t max_flight_file_bytes = 64 << 10;
constexpr std::uint64_t max_snapshot_number = 1'000'000'000;

std::optional<BegunSnapshot> parse_begun(const nlohmann::json &untrusted_object)
{
	const auto number = number_field(untrusted_object, "number"), time = number_field(untrusted_object, "time"),
		   realtime = number_field(untrusted_object, "realtime_ns"),
		   frozen_time = number_field(untrusted_object, "frozen_time"),
		   frozen = number_field(untrusted_object, "frozen_ns");
	constexpr std::size_t max_bytes = BegunSnapshots::max_text_bytes;
	auto by = text_field(untrusted_object, "by", max_bytes), why = text_field(untrusted_object, "why", max_bytes),
	     trigger = text_field(untrusted_object, "trigger", max_bytes);
	if (!number || *number > max_snapshot_number || !time || !realtime || !frozen_time || !frozen || !by || !why ||
	    !trigger)
		return {};
	const auto *const found = std::ranges::find(by_names, *by);
	if (found == std::end(by_names))
		return {};
	return BegunSnapshot{static_cast<unsigned>(*number),
			     static_cast<SnapshotRequest::By>(found - by_names),
			     std::move(*why),
			     std::move(*trigger),
			     *time,
			     *realtime,
			     *frozen_time,
			     *frozen};
}

} // namespace

void BegunSnapshots::add(BegunSnapshot snapshot)
{
	kept_.push_back(std::move(snapshot));
	if (kept_.size() > max_kept)
		kept_.pop_front();
}

nlohmann::ordered_json BegunSnapshots::json() const
{
	auto all = nlohmann::ordered_json::array();
	for (const BegunSnapshot &each : kept_)
		all.push_back({{"number", each.number},
			       {"by", by_names[static_cast<std::size_t>(each.by)]},
			       {"why", each.why.substr(0, max_text_bytes)},
			       {"trigger", each.trigger.substr(0, max_text_bytes)},
			       {"time", each.time},
			       {"realtime_ns", each.realtime_ns},
			       {"frozen_time", each.frozen_time},
			       {"frozen_ns", each.frozen_ns}});
	return all;
}

std::vector<BegunSnapshot> parse_begun_snapshots(std::string_view untrusted_text)
{
	std::vector<BegunSnapshot> all;
	if (untrusted_text.size() > max_flight_file_bytes)
		return all;
	const nlohmann::json json = parse_json(std::string(untrusted_text));
	for (const nlohmann::json &each : array_field(json, "begun")) {
		auto begun = parse_begun(each);
		const bool is_next = begun && (all.empty() || begun->number > all.back().number);
		if (is_next && all.size() < BegunSnapshots::max_kept)
			all.push_back(std::move(*begun));
	}
	return all;
}

} // namespace monitor::record
