// SPDX-License-Identifier: MIT
#include "snapshot_news.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_fields.h"
#include "names.h"

namespace monitor::fleet {
namespace {

constexpr unsigned news_version = 1;
constexpr std::size_t max_run_name = 64;
constexpr std::uint64_t max_snapshot = 1'000'000'000;

bool is_trigger_name(const std::string &name)
{
	return std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

} // namespace

std::string snapshot_news_text(const SnapshotNews &news)
{
	nlohmann::ordered_json json = {{"version", news_version},
				       {"run", news.run},
				       {"snapshot", news.number},
				       {"trigger", news.trigger},
				       {"time", news.time},
				       {"realtime_ns", news.realtime_ns},
				       {"frozen_time", news.frozen_time},
				       {"frozen_ns", news.frozen_ns}};
	if (!news.cause_host.empty())
		json["cause"] = {{"host", news.cause_host}, {"snapshot", news.cause_number}};
	return json_dump(json);
}

std::optional<SnapshotNews> parse_snapshot_news(std::string_view untrusted_text)
{
	if (untrusted_text.size() > max_news_bytes)
		return {};
	const nlohmann::json json = parse_json(std::string(untrusted_text));
	const auto run = text_field(json, "run", max_run_name), trigger = text_field(json, "trigger", max_trigger_name);
	const auto number = number_field(json, "snapshot"), time = number_field(json, "time"),
		   realtime = number_field(json, "realtime_ns"), frozen_time = number_field(json, "frozen_time"),
		   frozen = number_field(json, "frozen_ns");
	if (number_field(json, "version") != news_version || !run || !is_run_name(*run) || !trigger ||
	    !is_trigger_name(*trigger) || !number || *number > max_snapshot || !time || !realtime || !frozen_time ||
	    !frozen)
		return {};
	SnapshotNews news{*run, *number, *trigger, *time, *realtime, *frozen_time, *frozen, "", 0};
	if (const nlohmann::json *cause = json_field(json, "cause")) {
		const auto host = text_field(*cause, "host", max_host_name);
		const auto cause_number = number_field(*cause, "snapshot");
		if (!host || !is_host_name(*host) || !cause_number || *cause_number > max_snapshot)
			return {};
		news.cause_host = *host;
		news.cause_number = *cause_number;
	}
	return news;
}

std::string snapshot_name(std::uint64_t number)
{
	return fmt::format("{:03}", number);
}

} // namespace monitor::fleet
