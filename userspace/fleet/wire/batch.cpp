// SPDX-License-Identifier: MIT
#include "batch.h"

#include <algorithm>
#include <cstring>

#include "monitor/ring.h"
#include "names.h"

namespace monitor::fleet {
namespace {

constexpr std::uint32_t batch_magic = 0x3142464d, piece_magic = 0x3146464d,
			answer_magic = 0x3141464d; // MFB1, MFF1, MFA1
constexpr std::uint16_t message_version = 1;

// The header on the wire: little endian, as the blocks are.
struct WireHeader {
	std::uint32_t magic;
	std::uint16_t version;
	std::uint16_t header_bytes; // offset of the content: a later version may have more fields and texts
	std::uint64_t session;
	std::uint8_t uuid[16];
	std::uint64_t position;         // batch: the first block; piece: the offset in bytes
	std::uint64_t hash, file_bytes; // piece
	std::uint32_t content_bytes;
	std::uint8_t run_chars, part_chars, name_chars, pad;
};
static_assert(sizeof(WireHeader) == 64);

struct WireAnswer {
	std::uint32_t magic;
	std::uint16_t version;
	std::uint16_t status;
	std::uint32_t conflicts;
	std::uint32_t why_chars;
	std::uint64_t store, instance;
};
static_assert(sizeof(WireAnswer) == 32);

constexpr std::size_t max_why = 400;

bool refused(std::string &why, const char *sentence)
{
	why = sentence;
	return false;
}

bool is_file_name(std::string_view name)
{
	return !name.empty() && name.size() <= max_file_name && name[0] != '.' && has_only(name, "._-+:");
}

std::span<std::byte> encode(WireHeader header, const TraceName &trace, const std::string &name,
			    std::size_t content_bytes, std::vector<std::byte> &out)
{
	const std::size_t texts = trace.run.size() + trace.part.size() + name.size();
	const std::size_t header_bytes = (sizeof header + texts + 7) / 8 * 8;
	header.version = message_version;
	header.header_bytes = static_cast<std::uint16_t>(header_bytes);
	std::ranges::copy(trace.uuid, header.uuid);
	header.content_bytes = static_cast<std::uint32_t>(content_bytes);
	header.run_chars = static_cast<std::uint8_t>(trace.run.size());
	header.part_chars = static_cast<std::uint8_t>(trace.part.size());
	header.name_chars = static_cast<std::uint8_t>(name.size());
	out.resize(header_bytes + content_bytes);
	std::memset(out.data(), 0, header_bytes);
	std::memcpy(out.data(), &header, sizeof header);
	std::byte *to = out.data() + sizeof header;
	for (const std::string *text : {&trace.run, &trace.part, &name})
		to = std::copy_n(reinterpret_cast<const std::byte *>(text->data()), text->size(), to);
	return std::span(out).subspan(header_bytes);
}

// The common part of both messages.
bool decode(std::span<const std::byte> untrusted, std::uint32_t magic, WireHeader &header, TraceName &trace,
	    std::string &name, std::span<const std::byte> &content, std::string &why)
{
	if (untrusted.size() < sizeof header || untrusted.size() > max_message_bytes)
		return refused(why, "its size is not that of such a message");
	std::memcpy(&header, untrusted.data(), sizeof header);
	if (header.magic != magic || header.version != message_version)
		return refused(why, header.magic != magic ? "it is not such a message"
				    : header.version > message_version
					? "it is of a later version of monitor: upgrade the collector"
					: "it is of a version of monitor that is not known here");
	const std::size_t texts = std::size_t(header.run_chars) + header.part_chars + header.name_chars;
	if (header.header_bytes < sizeof header + texts || header.content_bytes > max_content_bytes ||
	    std::size_t(header.header_bytes) + header.content_bytes != untrusted.size())
		return refused(why, "its lengths do not fit");
	const char *text = reinterpret_cast<const char *>(untrusted.data()) + sizeof header;
	trace.run.assign(text, header.run_chars);
	trace.part.assign(text += header.run_chars, header.part_chars);
	name.assign(text + header.part_chars, header.name_chars);
	std::ranges::copy(header.uuid, trace.uuid.begin());
	content = untrusted.subspan(header.header_bytes);
	if ((!trace.run.empty() && !is_run_name(trace.run)) ||
	    (!trace.part.empty() && (!is_file_name(trace.part) || trace.part == "metadata")))
		return refused(why, "the name of its run or of its directory is none");
	return true;
}

// Whether these are whole blocks of this trace, all of one stream.
bool are_blocks_of(const Uuid &uuid, std::span<const std::byte> bytes)
{
	edc_block first, block;
	std::memcpy(&first, bytes.data(), sizeof first);
	for (std::size_t at = 0; at < bytes.size(); at += block_bytes) {
		std::memcpy(&block, bytes.data() + at, sizeof block);
		if (block.magic != EDC_BLOCK_MAGIC || std::memcmp(block.uuid, uuid.data(), uuid.size()) != 0 ||
		    block.packet_size != block_bytes * 8 || block.content_size > block_bytes * 8 ||
		    block.content_size < EDC_BLOCK_HEADER * 8 || block.stream_instance_id != first.stream_instance_id)
			return false;
	}
	return true;
}

} // namespace

static_assert(block_bytes == EDC_BLOCK_SIZE);

bool is_stream_name(std::string_view untrusted_name)
{
	return is_file_name(untrusted_name) && untrusted_name != "metadata";
}

bool is_description_name(std::string_view untrusted_name)
{
	constexpr std::string_view own = ".monitor/";
	return untrusted_name == "metadata" ||
	       (untrusted_name.starts_with(own) && is_file_name(untrusted_name.substr(own.size())));
}

std::span<std::byte> encode_batch(const Batch &batch, std::size_t content_bytes, std::vector<std::byte> &out)
{
	WireHeader header{};
	header.magic = batch_magic;
	header.session = batch.session;
	header.position = batch.first_block;
	return encode(header, batch.trace, batch.stream, content_bytes, out);
}

std::span<std::byte> encode_piece(const Piece &piece, std::size_t content_bytes, std::vector<std::byte> &out)
{
	WireHeader header{};
	header.magic = piece_magic;
	header.session = piece.session;
	header.position = piece.offset;
	header.hash = piece.hash;
	header.file_bytes = piece.file_bytes;
	return encode(header, piece.trace, piece.file, content_bytes, out);
}

bool is_of_later_version(std::span<const std::byte> untrusted)
{
	WireHeader header;
	if (untrusted.size() < sizeof header)
		return false;
	std::memcpy(&header, untrusted.data(), sizeof header);
	return (header.magic == batch_magic || header.magic == piece_magic) && header.version > message_version;
}

bool decode_batch(std::span<const std::byte> untrusted, Batch &batch, std::string &why)
{
	WireHeader header;
	if (!decode(untrusted, batch_magic, header, batch.trace, batch.stream, batch.blocks, why))
		return false;
	batch.session = header.session;
	batch.first_block = header.position;
	if (!is_stream_name(batch.stream))
		return refused(why, "the name of its stream is none");
	const std::size_t count = batch.blocks.size() / block_bytes;
	if (count == 0 || batch.blocks.size() % block_bytes || header.position > max_stream_blocks - count)
		return refused(why, "it has no whole blocks, or they are beyond every stream");
	if (!are_blocks_of(batch.trace.uuid, batch.blocks))
		return refused(why, "its blocks are not those of one stream of its trace");
	return true;
}

bool decode_piece(std::span<const std::byte> untrusted, Piece &piece, std::string &why)
{
	WireHeader header;
	if (!decode(untrusted, piece_magic, header, piece.trace, piece.file, piece.bytes, why))
		return false;
	piece.session = header.session;
	piece.hash = header.hash;
	piece.file_bytes = header.file_bytes;
	piece.offset = header.position;
	if (!is_description_name(piece.file))
		return refused(why, "the name of its file is none of a description");
	if (piece.file_bytes > max_description_file_bytes || piece.offset > piece.file_bytes ||
	    piece.bytes.size() > piece.file_bytes - piece.offset || (piece.bytes.empty() && piece.file_bytes))
		return refused(why, "it is not a part of its file, or the file is too large");
	return true;
}

std::vector<std::byte> encode_answer(const Answer &answer)
{
	WireAnswer wire{};
	wire.magic = answer_magic;
	wire.version = message_version;
	wire.status = static_cast<std::uint16_t>(answer.status);
	wire.conflicts = answer.conflicts;
	wire.why_chars = static_cast<std::uint32_t>(std::min(answer.why.size(), max_why));
	wire.store = answer.store;
	wire.instance = answer.instance;
	std::vector<std::byte> bytes(sizeof wire + wire.why_chars);
	std::memcpy(bytes.data(), &wire, sizeof wire);
	std::memcpy(bytes.data() + sizeof wire, answer.why.data(), wire.why_chars);
	return bytes;
}

bool decode_answer(std::span<const std::byte> untrusted, Answer &answer, std::string &why)
{
	WireAnswer wire;
	if (untrusted.size() < sizeof wire || untrusted.size() > sizeof wire + max_why)
		return refused(why, "its size is not that of an answer");
	std::memcpy(&wire, untrusted.data(), sizeof wire);
	if (wire.magic != answer_magic || wire.version != message_version ||
	    wire.why_chars != untrusted.size() - sizeof wire ||
	    wire.status < static_cast<std::uint16_t>(Status::stored) ||
	    wire.status > static_cast<std::uint16_t>(Status::not_mine))
		return refused(why, "it is not an answer of this version");
	answer.status = static_cast<Status>(wire.status);
	answer.conflicts = wire.conflicts;
	answer.store = wire.store;
	answer.instance = wire.instance;
	answer.why.assign(reinterpret_cast<const char *>(untrusted.data()) + sizeof wire, wire.why_chars);
	return true;
}

std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t before)
{
	std::uint64_t hash = before;
	for (const std::byte byte : bytes)
		hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
	return hash;
}

} // namespace monitor::fleet
