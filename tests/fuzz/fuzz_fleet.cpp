// SPDX-License-Identifier: MIT
// Whatever a host or a collector may send: the input is one message of each kind. What is accepted stays within its
// bounds and its directory.
#include <cstdlib>

#include "base/fleet/batch.h"
#include "base/fleet/clock_message.h"
#include "base/fleet/names.h"

using namespace monitor::fleet;

namespace {

void expect_component(const std::string &name)
{
	if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name == ".." || name == ".")
		std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const auto bytes = std::as_bytes(std::span(data, size));
	std::string why;
	Batch batch;
	if (decode_batch(bytes, batch, why)) {
		expect_component(batch.stream);
		expect_component(batch.trace.part);
		expect_component(batch.trace.run);
		if (batch.blocks.empty() || batch.blocks.size() > max_content_bytes ||
		    batch.blocks.size() % block_bytes ||
		    batch.first_block + batch.blocks.size() / block_bytes > max_stream_blocks)
			std::abort();
		std::vector<std::byte> again;
		const auto content = encode_batch(batch, batch.blocks.size(), again);
		std::copy(batch.blocks.begin(), batch.blocks.end(), content.begin());
		Batch decoded;
		if (!decode_batch(again, decoded, why) || decoded.trace != batch.trace ||
		    decoded.stream != batch.stream)
			std::abort();
	}
	Piece piece;
	if (decode_piece(bytes, piece, why) &&
	    (!is_description_name(piece.file) || piece.offset + piece.bytes.size() > piece.file_bytes ||
	     piece.file_bytes > max_description_file_bytes))
		std::abort();
	Answer answer;
	decode_answer(bytes, answer, why);
	ClockQuestion question;
	decode_clock_question(bytes, question, why);
	ClockAnswer clock;
	decode_clock_answer(bytes, clock, why);
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	if (const auto subject = parse_subject(text); subject && subject_of(subject->kind, subject->host) != text)
		std::abort();
	return 0;
}
