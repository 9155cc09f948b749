// SPDX-License-Identifier: MIT
#include "clock_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "reading/ctf/tsdl.h"

namespace monitor::collection {
namespace {

using trace::tsdl::Block;

struct Edit {
	std::size_t at, length;
	std::string text;
};

__int128 value_of(const Block &clock, std::string_view name, __int128 without)
{
	for (const auto &attribute : clock.attributes)
		if (attribute.name == name)
			return attribute.value.negative ? -static_cast<__int128>(attribute.value.magnitude)
							: static_cast<__int128>(attribute.value.magnitude);
	return without;
}

// Both offsets are removed; their shifted sum is inserted after the brace. So is that the clock is absolute: CTF 1.8
// assumes that any other agrees only with clocks of its own uuid.
void shift(const Block &clock, const std::string &text, std::int64_t shift_ns, std::vector<Edit> &edits)
{
	constexpr __int128 second_ns = 1'000'000'000;
	const __int128 frequency = std::max<__int128>(value_of(clock, "freq", second_ns), 1);
	const __int128 product = static_cast<__int128>(shift_ns) * frequency;
	const __int128 shift_ticks = (product + (product < 0 ? -second_ns / 2 : second_ns / 2)) / second_ns;
	const __int128 ticks = value_of(clock, "offset_s", 0) * frequency + value_of(clock, "offset", 0) + shift_ticks;
	const __int128 seconds = ticks / frequency - (ticks % frequency < 0 ? 1 : 0);
	for (const auto &attribute : clock.attributes) {
		if (attribute.name != "offset" && attribute.name != "offset_s" && attribute.name != "absolute")
			continue;
		const std::size_t begin = attribute.position.offset, end = text.find(';', begin);
		edits.push_back({begin, end + 1 - begin, ""});
	}
	const std::size_t brace = text.find('{', clock.position.offset);
	edits.push_back(
	    {brace + 1, 0,
	     fmt::format(" offset_s = {}; offset = {}; absolute = true;", static_cast<std::int64_t>(seconds),
			 static_cast<std::int64_t>(ticks - seconds * frequency))});
}

} // namespace

std::string shifted_clocks(const std::string &metadata, std::int64_t shift_ns)
{
	std::vector<Edit> edits;
	try {
		for (const Block &block : trace::tsdl::parse(metadata).blocks)
			if (block.keyword == "clock")
				shift(block, metadata, shift_ns, edits);
	} catch (const Refusal &refusal) {
		throw Error(std::string("a description cannot be read: ") + refusal.what());
	}
	std::sort(edits.begin(), edits.end(), [](const Edit &a, const Edit &b) { return a.at > b.at; });
	std::string text = metadata;
	for (const Edit &edit : edits)
		text.replace(edit.at, edit.length, edit.text);
	return text;
}

} // namespace monitor::collection
