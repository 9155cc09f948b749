// SPDX-License-Identifier: MIT
// What the fuzzers of described traces share: an input is a text, a NUL, and a file's bytes; of a trace every event is
// read, each of its fields by name, and printed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>

#include "answers/listing/listing.h"
#include "base/fd.h"
#include "reading/events/field_ref.h"
#include "reading/events/merge.h"

namespace fuzz {

inline void require(bool condition)
{
	if (!condition)
		std::abort();
}

struct Input {
	std::string_view text;
	std::vector<std::byte> bytes; // of its own, so that the sanitizer sees a read after it
};

inline Input input_of(const unsigned char *data, std::size_t size)
{
	const void *nul = std::memchr(data, 0, size);
	const std::size_t text_bytes =
	    nul ? static_cast<std::size_t>(static_cast<const unsigned char *>(nul) - data) : size;
	const std::size_t after = std::min(size, text_bytes + 1);
	Input made{{reinterpret_cast<const char *>(data), text_bytes}, std::vector<std::byte>(size - after)};
	if (!made.bytes.empty())
		std::memcpy(made.bytes.data(), data + after, made.bytes.size());
	return made;
}

// Sees what lies after a text's bytes being read, if it does.
inline std::size_t touched(std::string_view text)
{
	std::size_t sum = 0;
	for (const char c : text)
		sum += static_cast<unsigned char>(c);
	return sum;
}

// The plan by which the cursor passed the event's fields goes where their trees go.
inline void compare_plan(const monitor::trace::Event &event)
{
	if (event.is_token())
		return;
	std::uint64_t by_plan = event.at_bits, by_trees = event.at_bits;
	event.slots[monitor::trace::budget_slot] = ~std::uint64_t(0);
	require(event.cls->plan.skip_fields(event.view(), by_plan));
	for (const monitor::trace::FieldClass *scope : event.cls->scopes)
		require(!scope || monitor::trace::skip(*scope, event.view(), by_trees));
	require(by_plan == by_trees);
}

inline void read_fields(const monitor::trace::Event &event)
{
	compare_plan(event);
	volatile std::size_t sum = 0;
	for (const monitor::trace::Field &field : event.cls->fields) {
		const monitor::trace::FieldRef value(*event.cls, field);
		sum = sum + value.get(event) + touched(value.get<std::string_view>(event)) + value.is_in(event);
		sum = sum + (value.label(event) != nullptr) + (value.get<double>(event) > 0);
	}
}

inline void read(monitor::trace::Trace &trace, monitor::trace::TimeRange range, bool json)
{
	constexpr std::size_t max_events = 20'000;
	static monitor::Fd null(::open("/dev/null", O_WRONLY));
	monitor::trace::ListingOptions options;
	options.json = json;
	monitor::trace::Listing listing(trace, options, null.get());
	std::uint64_t last = 0;
	std::size_t events = 0;
	monitor::trace::merge(
	    trace, range,
	    [&](const monitor::trace::Event &event) -> bool {
		    require(event.time >= last);
		    last = event.time;
		    read_fields(event);
		    return listing.print(event) && ++events < max_events;
	    },
	    [&](const monitor::trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    require(from <= to);
		    listing.gap(stream);
	    });
	listing.flush();
}

} // namespace fuzz
