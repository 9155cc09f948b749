// SPDX-License-Identifier: MIT
// .monitor/fetched.json: a trace of which a host sends only what is requested (`fleet record --forward on-demand`,
// `fleet fetch`), and which parts of it are here.
//
// The host sends it as a description after the blocks that it names, so it never claims what is not stored; by it
// readers know that missing blocks are no damage. What is read is untrusted: bounded, or nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "block_ranges.h"

namespace monitor {

inline constexpr const char *fetched_file = ".monitor/fetched.json";

struct FetchedStream {
	std::uint64_t blocks = 0; // that the host has
	BlockRanges present;      // of these, those that are stored
};

struct FetchedTrace {
	using Window = std::pair<std::uint64_t, std::uint64_t>; // ns since 1970, by the host's clock; all: 0, ~0

	std::string request;         // nonce of the last command that was obeyed; "": none was
	bool has_ended = false;      // the recording had when it was written
	std::vector<Window> windows; // that were asked for
	std::map<std::string, FetchedStream> streams;

	std::uint64_t blocks() const;
	std::uint64_t blocks_present() const;
	bool is_whole() const { return has_ended && blocks_present() == blocks(); }

	std::string text() const;
	static std::optional<FetchedTrace> parse(const std::string &untrusted_text);
};

// "2026-11-26 14:05:01.250 to 14:05:02.000 UTC", or "all of it".
std::string window_text(const FetchedTrace::Window &window);

} // namespace monitor
