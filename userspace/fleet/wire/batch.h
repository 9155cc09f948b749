// SPDX-License-Identifier: MIT
// The binary messages of the data path: a batch of whole blocks, a piece of a description, and the answer to either.
//
// A message is a header of fixed little-endian fields, three texts, padding to 8 bytes, then the content. Received
// bytes are untrusted: decode_*() accepts a message only if every length fits and every name is one component of a
// path; the views then point into it. Invariant: the blocks are the file's bytes from first_block x 4096 on, unchanged.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "base/limits.h"

namespace monitor::fleet {

inline constexpr std::size_t block_bytes = 4096;
inline constexpr std::size_t max_content_bytes = 256 << 10;                // of one message
inline constexpr std::size_t max_message_bytes = max_content_bytes + 1024; // with its header
inline constexpr std::uint64_t max_stream_blocks = 1ull << 28;             // of one file: 1 TiB
inline constexpr std::size_t max_file_name = 128;

// The trace that blocks belong to. The host is in the subject, which the server checks.
struct TraceName {
	std::string run;
	Uuid uuid{};
	std::string part; // the subdirectory, such as that of a snapshot of a flight recorder; "": none

	auto operator<=>(const TraceName &) const = default;
};

// Of a stream in the trace's directory: does not start with '.', is not `metadata`.
bool is_stream_name(std::string_view untrusted_name);
// `metadata`, or `.monitor/` and a name.
bool is_description_name(std::string_view untrusted_name);

struct Batch {
	std::uint64_t session = 0; // of the agent: another one after each start
	TraceName trace;
	std::string stream;
	std::uint64_t first_block = 0;
	std::span<const std::byte> blocks; // whole ones, 1 to 64
};

// A file is replaced as a whole, when its last piece has arrived.
struct Piece {
	std::uint64_t session = 0;
	TraceName trace;
	std::string file;
	std::uint64_t hash = 0; // of the whole content (content_hash())
	std::uint64_t file_bytes = 0, offset = 0;
	std::span<const std::byte> bytes; // empty only if the file is
};

enum class Status : std::uint16_t {
	stored = 1,      // it is on the disk; of a piece: the whole file is
	taken = 2,       // a piece: send the next one
	start_again = 3, // a piece out of order: send from offset 0
	later = 4,       // send again later, as when the disk is full
	invalid = 5,     // malformed, or not permitted
	replaced = 6,    // another live session of this host sends
	not_mine = 7,    // the run is not this collector's; another one may take it
};

struct Answer {
	Status status = Status::stored;
	std::uint32_t conflicts = 0; // blocks that differ from stored ones; kept aside
	std::uint64_t store = 0;     // identifies the collector's directory
	std::uint64_t instance = 0;  // identifies the collector's process, which has received nothing sent before
	std::string why;             // a sentence, for all but the first two
};

// Returns the space for `content_bytes` at the end of `out`, which the caller fills.
std::span<std::byte> encode_batch(const Batch &batch, std::size_t content_bytes, std::vector<std::byte> &out);
std::span<std::byte> encode_piece(const Piece &piece, std::size_t content_bytes, std::vector<std::byte> &out);
std::vector<std::byte> encode_answer(const Answer &answer);

// A batch or a piece from a later version of monitor: it may be stored once this one is upgraded.
bool is_of_later_version(std::span<const std::byte> untrusted);
// False, and why, for anything that is not such a message. Views point into `untrusted`.
bool decode_batch(std::span<const std::byte> untrusted, Batch &batch, std::string &why);
bool decode_piece(std::span<const std::byte> untrusted, Piece &piece, std::string &why);
bool decode_answer(std::span<const std::byte> untrusted, Answer &answer, std::string &why);

// 64-bit FNV-1a: detects a file that changed between two pieces, not forgery. `before`: the hash of the preceding
// bytes.
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325u;
std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t before = hash_of_nothing);

} // namespace monitor::fleet
