// SPDX-License-Identifier: MIT
// The messages of the data path: fleet/wire/batch.
#include <cstring>
#include <functional>

#include <catch2/catch.hpp>

#include "fleet/wire/batch.h"
#include "fleet/wire/clock_message.h"
#include "fleet_blocks.h"

using namespace monitor;
using namespace monitor::fleet;

namespace {

Batch batch_of(unsigned count, std::vector<std::byte> &message)
{
	Batch batch;
	batch.session = 77;
	batch.trace = {"run", fleet_test::uuid_of(3), "snapshot-1"};
	batch.stream = "kernel_cpu0";
	batch.first_block = 5;
	const auto content = encode_batch(batch, count * block_bytes, message);
	for (unsigned i = 0; i < count; ++i)
		fleet_test::fill_block(content.subspan(i * block_bytes, block_bytes), batch.trace.uuid, 2, 5 + i);
	return batch;
}

bool is_batch(const std::vector<std::byte> &message)
{
	Batch batch;
	std::string why;
	const bool is = decode_batch(message, batch, why);
	CHECK(is == why.empty());
	return is;
}

// What decode_batch() says after a change of one field.
bool is_batch_with(const std::function<void(Batch &)> &change)
{
	std::vector<std::byte> message, changed;
	Batch batch = batch_of(1, message);
	change(batch);
	const auto content = encode_batch(batch, block_bytes, changed);
	std::memcpy(content.data(), message.data() + message.size() - block_bytes, block_bytes);
	return is_batch(changed);
}

} // namespace

TEST_CASE("fleet batch: what is encoded is decoded")
{
	std::vector<std::byte> message;
	const Batch sent = batch_of(64, message);
	CHECK(message.size() <= max_message_bytes);
	Batch batch;
	std::string why;
	REQUIRE(decode_batch(message, batch, why));
	CHECK(batch.session == sent.session);
	CHECK(batch.trace == sent.trace);
	CHECK(batch.stream == sent.stream);
	CHECK(batch.first_block == 5);
	CHECK(batch.blocks.size() == 64 * block_bytes);
	CHECK(batch.blocks.data() + batch.blocks.size() == message.data() + message.size());
}

TEST_CASE("fleet batch: whatever is cut off or added is refused")
{
	std::vector<std::byte> message;
	batch_of(2, message);
	for (const std::size_t size : {std::size_t(0), std::size_t(1), std::size_t(63), std::size_t(64),
				       std::size_t(100), message.size() - block_bytes, message.size() - 1})
		CHECK_FALSE(is_batch({message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size)}));
	message.push_back(std::byte{0});
	CHECK_FALSE(is_batch(message));
	message.resize(max_message_bytes + 1);
	CHECK_FALSE(is_batch(message));
}

TEST_CASE("fleet batch: no byte of a header is trusted")
{
	std::vector<std::byte> message;
	batch_of(1, message);
	for (std::size_t at = 0; at < message.size() - block_bytes; ++at)
		for (const unsigned value : {0u, 1u, 0x2fu, 0x80u, 0xffu}) {
			std::vector<std::byte> changed = message;
			changed[at] = std::byte(value);
			Batch batch;
			std::string why;
			if (decode_batch(changed, batch, why)) {
				CHECK(is_stream_name(batch.stream));
				CHECK(batch.first_block < max_stream_blocks);
				CHECK(batch.trace.part.find('/') == std::string::npos);
				CHECK(batch.trace.run.find('/') == std::string::npos);
			}
		}
}

TEST_CASE("fleet batch: names are components of a path")
{
	CHECK(is_batch_with([](Batch &batch) { batch.stream = "user_12_card1_cpu0"; }));
	CHECK(is_batch_with([](Batch &batch) { batch.stream = "statistics_20261126-120000"; }));
	CHECK(is_batch_with([](Batch &batch) { batch.trace.run = ""; }));
	for (const char *name : {"", ".", "..", "../x", "a/b", ".monitor", "metadata", "a b", "a\n"})
		CHECK_FALSE(is_batch_with([&](Batch &batch) { batch.stream = name; }));
	CHECK_FALSE(is_batch_with([](Batch &batch) { batch.stream = std::string(max_file_name + 1, 'a'); }));
	for (const char *name : {".", "..", "../x", "a/b", ".monitor", "metadata"})
		CHECK_FALSE(is_batch_with([&](Batch &batch) { batch.trace.part = name; }));
	CHECK_FALSE(is_batch_with([](Batch &batch) { batch.trace.run = ".."; }));
	CHECK_FALSE(is_batch_with([](Batch &batch) { batch.first_block = max_stream_blocks; }));
	CHECK_FALSE(is_batch_with([](Batch &batch) { batch.first_block = ~0ull; }));
	CHECK_FALSE(is_batch_with([](Batch &batch) { batch.trace.uuid[0] ^= 1; })); // of another trace
	CHECK(is_description_name("metadata"));
	CHECK(is_description_name(".monitor/recording.json"));
	for (const char *name :
	     {"", "kernel_cpu0", ".monitor", ".monitor/", ".monitor/.x", ".monitor/../x", ".monitor/a/b"})
		CHECK_FALSE(is_description_name(name));
}

TEST_CASE("fleet batch: a piece is a part of its file")
{
	const auto accepted = [](std::uint64_t file_bytes, std::uint64_t offset, std::size_t bytes) {
		Piece piece;
		piece.file = "metadata";
		piece.file_bytes = file_bytes;
		piece.offset = offset;
		std::vector<std::byte> message;
		encode_piece(piece, bytes, message);
		Piece decoded;
		std::string why;
		return decode_piece(message, decoded, why);
	};
	CHECK(accepted(100, 0, 100));
	CHECK(accepted(100, 90, 10));
	CHECK(accepted(0, 0, 0));
	CHECK_FALSE(accepted(100, 90, 11));
	CHECK_FALSE(accepted(100, 101, 1));
	CHECK_FALSE(accepted(100, ~0ull, 1));
	CHECK_FALSE(accepted(100, 50, 0));
	CHECK_FALSE(accepted(max_description_file_bytes + 1, 0, 10));
	CHECK(accepted(max_description_file_bytes, 0, max_content_bytes));
}

TEST_CASE("fleet batch: an answer that is encoded is decoded")
{
	Answer answer;
	std::string why;
	for (const Status status : {Status::stored, Status::later, Status::replaced}) {
		const auto bytes = encode_answer({status, 3, 99, 5, "the disk is full"});
		REQUIRE(decode_answer(bytes, answer, why));
		CHECK(answer.status == status);
		CHECK(answer.conflicts == 3);
		CHECK(answer.store == 99);
		CHECK(answer.instance == 5);
		CHECK(answer.why == "the disk is full");
	}
	auto bytes = encode_answer({Status::stored, 0, 0, 0, std::string(1000, 'x')});
	REQUIRE(decode_answer(bytes, answer, why));
	CHECK(answer.why.size() == 400);
	bytes.pop_back();
	CHECK_FALSE(decode_answer(bytes, answer, why));
	CHECK_FALSE(decode_answer({}, answer, why));
	CHECK_FALSE(decode_answer(encode_answer({static_cast<Status>(8), 0, 0, 0, ""}), answer, why));
	CHECK_FALSE(decode_answer(encode_answer({static_cast<Status>(0), 0, 0, 0, ""}), answer, why));
}

TEST_CASE("fleet batch: uuids as text")
{
	Uuid uuid;
	REQUIRE(parse_uuid("e53c4c3f-0000-11ee-8123-0123456789ab", uuid));
	CHECK(uuid_digits(uuid) == "e53c4c3f000011ee81230123456789ab");
	for (const char *text : {"", "e53c4c3f-0000-11ee-8123-0123456789a", "e53c4c3f-0000-11ee-8123-0123456789abc",
				 "g53c4c3f-0000-11ee-8123-0123456789ab"})
		CHECK_FALSE(parse_uuid(text, uuid));
}

TEST_CASE("fleet clock: questions and answers")
{
	ClockQuestion question, decoded;
	question.clock = {true, 2'400'000'000, fleet_test::uuid_of(1)};
	question.t1 = 1000;
	question.has_last = true;
	question.last = {900, 5, 6, 950};
	std::string why;
	REQUIRE(decode_clock_question(encode_clock_question(question), decoded, why));
	CHECK(decoded.clock.boot == question.clock.boot);
	CHECK(decoded.t1 == 1000);
	CHECK(decoded.last.t4 == 950);
	for (const ClockTimes last :
	     {ClockTimes{951, 5, 6, 950}, ClockTimes{900, 7, 6, 950}, ClockTimes{900, 5, 6, 1001}}) {
		question.last = last;
		CHECK_FALSE(decode_clock_question(encode_clock_question(question), decoded, why));
	}
	question.has_last = false;
	CHECK(decode_clock_question(encode_clock_question(question), decoded, why));
	question.clock.frequency_hz = 0;
	CHECK_FALSE(decode_clock_question(encode_clock_question(question), decoded, why));
	ClockAnswer answer;
	REQUIRE(decode_clock_answer(encode_clock_answer({1, 2, 3}), answer, why));
	CHECK(answer.t3 == 3);
	CHECK_FALSE(decode_clock_answer(encode_clock_answer({1, 4, 3}), answer, why));
	CHECK_FALSE(decode_clock_answer({}, answer, why));
}
