// SPDX-License-Identifier: MIT
#include "fetched_trace.h"

#include <fmt/format.h>

#include "date_text.h"
#include "json.h"
#include "json_fields.h"
#include "ranges.h"

namespace monitor {
namespace {

constexpr std::size_t max_windows = 1024, max_streams = 16384 + 604800 /* of periods */, max_name = 128,
		      max_ranges = 65536;
constexpr std::uint64_t max_blocks = 1ull << 28;

bool parse_stream(const nlohmann::json &from, FetchedStream &stream)
{
	const auto blocks = number_field(from, "blocks", max_blocks);
	if (!blocks || !from.contains("here") || !from["here"].is_array() || from["here"].size() > max_ranges)
		return false;
	stream.blocks = *blocks;
	for (const nlohmann::json &each : from["here"]) {
		BlockRanges::Range range;
		if (!read_pair(each, range) || range.second > stream.blocks)
			return false;
		stream.present.add(range.first, range.second - range.first);
	}
	return true;
}

std::string time_of(std::uint64_t ns, const char *format)
{
	const std::uint64_t seconds = ns / 1'000'000'000;
	const std::string text = utc_date(static_cast<std::int64_t>(seconds), format);
	return text.empty() ? fmt::format("{} s", seconds) : fmt::format("{}.{:03}", text, ns / 1'000'000 % 1000);
}

} // namespace

std::uint64_t FetchedTrace::blocks() const
{
	return sum_of_all<std::uint64_t>(streams, [](const auto &each) { return each.second.blocks; });
}

std::uint64_t FetchedTrace::blocks_present() const
{
	return sum_of_all<std::uint64_t>(streams, [](const auto &each) { return each.second.present.count(); });
}

std::string FetchedTrace::text() const
{
	nlohmann::ordered_json json = {{"version", 1},
				       {"request", request},
				       {"ended", has_ended},
				       {"windows", nlohmann::ordered_json::array()},
				       {"streams", nlohmann::ordered_json::object()}};
	for (const Window &window : windows)
		json["windows"].push_back({window.first, window.second});
	for (const auto &[name, stream] : streams) {
		auto &here = json["streams"][name];
		here = {{"blocks", stream.blocks}, {"here", nlohmann::ordered_json::array()}};
		for (const auto &[first, end] : stream.present.ranges())
			here["here"].push_back({first, end});
	}
	return json_dump(json) + '\n';
}

std::optional<FetchedTrace> FetchedTrace::parse(const std::string &untrusted_text)
{
	const auto json = parse_json(untrusted_text);
	if (!json.is_object() || !json.contains("version") || json["version"] != 1)
		return {};
	FetchedTrace trace;
	trace.request = text_field(json, "request").value_or("").substr(0, max_name);
	trace.has_ended = flag_field(json, "ended");
	if (!json.contains("windows") || !json["windows"].is_array() || json["windows"].size() > max_windows ||
	    !json.contains("streams") || !json["streams"].is_object() || json["streams"].size() > max_streams)
		return {};
	for (const auto &each : json["windows"])
		if (!read_pair(each, trace.windows.emplace_back()))
			return {};
	for (const auto &[name, stream] : json["streams"].items())
		if (name.size() > max_name || !parse_stream(stream, trace.streams[name]))
			return {};
	return trace;
}

std::string window_text(const FetchedTrace::Window &window)
{
	if (window.first == 0 && window.second == ~std::uint64_t(0))
		return "all of it";
	if (window.first == 0)
		return "its start to " + time_of(window.second, "%F %T") + " UTC";
	if (window.second == ~std::uint64_t(0))
		return time_of(window.first, "%F %T") + " UTC to its end";
	const bool is_same_day = window.first / 86'400'000'000'000 == window.second / 86'400'000'000'000;
	return time_of(window.first, "%F %T") + " to " + time_of(window.second, is_same_day ? "%T" : "%F %T") + " UTC";
}

} // namespace monitor
