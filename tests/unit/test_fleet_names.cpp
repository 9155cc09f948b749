// SPDX-License-Identifier: MIT
// Names, subjects and the hub's address as the fleet takes them: fleet/wire/{names,hub,late_calls}.
#include <algorithm>
#include <atomic>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/encoding.h"
#include "base/error.h"
#include "fleet/wire/hub.h"
#include "fleet/wire/late_calls.h"
#include "fleet/wire/names.h"

using namespace monitor;
using namespace monitor::fleet;

TEST_CASE("fleet names: a host name is one component of a path and one token of a subject")
{
	for (const char *name : {"a", "web-1", "web.example.org", "A9", "x-", "1"})
		CHECK(is_host_name(name));
	CHECK(is_host_name(std::string(63, 'a')));
	for (const char *name :
	     {"", ".", "..", ".monitor", "-x", "a/b", "a b", "a_b", "a*", ">", "a\n", "\xc3\xa4", "all"})
		CHECK_FALSE(is_host_name(name));
	CHECK_FALSE(is_host_name(std::string(64, 'a')));
	CHECK_FALSE(is_host_name(std::string_view("a\0b", 3)));
	CHECK(is_run_name("run_1.a-b"));
	CHECK_FALSE(is_run_name("../x"));
	CHECK_FALSE(is_run_name(std::string(65, 'a')));
}

TEST_CASE("fleet names: subject and host map onto each other")
{
	CHECK(subject_of("data", "web.example.org") == "m.data.web_example_org");
	for (const char *host : {"h", "web.example.org", "a-b.c"}) {
		const auto subject = parse_subject(subject_of("data", host));
		REQUIRE(subject);
		CHECK(subject->kind == "data");
		CHECK(subject->host == host);
	}
	for (const char *text : {"", "m", "m.", "m.data", "m.data.", "m..h", "m.data.a.b", "x.data.h", "m.data.*",
				 "m.data._h", "m.da*a.h", "m.ctl.all", "m.aaaaaaaaaaaaaaaaa.h"})
		CHECK_FALSE(parse_subject(text));
}

namespace {

std::vector<std::string> subject_tokens(const std::string &subject)
{
	std::istringstream text(subject);
	std::vector<std::string> tokens;
	for (std::string token; std::getline(text, token, '.');)
		tokens.push_back(token);
	return tokens;
}

// As a NATS server does it.
bool is_covered(const std::string &subject, const std::string &by)
{
	const auto mine = subject_tokens(subject), pattern = subject_tokens(by);
	return std::ranges::equal(mine, pattern, [](const std::string &token, const std::string &wanted) {
		return wanted == "*" || wanted == token;
	});
}

} // namespace

// Collectors of several versions divide hosts in the same way, so these never change.
TEST_CASE("fleet names: what is stored has a subject with the bits of the host's hash")
{
	CHECK(stored_subject_of("data", "web.example.org") == "m.data.1.1.1.0.1.0.web_example_org");
	CHECK(stored_subject_of("file", "h") == "m.file.0.0.1.0.1.1.h");
	CHECK(shard_hash("db1") == 21);
	for (const char *host : {"h", "web.example.org", "a-b.c"}) {
		const auto subject = parse_subject(stored_subject_of("data", host));
		REQUIRE(subject);
		CHECK(subject->kind == "data");
		CHECK(subject->host == host);
	}
	for (const char *text :
	     {"m.data.0.0.0.0.0.0.h", "m.data.0.0.1.0.1.1.1.h", "m.data.0.0.1.0.1.h", "m.data.*.*.*.*.*.*.h",
	      "m..0.0.1.0.1.1.h", "m.data.0.0.1.0.1.1.", "m.data.0.0.1.0.1.1.all"})
		CHECK_FALSE(parse_subject(text));
}

TEST_CASE("fleet names: a host is in exactly one of N shards, and these are about equal")
{
	for (unsigned count = 1; count <= max_shards; count *= 2) {
		std::vector<unsigned> hosts(count);
		for (int i = 0; i < 1000; ++i) {
			const std::string host = fmt::format("web{}.example.org", i);
			unsigned shards = 0;
			for (unsigned number = 0; number < count; ++number)
				if (is_covered(stored_subject_of("data", host),
					       shard_subject("data", {number, count}))) {
					++shards;
					++hosts[number];
					CHECK(shard_hash(host) % count == number);
				}
			CHECK(shards == 1);
		}
		CHECK(*std::ranges::min_element(hosts) > 1000 / count / 2 - 1);
	}
	CHECK(shard_subject("file", {}) == "m.file.*.*.*.*.*.*.*");
	CHECK(shard_subject("file", {1, 4}) == "m.file.1.0.*.*.*.*.*");
}

TEST_CASE("fleet names: a shard is K/N")
{
	const auto shard = parse_shard("3/16");
	REQUIRE(shard);
	CHECK(shard->number == 3);
	CHECK(shard->count == 16);
	CHECK_FALSE(shard->is_whole());
	CHECK(shard_text(*shard) == "3/16");
	CHECK(parse_shard("0/1")->is_whole());
	for (const char *text : {"", "/", "1", "1/", "/2", "2/2", "0/3", "0/0", "0/128", "-1/2", "0/2x", "0 /2",
				 "0/2/2", "99999999999999999999/2"})
		CHECK_FALSE(parse_shard(text));
}

TEST_CASE("fleet names: inboxes belong to a host and differ")
{
	const std::string one = make_inbox("a.b"), two = make_inbox("a.b");
	CHECK(one.starts_with("_INBOX.a_b."));
	CHECK(one != two);
	CHECK(random_hex(128).size() == 32);
}

TEST_CASE("fleet names: a host is answered in its own inboxes only")
{
	CHECK(is_reply_of("a.b", make_inbox("a.b") + ".17"));
	CHECK(is_reply_of("h", "_INBOX.h.x"));
	for (const char *reply :
	     {"", "m.data.x", "m.ctl.all", "m.ctl.h", "_INBOX", "_INBOX.", "_INBOX.h", "_INBOX.h.", "_INBOX.h2.x",
	      "_INBOX.x.h.1", "_INBOX.h..x", "_INBOX.h.x.", "_INBOX.h.*", "_INBOX.h.>", "_INBOX.h.x y",
	      "_INBOX.h.x\r\nPUB m.ctl.all 0", "x_INBOX.h.x", "_inbox.h.x"})
		CHECK_FALSE(is_reply_of("h", reply));
	CHECK_FALSE(is_reply_of("a.b", "_INBOX.a.b.x"));
	CHECK_FALSE(is_reply_of("h", "_INBOX.h." + std::string(300, 'x')));
}

TEST_CASE("fleet hub: addresses are parsed, with 4222 as the default port")
{
	const HubAddress hub = parse_hub("tls://hub.example.org");
	CHECK(hub.tls);
	CHECK(hub.url() == "tls://hub.example.org:4222");
	CHECK(parse_hub("tls://[fe80::1]:14222").url() == "tls://[fe80::1]:14222");
	CHECK(parse_hub("tls://[fe80::1]").host == "fe80::1");
	CHECK(parse_hub("nats://127.0.0.1:1").port == 1);
	CHECK_FALSE(parse_hub("nats://localhost").tls);
	for (const char *text : {"", "hub", "tls://", "tls://hub:", "tls://hub:0", "tls://hub:65536", "tls://hub:1x",
				 "tls://a b", "tls://user@hub", "tls://[::1", "tls://[::1]x", "http://hub",
				 "nats://hub", "nats://128.0.0.1", "nats://127.evil.org", "nats://localhost.evil.org"})
		CHECK_THROWS_AS(parse_hub(text), Error);
}

TEST_CASE("fleet hub: the addresses of a cluster are separated by commas")
{
	const auto hubs = parse_hubs("tls://hub1.example.org,tls://[fe80::1]:14222");
	REQUIRE(hubs.size() == 2);
	CHECK(hubs[0].host == "hub1.example.org");
	CHECK(hubs[1].port == 14222);
	CHECK(hubs_text(hubs) == "tls://hub1.example.org:4222,tls://[fe80::1]:14222");
	CHECK(parse_hubs("nats://127.0.0.1").size() == 1);
	CHECK(parse_hubs("tls://a,tls://b,tls://c,tls://d,tls://e,tls://f,tls://g,tls://h").size() == max_hubs);
	for (const char *text :
	     {"", ",", "tls://a,", ",tls://a", "tls://a,b", "tls://a;tls://b", "tls://a,nats://127.0.0.1",
	      "tls://a,tls://b,tls://c,tls://d,tls://e,tls://f,tls://g,tls://h,tls://i"})
		CHECK_THROWS_AS(parse_hubs(text), Error);
}

TEST_CASE("fleet hub: a problem says what to do")
{
	const HubAddress hub = parse_hub("tls://hub:4223");
	CHECK(hub_problem(hub, HubProblem::unreachable, "refused").find("TCP port 4223") != std::string::npos);
	CHECK(hub_problem(hub, HubProblem::handshake, "").find("--ca") != std::string::npos);
	CHECK(hub_problem(hub, HubProblem::refused, "x\n\x1b[2J").find('\x1b') == std::string::npos);
}

TEST_CASE("fleet hub: attempts become rarer, and are not all at once")
{
	CHECK(reconnect_delay_ms(0, 0) == 100);
	CHECK(reconnect_delay_ms(3, 0) == 800);
	CHECK(reconnect_delay_ms(1000, 0) == 5000);
	CHECK(reconnect_delay_ms(1000, 1) == 2500);
	CHECK(reconnect_delay_ms(18, 0, 3) == 100); // the next hub
	CHECK(reconnect_delay_ms(2, 0, 3) == 100);
	CHECK(reconnect_delay_ms(5, 0, 3) == 200); // after each was tried twice
	CHECK(reconnect_delay_ms(20, 0, 3) == 5000);
}

TEST_CASE("fleet: no call after its object is gone")
{
	struct Counter {
		std::atomic<int> calls = 0;
	} counter;
	void *const number = LateCalls<Counter>::add(counter);
	std::atomic<bool> inside = false, left = false;
	std::thread caller([&] {
		LateCalls<Counter>::call(number, [&](Counter &counted) {
			inside = true;
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
			++counted.calls;
			left = true;
		});
	});
	while (!inside)
		std::this_thread::yield();
	LateCalls<Counter>::remove(number);
	CHECK(left); // remove() waited
	LateCalls<Counter>::call(number, [](Counter &counted) { ++counted.calls; });
	CHECK(counter.calls == 1);
	caller.join();
}
