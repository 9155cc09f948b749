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
inline constexpr std::size_t max_message_bytes = max_content_bytes + 1024; // including the header
inline constexpr std::uint64_t max_stream_blocks = 1ull << 28;             // of one file: 1 TiB
inline constexpr std::size_t max_file_name = 128;

// The trace that blocks belong to. The host is in the subject, which the server checks.
struct TraceName {
	std::string run;
	Uuid uuid{};
	std::string part; // subdirectory, such as a flight recorder's snapshot; "": none

	auto operator<=>(const TraceName &) const = default;
};

// A stream's file name: does not start with '.', is not `metadata`.
bool is_stream_name(std::string_view untrusted_name);
// `metadata`, or `.monitor/` and a name.
bool is_description_name(std::string_view untrusted_name);

struct Batch {
	std::uint64_t session = 0; // of the agent: different after each start
	TraceName trace;
	std::string stream;
	std::uint64_t first_block = 0;
	std::span<const std::byte> blocks; // 1 to 64 whole blocks
};

// A file is replaced as a whole, when its last piece has arrived.
struct Piece {
	std::uint64_t session = 0;
	TraceName trace;
	std::string file;
	std::uint64_t hash = 0; // content_hash() of the whole file
	std::uint64_t file_bytes = 0, offset = 0;
	std::span<const std::byte> bytes; // empty only for an empty file
};

enum class Status : std::uint16_t {
	stored = 1,      // on the disk; for a piece: the whole file is
	taken = 2,       // for a piece: send the next one
	start_again = 3, // a piece is out of order: send from offset 0
	later = 4,       // send again later, as when the disk is full
	invalid = 5,     // malformed, or not permitted
	replaced = 6,    // another session of this host is live
	not_mine = 7,    // another run than this collector's; another collector may take it
};

struct Answer {
	Status status = Status::stored;
	std::uint32_t conflicts = 0; // number of blocks that differ from stored ones, and were kept aside
	std::uint64_t store = 0;     // id of the collector's directory
	std::uint64_t instance = 0;  // id of the collector's process, which has received nothing sent before
	std::string why;             // reason, for all but the first two
};

// Returns the space for `content_bytes` at the end of `out`, to be filled by the caller.
std::span<std::byte> encode_batch(const Batch &batch, std::size_t content_bytes, std::vector<std::byte> &out);
std::span<std::byte> encode_piece(const Piece &piece, std::size_t content_bytes, std::vector<std::byte> &out);
std::vector<std::byte> encode_answer(const Answer &answer);

// A batch or a piece from a later version of monitor: it may be stored once this collector is upgraded.
bool is_of_later_version(std::span<const std::byte> untrusted);
// False: not such a message; sets `why`. Views point into `untrusted`.
bool decode_batch(std::span<const std::byte> untrusted, Batch &batch, std::string &why);
bool decode_piece(std::span<const std::byte> untrusted, Piece &piece, std::string &why);
bool decode_answer(std::span<const std::byte> untrusted, Answer &answer, std::string &why);

// 64-bit FNV-1a: detects that a file changed between two pieces, not forgery. `before`: the hash of the preceding
// bytes.
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325u;
std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t before = hash_of_nothing);

} // namespace monitor::fleet
