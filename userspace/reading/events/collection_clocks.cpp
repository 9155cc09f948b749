// SPDX-License-Identifier: MIT
#include "collection_clocks.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace monitor::trace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_file_bytes = 64u << 20;

bool read_node(const Json &json, ClockNode &node)
{
	if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() || !json[1].is_number_integer())
		return false;
	if (json[1].is_number_unsigned() && json[1].get<std::uint64_t>() > INT64_MAX)
		return false;
	node = {json[0].get<std::uint64_t>(), json[1].get<std::int64_t>()};
	return true;
}

// False: another form; ClockMap::make checks the numbers.
bool read_lines(const Json &clock, PartClock &part)
{
	if (!clock.is_object() || !clock.contains("nodes") || !clock["nodes"].is_array() ||
	    !clock.contains("bounds_ns") || !clock["bounds_ns"].is_array())
		return false;
	for (const Json &json : clock["nodes"]) {
		ClockNode node;
		if (!read_node(json, node))
			return false;
		part.nodes.push_back(node);
	}
	for (const Json &json : clock["bounds_ns"]) {
		if (!json.is_null() && !json.is_number_unsigned())
			return false;
		part.bounds.push_back(json.is_null() ? std::nullopt : ClockBoundNs(json.get<std::uint64_t>()));
	}
	return true;
}

PartClock read_part(const Json &json, const std::string &name, std::vector<std::string> &warnings)
{
	PartClock part;
	part.bound = number_field(json, "bound_ns");
	if (!json.contains("clock"))
		return part;
	part.has_lines = read_lines(json["clock"], part);
	if (!part.has_lines) {
		warnings.push_back(
		    "the clock of " + readable(name) +
		    " in .monitor/collection.json has another form than nodes and bounds_ns: it is ignored");
		return {};
	}
	return part;
}

} // namespace

std::map<std::string, PartClock> parse_collection(const std::string &untrusted_text, const std::string &path,
						  std::vector<std::string> &warnings)
{
	std::map<std::string, PartClock> parts;
	const Json json = untrusted_text.size() > max_file_bytes ? Json() : parse_json(untrusted_text);
	if (!json.is_object() || !json.contains("parts") || !json["parts"].is_array()) {
		warnings.push_back(path + " is not that of a collection: how well its clocks agree is unknown");
		return parts;
	}
	for (const Json &part : json["parts"])
		if (const auto name = text_field(part, "directory"))
			parts[*name] = read_part(part, *name, warnings);
	return parts;
}

std::map<std::string, PartClock> read_collection(const std::string &directory, std::vector<std::string> &warnings)
{
	const std::string path = directory + "/.monitor/collection.json";
	const std::string text = read_text(path, max_file_bytes + 1);
	return text.empty() ? std::map<std::string, PartClock>() : parse_collection(text, path, warnings);
}

} // namespace monitor::trace
