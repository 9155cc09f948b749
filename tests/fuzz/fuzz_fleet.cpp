// SPDX-License-Identifier: MIT
// Whatever a host or a collector may send. The input is a message of each kind as it is, and what is changed in a good
// one: XORed onto its start, so that no input is far from what is accepted. What is accepted stays within its bounds
// and its directory.
#include <cstdlib>
#include <cstring>

#include "base/fetched_trace.h"
#include "fleet/wire/batch.h"
#include "fleet/wire/clock_message.h"
#include "fleet/wire/names.h"
#include "monitor/ring.h"

using namespace monitor::fleet;

namespace {

using Bytes = std::vector<std::byte>;

void expect(bool holds)
{
	if (!holds)
		std::abort();
}

void expect_component(const std::string &name)
{
	expect(name.find('/') == std::string::npos && name.find('\0') == std::string::npos && name != ".." &&
	       name != ".");
}

void look_at_batch(std::span<const std::byte> bytes)
{
	std::string why;
	Batch batch;
	if (!decode_batch(bytes, batch, why))
		return expect(!why.empty());
	expect_component(batch.stream);
	expect_component(batch.trace.part);
	expect_component(batch.trace.run);
	expect(!batch.blocks.empty() && batch.blocks.size() <= max_content_bytes &&
	       batch.blocks.size() % block_bytes == 0 &&
	       batch.first_block + batch.blocks.size() / block_bytes <= max_stream_blocks);
	Bytes again;
	const auto content = encode_batch(batch, batch.blocks.size(), again);
	std::copy(batch.blocks.begin(), batch.blocks.end(), content.begin());
	Batch decoded;
	expect(decode_batch(again, decoded, why) && decoded.trace == batch.trace && decoded.stream == batch.stream &&
	       decoded.first_block == batch.first_block);
}

void look_at_piece(std::span<const std::byte> bytes)
{
	std::string why;
	Piece piece;
	if (!decode_piece(bytes, piece, why))
		return expect(!why.empty());
	expect(is_description_name(piece.file) && piece.file.find("..") != 0 &&
	       piece.file_bytes <= monitor::max_description_file_bytes && piece.offset <= piece.file_bytes &&
	       piece.bytes.size() <= piece.file_bytes - piece.offset);
}

void look_at_answers(std::span<const std::byte> bytes)
{
	std::string why;
	Answer answer;
	if (decode_answer(bytes, answer, why))
		expect(encode_answer(answer).size() == bytes.size());
	ClockAnswer clock;
	if (decode_clock_answer(bytes, clock, why))
		expect(clock.t2 <= clock.t3);
	ClockQuestion question;
	if (decode_clock_question(bytes, question, why) && question.has_last)
		expect(question.last.t1 <= question.last.t4 && question.last.t2 <= question.last.t3);
	if (const auto number = decode_clock_relay(bytes))
		expect(decode_clock_relay(encode_clock_relay(*number)) == number);
	if (const auto receipt = decode_clock_receipt(bytes)) {
		const auto again = decode_clock_receipt(encode_clock_receipt(*receipt));
		expect(again && again->number == receipt->number && again->received == receipt->received);
	}
}

// The description of a copy of which a part was fetched; any text.
void look_at_fetched(const std::string &text)
{
	const auto fetched = monitor::FetchedTrace::parse(text);
	if (!fetched)
		return;
	expect(fetched->blocks_present() <= fetched->blocks());
	const auto again = monitor::FetchedTrace::parse(fetched->text());
	expect(again && again->text() == fetched->text());
	for (const auto &window : fetched->windows)
		expect(window.first <= window.second && !monitor::window_text(window).empty());
}

Bytes good_batch()
{
	Bytes message;
	edc_block block{};
	block.magic = EDC_BLOCK_MAGIC;
	block.content_size = block.packet_size = block_bytes * 8;
	std::memcpy(encode_batch({1, {"run", {}, "part"}, "kernel_cpu0", 5, {}}, block_bytes, message).data(), &block,
		    sizeof block);
	return message;
}

Bytes good_piece()
{
	Bytes message;
	encode_piece({1, {"run", {}, ""}, ".monitor/names", 2, 1000, 100, {}}, 100, message);
	return message;
}

Bytes changed(Bytes message, const unsigned char *data, std::size_t size)
{
	for (std::size_t i = 0; i < std::min(size, message.size()); ++i)
		message[i] ^= std::byte{data[i]};
	return message;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const auto bytes = std::as_bytes(std::span(data, size));
	look_at_batch(bytes);
	look_at_piece(bytes);
	look_at_answers(bytes);
	look_at_batch(changed(good_batch(), data, size));
	look_at_piece(changed(good_piece(), data, size));
	look_at_answers(changed(encode_answer({Status::later, 1, 2, 3, "why"}), data, size));
	look_at_answers(changed(encode_clock_answer({1, 2, 3}), data, size));
	look_at_answers(changed(encode_clock_relay(7), data, size));
	look_at_answers(changed(encode_clock_receipt({{true, 1'000'000'000, {}}, 7, 9}), data, size));
	look_at_answers(changed(encode_clock_question({{true, 1'000'000'000, {}}, 9, true, {1, 2, 3, 4}}), data, size));
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	look_at_fetched(std::string(text));
	look_at_fetched(R"({"version":1,"request":"n","windows":[[1,2]],"streams":{"a":{"blocks":9,"here":[[1,3])" +
			std::string(text));
	if (const auto subject = parse_subject(text))
		expect((subject_of(subject->kind, subject->host) == text ||
			stored_subject_of(subject->kind, subject->host) == text) &&
		       is_host_name(subject->host));
	if (const auto shard = parse_shard(text))
		expect(shard->number < shard->count && shard_text(*shard).size() <= text.size());
	return 0;
}
