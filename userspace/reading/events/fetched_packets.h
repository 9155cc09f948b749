// SPDX-License-Identifier: MIT
// The packets of a stream that was only partly fetched from its host (base/fetched_trace.h): those that are here, and
// one for each missing stretch in between, which is a gap and not damage.
// Data that `here` lists and the file lacks is damage as in any file. Invariant: as for Packets; and no packet is
// within a stretch that was not fetched, however large the packet is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fetched_trace.h"
#include "packets.h"

namespace monitor::trace {

class Trace;

// The result of Packets::read() for a missing stretch.
extern const char *const why_not_fetched;

// For tokens. `bytes` must outlive them.
std::unique_ptr<Packets> fetched_packets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid,
					 const FetchedStream &fetched);

// What is here of a partly fetched trace.
struct FetchedPart {
	std::string directory;
	FetchedTrace fetched;

	// For messages: which windows, and how much.
	std::string text() const;
};
// nullopt: all of it is here, or it was never left on a host.
std::optional<FetchedPart> read_fetched_part(const std::string &directory);
// Of the traces that were opened, and of the others in their collections.
std::vector<FetchedPart> fetched_parts(const Trace &trace);

} // namespace monitor::trace
