// SPDX-License-Identifier: MIT
// Keys, signed control messages and what hosts report (fleet/wire/): what is accepted, and why the rest is refused.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "fleet/keys/fleet_keys.h"
#include "fleet/wire/control.h"
#include "fleet/wire/keys.h"
#include "fleet/wire/reports.h"
#include "fleet/wire/snapshot_news.h"

using namespace monitor;
using namespace monitor::fleet;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

constexpr std::uint64_t fleet_second = 1'000'000'000, fleet_now = 1'800'000'000 * fleet_second;

ControlMessage command_for(std::vector<std::string> hosts)
{
	ControlMessage message;
	message.kind = "record";
	message.hosts = std::move(hosts);
	message.nonce = "0123456789abcdef0123456789abcdef";
	message.run = "night.1";
	message.issued_ns = fleet_now;
	message.expires_ns = fleet_now + 60 * fleet_second;
	message.options = {{"filter", "comm == \"a\x7f\xc2\x85\""}, {"duration", 2.5}};
	return message;
}

struct Operator {
	SigningKey key;

	CheckedControl check(const std::string &envelope, std::uint64_t now_ns = fleet_now,
			     const char *host = "web-1.example") const
	{
		return check_control(envelope, key.public_key(), host, now_ns);
	}
	// A message of any text, rightly signed.
	CheckedControl check_text(const std::string &text) const
	{
		return check(nlohmann::json({{"message", text}, {"signature", to_base64(key.sign(text))}}).dump());
	}
	CheckedControl check_changed(const std::function<void(nlohmann::json &)> &change) const
	{
		nlohmann::json envelope = nlohmann::json::parse(signed_control(command_for({"web-1.example"}), key));
		nlohmann::json text = nlohmann::json::parse(envelope["message"].get<std::string>());
		change(text);
		return check_text(text.dump());
	}
};

std::string temporary_file(const std::string &text, unsigned mode)
{
	static unsigned number = 0;
	const std::string path = std::filesystem::temp_directory_path() /
				 ("monitor-keys-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
	std::ofstream(path) << text;
	::chmod(path.c_str(), mode);
	return path;
}

} // namespace

TEST_CASE("fleet: a signed command is accepted by the hosts that it names")
{
	const Operator op;
	ControlMessage message = command_for({"other", "web-1.example"});
	message.start_ns = fleet_now + 2 * fleet_second;
	message.command = {"sh", "-c", "echo \"\n\""};
	const std::string envelope = signed_control(message, op.key);
	const CheckedControl checked = op.check(envelope, fleet_now + fleet_second);
	CHECK(checked.refusal == "");
	CHECK(checked.is_authentic);
	CHECK(checked.message.kind == "record");
	CHECK(checked.message.hosts == message.hosts);
	CHECK(checked.message.nonce == message.nonce);
	CHECK(checked.message.run == "night.1");
	CHECK(checked.message.start_ns == message.start_ns);
	CHECK(checked.message.options == message.options);
	CHECK(checked.message.command == message.command);
	CHECK_THAT(op.check(envelope, fleet_now, "web-2").refusal, Contains("for other hosts"));
	CHECK(op.check(envelope, fleet_now, "web-2").is_authentic);
	CHECK(op.check(envelope, fleet_now, "web-2").is_for_others);
	CHECK(op.check(signed_control(command_for({}), op.key), fleet_now).is_for_others);
	CHECK_FALSE(checked.is_for_others);
	CHECK_FALSE(op.check(envelope, fleet_now + 7200 * fleet_second).is_for_others); // expired, which is answered
}

TEST_CASE("fleet: what is not signed by this operator is refused, whatever it says")
{
	const Operator op, stranger;
	const std::string envelope = signed_control(command_for({"web-1.example"}), op.key);
	CHECK_THAT(stranger.check(envelope).refusal, Contains("not the operator's"));
	CHECK_FALSE(stranger.check(envelope).is_authentic);
	CHECK_FALSE(stranger.check(envelope, fleet_now, "web-2").is_for_others); // who knows whom it is for
	CHECK_THAT(stranger.check(envelope).message.run, Equals(""));
	nlohmann::json parts = nlohmann::json::parse(envelope);
	std::string text = parts["message"];
	text.replace(text.find("night"), 5, "other");
	CHECK_THAT(op.check(nlohmann::json({{"message", text}, {"signature", parts["signature"]}}).dump()).refusal,
		   Contains("not the operator's"));
	for (const char *const bytes :
	     {"", "{", "null", "[]", "{}", "{\"message\":1,\"signature\":\"\"}", "{\"message\":\"{}\"}",
	      "{\"message\":\"{}\",\"signature\":\"AAAA\"}", "{\"message\":\"{}\",\"signature\":\"====\"}"})
		CHECK_FALSE(op.check(bytes).is_authentic);
	CHECK_THAT(op.check("{}").refusal, Contains("not signed"));
	CHECK_THAT(op.check(std::string(max_envelope_bytes + 1, 'x')).refusal, Contains("at most"));
}

TEST_CASE("fleet: a command holds from its issue to its expiry")
{
	const Operator op;
	const std::string envelope = signed_control(command_for({"web-1.example"}), op.key);
	CHECK(op.check(envelope, fleet_now - max_early_ns).refusal == "");
	CHECK_THAT(op.check(envelope, fleet_now - max_early_ns - 1).refusal, Contains("in the future"));
	CHECK(op.check(envelope, fleet_now + 60 * fleet_second - 1).refusal == "");
	CHECK_THAT(op.check(envelope, fleet_now + 60 * fleet_second).refusal, Contains("expired 0 s ago"));
	const auto with = [&](auto change) {
		ControlMessage message = command_for({"web-1.example"});
		change(message);
		return op.check(signed_control(message, op.key)).refusal;
	};
	CHECK_THAT(with([](auto &m) { m.expires_ns = m.issued_ns + max_validity_ns + 1; }),
		   Contains("an hour at most"));
	CHECK(with([](auto &m) { m.expires_ns = m.issued_ns + max_validity_ns; }) == "");
	CHECK_THAT(with([](auto &m) { m.expires_ns = m.issued_ns; }), Contains("an hour at most"));
	CHECK_THAT(with([](auto &m) { m.start_ns = m.issued_ns + max_lead_ns + 1; }), Contains("10 minutes"));
	CHECK_THAT(with([](auto &m) { m.start_ns = m.issued_ns - 1; }), Contains("before it was issued"));
}

TEST_CASE("fleet: a signed command that is malformed is refused")
{
	const Operator op;
	CHECK(op.check_changed([](auto &) {}).refusal == "");
	CHECK(op.check_changed([](auto &text) { text["later"] = "field"; }).refusal == "");
	CHECK_THAT(op.check_changed([](auto &text) { text["version"] = 2; }).refusal, Contains("version 1"));
	for (const char *const name : {"kind", "hosts", "nonce", "issued_ns", "expires_ns"}) {
		CHECK_THAT(op.check_changed([&](auto &text) { text.erase(name); }).refusal, Contains("lacks a field"));
		CHECK_THAT(op.check_changed([&](auto &text) { text[name] = true; }).refusal, Contains("lacks a field"));
	}
	for (const char *const run : {"", ".", "..", "../x", "a/b", "-o", "a b", "\n", "/etc"})
		CHECK_THAT(op.check_changed([&](auto &text) { text["run"] = run; }).refusal,
			   Contains("name of its run"));
	CHECK_THAT(op.check_changed([](auto &text) { text["run"] = std::string(65, 'a'); }).refusal,
		   Contains("name of its run"));
	CHECK_THAT(op.check_changed([](auto &text) { text["nonce"] = "0123456789ABCDEF0123456789abcdef"; }).refusal,
		   Contains("lacks a field"));
	CHECK_THAT(op.check_changed([](auto &text) { text["hosts"] = {"a/b"}; }).refusal, Contains("lacks a field"));
	CHECK_THAT(op.check_changed([](auto &text) {
			     text["hosts"] = std::vector<std::string>(max_addressed_hosts + 1, "a");
		     }).refusal,
		   Contains("lacks a field"));
	CHECK_THAT(op.check_changed([](auto &text) { text["options"] = "x"; }).refusal, Contains("not an object"));
	CHECK_THAT(op.check_changed([](auto &text) { text["command"] = {"a", 1}; }).refusal, Contains("list of words"));
	CHECK_THAT(op.check_text(std::string(1000, '[')).refusal, Contains("version 1"));
	CHECK_FALSE(op.check_text("not JSON").is_authentic);
}

TEST_CASE("fleet: the consent to snapshots of all, and what a snapshot is for, are signed and bounded")
{
	const Operator op;
	ControlMessage message = command_for({"a"});
	CHECK_FALSE(
	    check_control(signed_control(message, op.key), op.key.public_key(), "a", fleet_now).message.snapshot_all);
	message.kind = "snapshot";
	message.snapshot_all = true;
	message.why = "slow since 9:40";
	const CheckedControl checked =
	    check_control(signed_control(message, op.key), op.key.public_key(), "a", fleet_now);
	CHECK(checked.refusal == "");
	CHECK(checked.message.snapshot_all);
	CHECK(checked.message.why == "slow since 9:40");
	const auto with = [&](const char *name, const nlohmann::json &value) {
		return op.check_changed([&](auto &text) { text[name] = value; });
	};
	for (const nlohmann::json &value : {nlohmann::json(1), nlohmann::json("true"), nlohmann::json()})
		CHECK_FALSE(with("snapshot_all", value).message.snapshot_all);
	CHECK(with("why", "").refusal == "");
	for (const nlohmann::json &value :
	     {nlohmann::json(1), nlohmann::json("a\nb"), nlohmann::json(std::string(257, 'x'))})
		CHECK_THAT(with("why", value).refusal, Contains("what it is for"));
}

TEST_CASE("fleet: news of snapshots is read back, and bounded")
{
	SnapshotNews news;
	news.run = "night";
	news.number = 12;
	news.trigger = "slow";
	news.time = 1;
	news.realtime_ns = 2;
	news.frozen_ns = 3;
	const auto read = parse_snapshot_news(snapshot_news_text(news));
	REQUIRE(read);
	CHECK(read->run == "night");
	CHECK(read->number == 12);
	CHECK(read->trigger == "slow");
	CHECK(read->frozen_ns == 3);
	CHECK(read->cause_host == "");
	news.cause_host = "web1";
	news.cause_number = 4;
	CHECK(parse_snapshot_news(snapshot_news_text(news))->cause_host == "web1");
	CHECK(parse_snapshot_news(snapshot_news_text(news))->cause_number == 4);
	CHECK(snapshot_name(12) == "012");
	const auto changed = [&](const char *name, const nlohmann::json &value) {
		nlohmann::json json = nlohmann::json::parse(snapshot_news_text(news));
		json[name] = value;
		return parse_snapshot_news(json.dump());
	};
	CHECK(changed("later", "field"));
	CHECK_FALSE(changed("version", 2));
	CHECK_FALSE(changed("run", "../x"));
	CHECK_FALSE(changed("snapshot", -1));
	CHECK_FALSE(changed("snapshot", 1e12));
	CHECK_FALSE(changed("trigger", std::string(65, 'x')));
	CHECK_FALSE(changed("trigger", "a\nb"));
	CHECK_FALSE(changed("time", "1"));
	CHECK_FALSE(changed("cause", "web1"));
	CHECK_FALSE(changed("cause", {{"host", "../x"}, {"snapshot", 1}}));
	CHECK_FALSE(parse_snapshot_news(""));
	CHECK_FALSE(parse_snapshot_news(std::string(max_news_bytes + 1, ' ') + snapshot_news_text(news)));
}

TEST_CASE("fleet: when blocks travel, and which, is signed")
{
	const Operator op;
	ControlMessage message = command_for({"web-1.example"});
	message.kind = "fetch";
	message.forward = "on-demand";
	message.store = "0123456789abcdef";
	message.from_ns = 5;
	message.to_ns = 7;
	const CheckedControl checked = op.check(signed_control(message, op.key));
	CHECK(checked.refusal == "");
	CHECK(checked.message.forward == "on-demand");
	CHECK(checked.message.store == message.store);
	CHECK(checked.message.from_ns == 5);
	CHECK(checked.message.to_ns == 7);
	const CheckedControl plain = op.check(signed_control(command_for({"web-1.example"}), op.key));
	CHECK(plain.message.forward + plain.message.store == "");
	CHECK(plain.message.from_ns + plain.message.to_ns == 0);
	const auto refusal = [&](const char *field, const nlohmann::json &value) {
		return op
		    .check_changed([&](nlohmann::json &text) {
			    text["from_ns"] = 9;
			    text[field] = value;
		    })
		    .refusal;
	};
	CHECK_THAT(refusal("forward", "never"), Contains("--forward is none"));
	CHECK_THAT(refusal("store", "../x"), Contains("window"));
	CHECK_THAT(refusal("to_ns", 8), Contains("window"));
	CHECK(refusal("to_ns", 9) == "");
}

TEST_CASE("fleet: a start is planned by the clock as far as that can be right")
{
	ControlMessage message = command_for({"a"});
	CHECK(start_delay_ns(message, fleet_now) == 0); // at once
	message.start_ns = fleet_now + 2 * fleet_second;
	CHECK(start_delay_ns(message, fleet_now + fleet_second / 10) == 2 * fleet_second - fleet_second / 10);
	CHECK(start_delay_ns(message, fleet_now - 20 * fleet_second) == 2 * fleet_second);               // clock behind
	CHECK(start_delay_ns(message, fleet_now + 20 * fleet_second) == 2 * fleet_second - 500'000'000); // ahead
	message.start_ns = fleet_now + 1000;
	CHECK(start_delay_ns(message, fleet_now + 20 * fleet_second) == 0);
}

TEST_CASE("fleet: keys are read back, and a private one only if it is secret")
{
	const SigningKey key;
	const std::string secret = temporary_file(key.pem(), 0600), open = temporary_file(key.pem(), 0640),
			  shown = temporary_file(key.public_key().pem(), 0644), none = temporary_file("x", 0600);
	const std::string signature = SigningKey::read(secret).sign("text");
	CHECK(signature.size() == signature_bytes);
	CHECK(PublicKey::read(shown).verifies("text", signature));
	CHECK_FALSE(PublicKey::read(shown).verifies("texT", signature));
	CHECK_FALSE(PublicKey::read(shown).verifies("text", signature.substr(1)));
	CHECK_FALSE(SigningKey().public_key().verifies("text", signature));
	CHECK_THROWS_WITH(SigningKey::read(open), Contains("can be read by others") && Contains("chmod 600"));
	CHECK_THROWS_WITH(SigningKey::read(none), Contains("no Ed25519 private key"));
	CHECK_THROWS_WITH(PublicKey::read(secret), Contains("no Ed25519 public key"));
	CHECK_THROWS_WITH(PublicKey::read("/nonexistent"), Contains("cannot open"));
	for (const std::string &path : {secret, open, shown, none})
		std::filesystem::remove(path);
}

TEST_CASE("fleet: base64 has one spelling of each text")
{
	for (const std::string text : {"", "a", "ab", "abc", "abcd", "\xff\x00\x10"})
		CHECK(from_base64(to_base64(text)) == text);
	for (const char *const text : {"a", "YQ=", "YQ", "YR==", " YQ==", "YQ==\n", "Y===", "====", "YQ==YQ=="})
		CHECK_FALSE(from_base64(text));
}

TEST_CASE("fleet: what hosts report is read back, and bounded")
{
	Presence presence;
	presence.monitor_version = "0.1.0";
	presence.session = "0123456789abcdef";
	presence.boot_id = "b";
	presence.runs = {{"night", "recording"}, {"day", "waiting"}};
	presence.spool_bytes = 1ull << 40;
	presence.lost_blocks = 3;
	presence.refused = 7;
	presence.user_only = true;
	presence.runs[1].forward = "each";
	CHECK_FALSE(parse_presence(presence_text(presence))->kept);
	CHECK_FALSE(parse_presence(presence_text(presence))->cpu_ns); // unknown is not 0
	presence.cpu_ns = 0;
	presence.sent_bytes = 12;
	presence.kept.emplace(200, Presence::Kept{"night", 5, 4, 3, 2, 1, true});
	const auto read = parse_presence(presence_text(presence));
	REQUIRE(read);
	CHECK(read->runs.size() == 2);
	CHECK(read->runs[1].name == "day");
	CHECK(read->state() == "recording");
	CHECK(read->spool_bytes == 1ull << 40);
	CHECK(read->lost_blocks == 3);
	CHECK(read->refused == 7);
	CHECK(read->user_only);
	CHECK(read->runs[0].forward == "");
	CHECK(read->runs[1].forward == "each");
	CHECK(read->cpu_ns == 0u);
	CHECK(read->sent_bytes == 12u);
	CHECK_FALSE(read->sent_messages);
	REQUIRE(read->kept);
	REQUIRE(read->kept->size() == max_kept_shown);
	CHECK(read->kept->back().run == "night");
	CHECK(read->kept->back().stored == 3);
	CHECK(read->kept->back().has_ended);
	CHECK_FALSE(read->runs_commands);
	CHECK(Presence().state() == "idle");

	CommandAnswer answer;
	answer.kind = CommandAnswer::Kind::started;
	answer.run = "night";
	answer.late_ns = -5;
	const auto reported = parse_command_answer(command_answer_text(answer));
	REQUIRE(reported);
	CHECK(reported->kind == CommandAnswer::Kind::started);
	CHECK(reported->late_ns == -5);
	CHECK_FALSE(reported->exit_code);
	answer.kind = CommandAnswer::Kind::ended;
	answer.exit_code = 125;
	answer.reason = std::string(10000, 'x');
	CHECK(parse_command_answer(command_answer_text(answer))->exit_code == 125);
	CHECK(parse_command_answer(command_answer_text(answer))->reason.size() == 4096);
	CHECK_FALSE(parse_command_answer(command_answer_text(answer))->traces);
	answer.traces = std::vector<CommandAnswer::Trace>{};
	REQUIRE(parse_command_answer(command_answer_text(answer))->traces);
	CHECK(parse_command_answer(command_answer_text(answer))->traces->empty());
	answer.traces->assign(max_traces_shown + 5, {"002", true});
	answer.traces->front() = {"", false};
	answer.traces->at(1).part = "../x";
	const auto traces = parse_command_answer(command_answer_text(answer))->traces;
	REQUIRE(traces);
	REQUIRE(traces->size() == max_traces_shown - 1);
	CHECK(traces->front().part == "");
	CHECK_FALSE(traces->front().has_ended);
	CHECK(traces->back().part == "002");
	CHECK(traces->back().has_ended);
	answer.run = "../x";
	CHECK_FALSE(parse_command_answer(command_answer_text(answer)));
	for (const char *const bytes : {"", "[]", "{\"version\":2}", "{\"version\":1,\"kind\":\"x\"}", "\xff"})
		CHECK_FALSE(parse_command_answer(bytes));
	CHECK_FALSE(parse_presence("{\"version\":\"1\"}"));
	CHECK(parse_presence("{\"version\":1,\"runs\":[1,{\"run\":\"../x\",\"state\":\"y\"}]}")->runs.empty());
	CHECK_FALSE(parse_presence("{\"version\":1,\"x\":\"" + std::string(max_report_bytes, 'x') + "\"}"));
}
