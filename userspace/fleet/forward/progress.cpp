// SPDX-License-Identifier: MIT
#include "progress.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/ranges.h"
#include "fleet/wire/fetch_request.h"

namespace monitor::fleet {
namespace {

std::string hex_text(std::uint64_t number)
{
	return fmt::format("{:016x}", number);
}

// Ranges of blocks by stream.
void parse_ranges(const nlohmann::json &json, const char *member, std::map<std::string, BlockRanges> &streams)
{
	for (const auto &[name, ranges] : object_field(json, member).items())
		for (const auto &each : is_stream_name(name) && ranges.is_array() ? ranges : nlohmann::json::array())
			if (BlockRanges::Range range; read_pair(each, range) && range.second <= max_stream_blocks)
				streams[name].add(range.first, range.second - range.first);
}

void parse_wanted(const nlohmann::json &json, TraceProgress::Wanted &wanted)
{
	const auto forward = text_field(json, "forward");
	if (!forward)
		return;
	wanted.forward = parse_forward(*forward);
	wanted.request = text_field(json, "request").value_or(wanted.request);
	for (const auto &each : array_field(json, "windows"))
		if (FetchedTrace::Window window; read_pair(each, window))
			wanted.windows.push_back(window);
}

} // namespace

std::uint64_t TraceProgress::stored_blocks() const
{
	return sum_of_all<std::uint64_t>(streams, [](const auto &each) { return each.second.count(); });
}

void TraceProgress::start_again(std::uint64_t new_store)
{
	const Uuid kept = uuid;
	Wanted kept_wanted = std::move(wanted);
	*this = {};
	uuid = kept;
	wanted = std::move(kept_wanted);
	store = new_store;
}

std::string TraceProgress::text() const
{
	nlohmann::ordered_json json = {{"version", 1},
				       {"uuid", uuid_digits(uuid)},
				       {"store", hex_text(store)},
				       {"complete", is_complete},
				       {"conflicts", conflicts},
				       {"refused", refused},
				       {"vanished", vanished},
				       {"refused_files", refused_files},
				       {"streams", nlohmann::ordered_json::object()},
				       {"files", nlohmann::ordered_json::object()}};
	for (const auto &[name, stored] : streams) {
		json["streams"][name] = stored.prefix();
		for (const auto &[first, end] : stored.ranges())
			if (first != 0)
				json["ranges"][name].push_back({first, end});
	}
	for (const auto &[name, blocks] : absent)
		for (const auto &[first, end] : blocks.ranges())
			json["absent"][name].push_back({first, end});
	for (const auto &[name, hash] : files)
		json["files"][name] = hex_text(hash);
	if (wanted.forward) {
		json["forward"] = forward_text(*wanted.forward);
		json["request"] = wanted.request;
		for (const auto &[from, to] : wanted.windows)
			json["windows"].push_back({from, to});
	}
	return json_dump(json) + '\n';
}

bool TraceProgress::parse(const std::string &untrusted_text, const Uuid &expected)
{
	*this = {};
	uuid = expected;
	const auto json = parse_json(untrusted_text);
	if (text_field(json, "uuid") != uuid_digits(expected) || !json.contains("store"))
		return false;
	store = parse_hex64(text_field(json, "store").value_or("")).value_or(0);
	is_complete = flag_field(json, "complete");
	for (const auto &[name, to] : {std::pair("conflicts", &conflicts), std::pair("refused", &refused),
				       std::pair("vanished", &vanished), std::pair("refused_files", &refused_files)})
		*to = number_field(json, name).value_or(0);
	for (const auto &[name, blocks] : object_field(json, "streams").items())
		if (is_stream_name(name) && blocks.is_number_unsigned() && blocks <= max_stream_blocks)
			streams[name].set_prefix(blocks.get<std::uint64_t>());
	parse_ranges(json, "ranges", streams); // stored blocks after the first missing one
	parse_ranges(json, "absent", absent);
	parse_wanted(json, wanted);
	for (const auto &[name, hash] : object_field(json, "files").items())
		if (is_description_name(name))
			files[name] = parse_hex64(hash.is_string() ? hash.get<std::string>() : "").value_or(0);
	return true;
}

} // namespace monitor::fleet
