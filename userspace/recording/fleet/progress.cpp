// SPDX-License-Identifier: MIT
#include "progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"

namespace monitor::fleet {
namespace {

std::uint64_t hex_of(const nlohmann::json &json)
{
	const std::string text = json.is_string() ? json.get<std::string>() : "";
	return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos
		   ? std::stoull(text, nullptr, 16)
		   : 0;
}

std::string hex_text(std::uint64_t number)
{
	return fmt::format("{:016x}", number);
}

} // namespace

void StoredBlocks::add(std::uint64_t first, std::uint64_t count)
{
	std::uint64_t &end = later_[first];
	end = std::max(end, first + count);
	while (!later_.empty() && later_.begin()->first <= prefix_) {
		prefix_ = std::max(prefix_, later_.begin()->second);
		later_.erase(later_.begin());
	}
}

std::uint64_t TraceProgress::stored_blocks() const
{
	std::uint64_t sum = 0;
	for (const auto &[name, stored] : streams)
		sum += stored.prefix();
	return sum;
}

void TraceProgress::start_again(std::uint64_t new_store)
{
	const Uuid kept = uuid;
	*this = {};
	uuid = kept;
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
	for (const auto &[name, stored] : streams)
		json["streams"][name] = stored.prefix();
	for (const auto &[name, hash] : files)
		json["files"][name] = hex_text(hash);
	return json_dump(json) + '\n';
}

bool TraceProgress::parse(const std::string &untrusted_text, const Uuid &expected)
{
	*this = {};
	uuid = expected;
	const auto json = parse_json(untrusted_text);
	if (!json.is_object() || !json.contains("uuid") || json["uuid"] != uuid_digits(expected) ||
	    !json.contains("store"))
		return false;
	store = hex_of(json["store"]);
	is_complete = json.contains("complete") && json["complete"] == true;
	for (const auto &[name, to] : {std::pair("conflicts", &conflicts), std::pair("refused", &refused),
				       std::pair("vanished", &vanished), std::pair("refused_files", &refused_files)})
		if (json.contains(name) && json[name].is_number_unsigned())
			*to = json[name].get<std::uint64_t>();
	if (json.contains("streams") && json["streams"].is_object())
		for (const auto &[name, blocks] : json["streams"].items())
			if (is_stream_name(name) && blocks.is_number_unsigned() && blocks <= max_stream_blocks)
				streams[name].set_prefix(blocks.get<std::uint64_t>());
	if (json.contains("files") && json["files"].is_object())
		for (const auto &[name, hash] : json["files"].items())
			if (is_description_name(name))
				files[name] = hex_of(hash);
	return true;
}

} // namespace monitor::fleet
