// SPDX-License-Identifier: MIT
// .monitor/fetched.json: which parts of a trace are here, if its host sends only what is requested (`fleet record
// --forward on-demand`, `fleet fetch`).
//
// The host sends it after the blocks that it lists, so it never lists blocks that are not stored. Readers do not report
// other missing blocks as damage. The file is untrusted and bounded.
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

	std::string request;         // nonce of the last executed command; "": none
	bool has_ended = false;      // the recording had ended when this was written
	std::vector<Window> windows; // that were requested
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
