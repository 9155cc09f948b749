// SPDX-License-Identifier: MIT
// Any bytes as an expression, on events of a fixed description or of any: it is refused in one sentence at one place,
// or it is decided for every event, and its negation is decided the other way. Input: EXPRESSION [NUL EVENTS [NUL
// WORDS]]; EVENTS are event blocks of TSDL, WORDS what the events' fields hold.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "../unit/samples.h"
#include "base/parse_error.h"
#include "reading/filter/filter.h"

using namespace monitor;
using filter::Filter;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

const std::string events =
    samples::event_block(256, "numbers", "s16_t small; u16_t reserved; u64_t u; s64_t s; x64_t address;") +
    samples::event_block(257, "texts", "u16_t arg; text_t comm[16]; text_t other[8];") +
    samples::event_block(258, "labels", "range_t state; s32_t pid; u64_t u;") +
    samples::event_block(259, "call", "u12_t id; abi_t abi;") +
    samples::event_block(260, "call", "u12_t id; abi_t abi; s64_t ret;") +
    samples::event_block(261, "clash", "u16_t cpu; u32_t time; u32_t in; text_t name[8];");

std::string_view cut(std::string_view &rest)
{
	const std::size_t end = rest.find('\0');
	const std::string_view part = rest.substr(0, end);
	rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
	return part;
}

std::optional<Filter> made(std::string_view expression, const trace::Description &description)
{
	try {
		return Filter(expression, description, 1000);
	} catch (const ParseError &error) {
		require(error.position().column >= 1 && error.position().column <= expression.size() + 1 &&
			!error.sentence().empty());
		for (const char *c = error.what(); *c; ++c)
			require(static_cast<unsigned char>(*c) >= 0x20 || *c == '\n');
		return std::nullopt;
	}
}

void decide(const Filter &filter, const std::optional<Filter> &negated, const trace::Event &event,
	    const filter::Running &running)
{
	const bool matches = filter.matches(event, running);
	require(!matches || filter.can_match(*event.cls));
	if (negated)
		require(negated->matches(event, running) != matches);
}

// As the cursor tests it before anybody sees the event.
bool is_whole(const trace::Event &event)
{
	std::uint64_t at_bits = 0;
	event.slots[trace::budget_slot] = 1u << 20;
	return std::ranges::all_of(event.cls->scopes, [&](const trace::FieldClass *scope) {
		return !scope || trace::skip(*scope, event.view(), at_bits);
	});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	static const std::unique_ptr<const trace::Description> usual = samples::description(events);
	static std::vector<samples::StreamWriter> no_streams;
	static const trace::Trace no_events = samples::trace(no_streams, events);
	static const trace::Threads threads(no_events);
	std::string_view rest(reinterpret_cast<const char *>(data), size);
	const std::string_view expression = cut(rest), other_events = cut(rest);
	std::string why;
	const auto other = other_events.empty()
			       ? nullptr
			       : trace::read_description(samples::description_text(std::string(other_events)), why);
	const trace::Description &description = other ? *other : *usual;
	const std::optional<Filter> filter = made(expression, description);
	if (!filter)
		return 0;
	const std::optional<Filter> negated = made("not (" + std::string(expression) + ")", description);
	trace::StreamInfo stream;
	stream.name = "kernel_cpu0";
	for (const auto &cls : description.classes()) {
		// the sanitizer sees a read outside
		std::vector<std::byte> record(cls->size_bytes ? cls->size_bytes : rest.size());
		if (const std::size_t bytes = std::min(rest.size(), record.size()))
			std::memcpy(record.data(), rest.data(), bytes);
		std::vector<std::uint64_t> slots(
		    description.layout ? static_cast<std::size_t>(description.layout->slots) : trace::budget_slot + 1);
		trace::Event event;
		event.cls = cls.get();
		event.data = event.packet = record.data();
		event.end_bits = record.size() * 8;
		event.slots = slots.data();
		if (!event.is_token() && !is_whole(event))
			continue;
		event.stream = &stream;
		event.time = 1'000'001'000 + rest.size();
		stream.cpu = cls->id % 2 ? 0 : EDC_CPU_UNKNOWN;
		decide(*filter, negated, event, {});
		decide(*filter, negated, event, {0, &threads});
		decide(*filter, negated, event, {77, &threads});
	}
	return 0;
}
