// SPDX-License-Identifier: MIT
// The clock of one trace of a collection as lines: ticks to nanoseconds of the common clock, and how far off they may
// be.
//
// read_collection() (collection_clocks.h) makes it from the file that `monitor merge` or a fleet's collector wrote;
// Stream applies it to each time. Between two nodes it is the line through both; before the first and after the last
// the clock's nominal rate holds. Const once made, so any number of threads may use it. Nodes are untrusted until
// make() has seen them.
// Invariant: order is kept, and equal ticks stay equal; results outside 64 bits saturate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace monitor::trace {

struct ClockNode {
	std::uint64_t ticks = 0; // of the trace's clock
	std::int64_t ns = 0;     // since the epoch
};

// Of a line: between two nodes, before the first, or after the last; empty: unknown.
using ClockBoundNs = std::optional<std::uint64_t>;

class ClockMap {
public:
	static constexpr std::size_t max_nodes = 1u << 17;

	// nullptr: invalid; `why` then says what is wrong. `bounds` has one element more than `nodes`.
	static std::shared_ptr<const ClockMap> make(std::vector<ClockNode> nodes, std::vector<ClockBoundNs> bounds,
						    std::uint64_t frequency_hz, const char *&why);

	std::uint64_t map(std::uint64_t ticks) const;
	// How far off a mapped time may be, in ns.
	ClockBoundNs bound_at(std::uint64_t ns) const;

	const std::vector<ClockNode> &nodes() const { return nodes_; }
	const std::vector<ClockBoundNs> &bounds() const { return bounds_; }

private:
	// The fraction times 2^shift, chosen so that a product with a difference of ticks fits into 128 bits.
	struct Slope {
		std::uint64_t fraction = 0;
		unsigned shift = 0;

		Slope(std::uint64_t ns, std::uint64_t ticks);
		std::uint64_t times(std::uint64_t ticks) const;
	};

	ClockMap(std::vector<ClockNode> nodes, std::vector<ClockBoundNs> bounds, std::uint64_t frequency_hz);
	// The index of the last node at or before these ticks, which are not before the first node.
	std::size_t node_before(std::uint64_t ticks) const;

	std::vector<ClockNode> nodes_;
	std::vector<ClockBoundNs> bounds_;
	std::vector<Slope> slopes_; // after each node; the last is the nominal rate
	// The nodes' range in equal parts of 2^part_shift_ ticks; for each the last node at or before its start.
	std::vector<std::uint32_t> parts_;
	unsigned part_shift_ = 0;
};

} // namespace monitor::trace
