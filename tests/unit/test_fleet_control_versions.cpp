// SPDX-License-Identifier: MIT
// A fleet while one side of it is upgraded: what each message does at a part of an older version.
// Documentation/fleet.md has the rules.
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "fleet/collector/collector.h"
#include "fleet/operator/fleet_tables.h"
#include "fleet/wire/clock_message.h"
#include "fleet/wire/control.h"
#include "fleet/wire/reports.h"
#include "fleet_blocks.h"

using namespace monitor;
using namespace monitor::fleet;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t version_at = 4, header_bytes_at = 6; // in the binary messages

std::vector<std::byte> versioned_batch(std::uint16_t version)
{
	std::vector<std::byte> message;
	const Batch batch{1, {"r", fleet_test::uuid_of(1), ""}, "kernel_cpu0", 0, {}};
	fleet_test::fill_block(encode_batch(batch, block_bytes, message), batch.trace.uuid, 1, 0);
	std::memcpy(message.data() + version_at, &version, sizeof version);
	return message;
}

std::vector<std::byte> versioned_piece(std::uint16_t version)
{
	std::vector<std::byte> message;
	const Piece piece{1, {"r", fleet_test::uuid_of(1), ""}, "metadata", content_hash({}), 0, 0, {}};
	encode_piece(piece, 0, message);
	std::memcpy(message.data() + version_at, &version, sizeof version);
	return message;
}

// One more field of the header, and what follows it.
std::vector<std::byte> with_more_header(std::vector<std::byte> message)
{
	std::uint16_t header_bytes = 0;
	std::memcpy(&header_bytes, message.data() + header_bytes_at, sizeof header_bytes);
	message.insert(message.begin() + header_bytes, 8, std::byte{0x77});
	header_bytes = static_cast<std::uint16_t>(header_bytes + 8);
	std::memcpy(message.data() + header_bytes_at, &header_bytes, sizeof header_bytes);
	return message;
}

class OldCollector {
public:
	OldCollector()
	{
		std::string name = (fs::temp_directory_path() / "fleet-versions-XXXXXX").string();
		REQUIRE(::mkdtemp(name.data()));
		path_ = name;
		collector_ = std::make_unique<Collector>(
		    path_ + "/run", "",
		    [this](const std::string &, const Answer &answer) {
			    const std::lock_guard lock(mutex_);
			    answer_ = answer;
			    came_.notify_all();
		    },
		    [this](const std::string &sentence) { said += sentence + '\n'; });
	}
	~OldCollector()
	{
		collector_.reset();
		fs::remove_all(path_);
	}

	Answer batch(const std::vector<std::byte> &message) { return ask(&Collector::batch, message); }
	Answer piece(const std::vector<std::byte> &message) { return ask(&Collector::piece, message); }
	bool has(const std::string &file) const { return fs::exists(path_ + "/run/h/" + file); }

	std::string said;

private:
	Answer ask(void (Collector::*take)(const std::string &, std::span<const std::byte>, const std::string &),
		   const std::vector<std::byte> &message)
	{
		((*collector_).*take)("h", message, "reply");
		std::unique_lock lock(mutex_);
		REQUIRE(came_.wait_for(lock, std::chrono::seconds(10), [&] { return answer_.has_value(); }));
		return *std::exchange(answer_, {});
	}

	std::string path_;
	std::mutex mutex_;
	std::condition_variable came_;
	std::optional<Answer> answer_;
	std::unique_ptr<Collector> collector_;
};

nlohmann::json command_text(unsigned version)
{
	return {{"version", version}, {"kind", "record"},     {"hosts", {"h1"}},
		{"run", "r"},         {"issued_ns", 1000},    {"nonce", std::string(32, 'a')},
		{"expires_ns", 2000}, {"a_later_field", {1}}, {"options", nlohmann::json::object()}};
}

CheckedControl check_text_of(const SigningKey &key, const nlohmann::json &text, const char *host = "h1")
{
	const std::string bytes = text.dump();
	const nlohmann::json envelope = {
	    {"message", bytes}, {"signature", to_base64(key.sign(bytes))}, {"a_later_field", 1}};
	return check_control(envelope.dump(), key.public_key(), host, 1500);
}

} // namespace

TEST_CASE("fleet versions: what a later agent sends waits until the collector is upgraded")
{
	OldCollector old;
	for (const auto &answer : {old.batch(versioned_batch(2)), old.piece(versioned_piece(2))}) {
		CHECK(answer.status == Status::later);
		CHECK(answer.why == "it is of a later version of monitor: upgrade the collector");
	}
	CHECK_FALSE(old.has("kernel_cpu0"));
	CHECK_THAT(old.said, Contains("h: waits: it is of a later version of monitor: upgrade the collector"));
	for (const auto &answer : {old.batch(versioned_batch(0)), old.piece(versioned_piece(0))}) {
		CHECK(answer.status == Status::invalid);
		CHECK_THAT(answer.why, Contains("version of monitor that is not known here"));
	}
	CHECK(old.batch(versioned_batch(1)).status == Status::stored);
	CHECK(old.piece(versioned_piece(1)).status == Status::stored);
}

TEST_CASE("fleet versions: what is no message does not wait, whatever version it bears")
{
	OldCollector old;
	std::vector<std::byte> bytes = versioned_batch(2);
	bytes[0] = std::byte{0};
	CHECK(old.batch(bytes).status == Status::invalid);
	CHECK(old.batch({bytes.begin(), bytes.begin() + 20}).status == Status::invalid);
	CHECK_FALSE(is_of_later_version(std::span(bytes)));
	CHECK_FALSE(is_of_later_version(std::span(bytes).first(20)));
}

TEST_CASE("fleet versions: more fields in the header of a batch or a piece are passed over")
{
	OldCollector old;
	CHECK(old.batch(with_more_header(versioned_batch(1))).status == Status::stored);
	CHECK(old.piece(with_more_header(versioned_piece(1))).status == Status::stored);
	CHECK(old.batch(versioned_batch(1)).conflicts == 0); // the same block
}

// A collector answers a message in the message's version.
TEST_CASE("fleet versions: an answer of a later version says nothing to an older agent")
{
	std::vector<std::byte> answer = encode_answer({Status::stored, 0, 1, 2, ""});
	Answer read;
	std::string why;
	REQUIRE(decode_answer(answer, read, why));
	answer[version_at] = std::byte{2};
	CHECK_FALSE(decode_answer(answer, read, why));
	CHECK(why == "it is not an answer of this version");
	std::vector<std::byte> question = encode_clock_question({{true, 1'000'000'000, {}}, 9, false, {}});
	question[3] = std::byte{'2'}; // MFQ2
	ClockQuestion asked;
	CHECK_FALSE(decode_clock_question(question, asked, why));
	CHECK(why == "it is not a clock question of this version");
}

TEST_CASE("fleet versions: a command of a later version is refused, and the operator is told for which one")
{
	const SigningKey key;
	CHECK(check_text_of(key, command_text(1)).refusal == ""); // fields that are not known are ignored
	const CheckedControl later = check_text_of(key, command_text(2));
	CHECK(later.refusal == "it is not of version 1: use the same version of monitor on all hosts");
	CHECK(later.is_authentic);
	CHECK(later.message.nonce == std::string(32, 'a'));
	CHECK(later.message.run == "r");
	CHECK_FALSE(later.is_for_others);
	CHECK(check_text_of(key, command_text(2), "h2").is_for_others);
	nlohmann::json without = command_text(2);
	without.erase("nonce");
	CHECK_FALSE(check_text_of(key, without).is_authentic);
	CHECK(check_text_of(key, without).refusal == later.refusal);
	const SigningKey stranger;
	nlohmann::json forged = {{"message", command_text(2).dump()},
				 {"signature", to_base64(stranger.sign(command_text(2).dump()))}};
	CHECK_FALSE(check_control(forged.dump(), key.public_key(), "h1", 1500).is_authentic);
}

TEST_CASE("fleet versions: a host with a later monitor is listed as such, and nothing is guessed of it")
{
	nlohmann::json reported = nlohmann::json::parse(presence_text({}));
	reported["monitor"] = "9.0";
	reported["session"] = "s";
	reported["spool_bytes"] = 7;
	reported["a_later_field"] = {1, 2};
	CHECK(parse_presence(reported.dump())->spool_bytes == 7);
	CHECK_FALSE(parse_presence(reported.dump())->is_of_later_version);
	reported["version"] = 2;
	const auto later = parse_presence(reported.dump());
	REQUIRE(later);
	CHECK(later->is_of_later_version);
	CHECK(later->monitor_version == "9.0");
	CHECK(later->state() == "unknown");
	CHECK(later->spool_bytes == 0);
	reported["version"] = 0;
	CHECK_FALSE(parse_presence(reported.dump()));
	const auto table = fleet_operator::status_table({{"h", {*later, {"s"}}}}, {"h"});
	REQUIRE(table.rows.size() == 1);
	const auto text = report::to_json(table);
	CHECK_THAT(text, Contains("\"unknown\"") && Contains("\"9.0\"") && Contains("upgrade the one here"));
	CHECK_THAT(text, Contains("\"spool_bytes\":null") || Contains("\"spool_bytes\": null"));
	nlohmann::json answer = nlohmann::json::parse(command_answer_text({}));
	answer["a_later_field"] = 1;
	CHECK(parse_command_answer(answer.dump()));
	answer["version"] = 2;
	CHECK_FALSE(parse_command_answer(answer.dump()));
}
