// SPDX-License-Identifier: MIT
// The packets of a stream of which only a part was fetched from its host (base/fetched_trace.h): those that are here,
// and between them one for each stretch that is not, which is a gap and no damage.
//
// trace.cpp makes a stream with them. What `here` names and the file does not have is damage as in any file. Invariant:
// as of Packets; and no packet is within a stretch that was not fetched, however large it is.
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

// What Packets::read() returns of such a stretch.
extern const char *const why_not_fetched;

// Of tokens. `bytes` must outlive them.
std::unique_ptr<Packets> fetched_packets(std::span<const std::byte> bytes, const std::array<std::uint8_t, 16> &uuid,
					 const FetchedStream &fetched);

// A copy of a trace of which only a part is here.
struct FetchedPart {
	std::string directory;
	FetchedTrace fetched;

	// A sentence: which windows, and how much.
	std::string text() const;
};
// nullopt: all of it is here, or it never stayed on a host.
std::optional<FetchedPart> read_fetched_part(const std::string &directory);
// Those that were opened, or are in the same collection as these.
std::vector<FetchedPart> fetched_parts(const Trace &trace);

} // namespace monitor::trace
