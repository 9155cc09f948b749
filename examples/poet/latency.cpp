// SPDX-License-Identifier: MIT
// latency TRACE BEGIN END: how long it takes from an event BEGIN to the next event END in the same stream, as a
// histogram in powers of two. Documentation/poet.md walks through it.
#include <array>
#include <bit>
#include <cstdint>
#include <iostream>
#include <optional>
#include <poet/poet.hpp>
#include <string>
#include <vector>

namespace {

// For each class, whether it has this name. Throws if none has.
std::vector<bool> wanted(const poet::Trace &trace, const std::string &name)
{
	std::vector<bool> is_wanted(trace.classes().size());
	const auto found = trace.find(name);
	if (found.empty())
		throw poet::Error("no event of the trace is called " + name);
	for (const poet::EventClass *cls : found)
		is_wanted[cls->index] = true;
	return is_wanted;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::cerr << "usage: latency TRACE BEGIN END\n";
		return 2;
	}
	try {
		const poet::Trace trace(argv[1]);
		const std::vector<bool> is_begin = wanted(trace, argv[2]), is_end = wanted(trace, argv[3]);

		std::vector<std::optional<std::uint64_t>> since(trace.streams().size());
		std::array<std::uint64_t, 65> histogram{};
		std::uint64_t longest = 0, longest_at = 0;
		poet::visit(
		    trace, {},
		    [&](const poet::Event &event) {
			    auto &begin = since[event.stream_index()];
			    if (is_end[event.class_index()] && begin) {
				    const std::uint64_t ticks = event.time() - *begin;
				    ++histogram[std::bit_width(trace.clock().to_ns(ticks))];
				    if (ticks >= longest) {
					    longest = ticks;
					    longest_at = *begin;
				    }
				    begin.reset();
			    }
			    if (is_begin[event.class_index()])
				    begin = event.time();
		    },
		    // what began before a gap may have ended within it
		    [&](const poet::Gap &gap) { since[gap.stream->index].reset(); });

		for (std::size_t bits = 0; bits < histogram.size(); ++bits)
			if (histogram[bits] > 0)
				std::cout << "below " << (bits < 64 ? std::to_string(std::uint64_t(1) << bits) : "2^64")
					  << " ns: " << histogram[bits] << '\n';
		std::cout << "the longest: " << trace.clock().to_ns(longest) << " ns, from "
			  << trace.clock().text(longest_at) << " s on\n";
	} catch (const poet::Error &error) {
		std::cerr << "latency: " << error.what() << '\n';
		return 1;
	}
	return 0;
}
