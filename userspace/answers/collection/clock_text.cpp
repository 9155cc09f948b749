// SPDX-License-Identifier: MIT
#include "clock_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "reading/ctf/json_sequence.h"
#include "reading/ctf/tsdl.h"

namespace monitor::collection {
namespace {

using trace::tsdl::Block;

struct Edit {
	std::size_t at, length;
	std::string text;
};

__int128 value_of(const Block &clock, std::string_view name, __int128 otherwise)
{
	for (const auto &attribute : clock.attributes)
		if (attribute.name == name)
			return attribute.value.negative ? -static_cast<__int128>(attribute.value.magnitude)
							: static_cast<__int128>(attribute.value.magnitude);
	return otherwise;
}

struct ClockOffset {
	std::int64_t seconds = 0, ticks = 0;
};

// The sum of a clock's offsets, increased by shift_ns.
ClockOffset shifted(__int128 seconds, __int128 ticks, __int128 frequency, std::int64_t shift_ns)
{
	constexpr __int128 second_ns = 1'000'000'000;
	const __int128 product = static_cast<__int128>(shift_ns) * frequency;
	const __int128 shift_ticks = (product + (product < 0 ? -second_ns / 2 : second_ns / 2)) / second_ns;
	const __int128 all = seconds * frequency + ticks + shift_ticks;
	const __int128 whole = all / frequency - (all % frequency < 0 ? 1 : 0);
	return {static_cast<std::int64_t>(whole), static_cast<std::int64_t>(all - whole * frequency)};
}

// Replaces both offsets by their shifted sum after the brace, and declares the clock absolute: CTF 1.8 assumes that
// other clocks are only comparable with those of the same uuid.
void shift(const Block &clock, const std::string &text, std::int64_t shift_ns, std::vector<Edit> &edits)
{
	const __int128 frequency = std::max<__int128>(value_of(clock, "freq", 1'000'000'000), 1);
	const ClockOffset offset =
	    shifted(value_of(clock, "offset_s", 0), value_of(clock, "offset", 0), frequency, shift_ns);
	for (const auto &attribute : clock.attributes) {
		if (attribute.name != "offset" && attribute.name != "offset_s" && attribute.name != "absolute")
			continue;
		const std::size_t begin = attribute.position.offset, end = text.find(';', begin);
		edits.push_back({begin, end + 1 - begin, ""});
	}
	const std::size_t brace = text.find('{', clock.position.offset);
	edits.push_back(
	    {brace + 1, 0, fmt::format(" offset_s = {}; offset = {}; absolute = true;", offset.seconds, offset.ticks)});
}

// In CTF 2 the clock is a fragment, which is rewritten; the others are unchanged.
std::string shifted_fragments(const std::string &text, std::int64_t shift_ns)
{
	using Json = nlohmann::ordered_json;
	constexpr char separator = 0x1e;
	std::string made;
	for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
		end = std::min(text.find(separator, at + 1), text.size());
		const std::string fragment = text.substr(at + 1, end - at - 1);
		Json json = fragment.find("clock-class") != std::string::npos ? parse_json<Json>(fragment) : Json();
		if (json.is_discarded())
			throw Error("the description of a clock cannot be read");
		if (json.is_object() && json.value("type", "") == "clock-class") {
			const Json before = json.value("offset-from-origin", Json::object());
			const ClockOffset offset =
			    shifted(before.value("seconds", std::int64_t(0)), before.value("cycles", std::uint64_t(0)),
				    json.value("frequency", std::uint64_t(1)), shift_ns);
			json["origin"] = "unix-epoch";
			json["offset-from-origin"] = {{"seconds", offset.seconds}, {"cycles", offset.ticks}};
			made += separator + json_dump(json) + '\n';
		} else {
			made += separator + fragment;
		}
	}
	return made;
}

} // namespace

std::string shifted_clocks(const std::string &metadata, std::int64_t shift_ns)
{
	if (trace::json::is_sequence(metadata))
		return shifted_fragments(metadata, shift_ns);
	std::vector<Edit> edits;
	try {
		for (const Block &block : trace::tsdl::parse(metadata).blocks)
			if (block.keyword == "clock")
				shift(block, metadata, shift_ns, edits);
	} catch (const ParseError &error) {
		throw Error(std::string("a description cannot be read: ") + error.what());
	}
	std::sort(edits.begin(), edits.end(), [](const Edit &a, const Edit &b) { return a.at > b.at; });
	std::string text = metadata;
	for (const Edit &edit : edits)
		text.replace(edit.at, edit.length, edit.text);
	return text;
}

} // namespace monitor::collection
