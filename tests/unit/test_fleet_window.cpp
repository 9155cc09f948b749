// SPDX-License-Identifier: MIT
// What is sent again, and when: fleet/forward/send_window; what is stored: fleet/forward/progress;
// when the clock is asked for: fleet/forward/pending_clock_request.
#include <deque>
#include <vector>

#include <catch2/catch.hpp>

#include "fleet/forward/pending_clock_request.h"
#include "fleet/forward/progress.h"
#include "fleet/forward/send_window.h"
#include "fleet_blocks.h"

using namespace monitor;
using namespace monitor::fleet;
using namespace std::chrono_literals;

namespace {

const SendWindow::Time window_start = SendWindow::Time{} + 1h;

// Gives everything that is due to the network.
unsigned send_all_due(SendWindow &window, SendWindow::Time now)
{
	unsigned sent = 0;
	while (const auto number = window.due(now)) {
		window.sent(*number, now);
		REQUIRE(++sent < 1000);
	}
	return sent;
}

} // namespace

TEST_CASE("fleet window: its bytes are bounded")
{
	SendWindow window;
	std::uint64_t number = 0;
	for (; window.has_room(256 << 10); ++number)
		window.add(number, 256 << 10);
	CHECK(number == 64);
	CHECK(send_all_due(window, window_start) == 64);
	CHECK(send_all_due(window, window_start) == 0);
	CHECK(window.remove(7, window_start + 1ms));
	CHECK_FALSE(window.remove(7, window_start + 1ms));
	CHECK(window.has_room(256 << 10));
	CHECK(window.bytes() == 63 * (256 << 10));
}

TEST_CASE("fleet window: a slow collector is not flooded")
{
	SendWindow window;
	for (unsigned i = 0; i < 8; ++i)
		window.add(i, 1);
	CHECK(send_all_due(window, window_start) == 8);
	CHECK(window.remove(1, window_start + 9s)); // an answer takes 9 s
	CHECK(window.timeout() == 120s);
	unsigned sent = 0; // questions in the silence
	for (auto now = window_start + 9s; now < window_start + 119s; now += 100ms)
		sent += send_all_due(window, now);
	CHECK(sent < 20);
	CHECK(send_all_due(window, window_start + 121s) >= 6); // lost
}

TEST_CASE("fleet window: in silence only the oldest is sent again, less and less often")
{
	SendWindow window;
	for (unsigned i = 0; i < 8; ++i)
		window.add(i, 1);
	CHECK(send_all_due(window, window_start) == 8);
	CHECK(send_all_due(window, window_start + 900ms) == 0);
	CHECK(window.due(window_start + 1100ms) == 0u);
	CHECK(send_all_due(window, window_start + 1100ms) == 1);
	CHECK(send_all_due(window, window_start + 3s) == 0);
	CHECK(send_all_due(window, window_start + 3200ms) == 1);
	CHECK(send_all_due(window, window_start + 7100ms) == 0);
	CHECK(window.remove(5, window_start + 7150ms)); // it is slow only
	CHECK(send_all_due(window, window_start + 8s) == 0);
	CHECK(send_all_due(window, window_start + 8200ms) == 1);
}

TEST_CASE("fleet window: a new connection sends all again, at once")
{
	SendWindow window;
	window.add(1, 1);
	window.add(2, 1);
	CHECK(send_all_due(window, window_start) == 2);
	window.reconnected();
	CHECK(send_all_due(window, window_start + 1ms) == 2);
	CHECK(window.sent_again() == 2);
}

TEST_CASE("fleet window: after a trouble little is unanswered at first, and each answer permits more")
{
	for (const bool is_late : {false, true}) {
		INFO("late: " << is_late);
		SendWindow window;
		for (unsigned i = 0; i < 64; ++i)
			window.add(i, SendWindow::min_permitted / 2);
		CHECK(send_all_due(window, window_start) == 64); // there was none yet
		if (!is_late)
			window.reconnected();
		const auto now = window_start + (is_late ? 11s : 1s);
		std::vector<unsigned> at_once;
		for (unsigned sent = 0, answered = 0; answered < 64;) {
			at_once.push_back(send_all_due(window, now));
			REQUIRE(at_once.back() > 0);
			for (sent += at_once.back(); answered < sent; ++answered)
				CHECK(window.remove(answered, now));
		}
		CHECK(at_once == std::vector<unsigned>{2, 4, 8, 16, 32, 2});
		CHECK(window.empty());
	}
}

TEST_CASE("fleet window: in silence the oldest is sent again, however much is unanswered")
{
	SendWindow window;
	for (unsigned i = 0; i < 64; ++i)
		window.add(i, SendWindow::min_permitted / 2);
	CHECK(send_all_due(window, window_start) == 64);
	CHECK(window.refused(5, window_start));
	CHECK(send_all_due(window, window_start + 900ms) == 0); // 63 others are unanswered
	CHECK(window.due(window_start + 1100ms) == 0u);
	CHECK(send_all_due(window, window_start + 1100ms) == 1);
}

TEST_CASE("fleet window: a message that is larger than what is permitted is sent alone")
{
	SendWindow window;
	window.reconnected();
	window.add(1, 2 * SendWindow::min_permitted);
	window.add(2, 1);
	CHECK(send_all_due(window, window_start) == 1);
	CHECK(window.next_due(window_start) > window_start);
	CHECK(send_all_due(window, window_start + 1100ms) == 1); // the same, as nothing is heard
	CHECK(window.withdraw(1));
	CHECK(window.due(window_start + 1200ms) == 2u);
}

TEST_CASE("fleet window: after a refusal one message tries, then the others follow")
{
	SendWindow window;
	for (unsigned i = 0; i < 8; ++i)
		window.add(i, 1);
	CHECK(send_all_due(window, window_start) == 8);
	for (unsigned i = 0; i < 8; ++i)
		CHECK(window.refused(i, window_start));
	CHECK_FALSE(window.refused(99, window_start));
	CHECK(send_all_due(window, window_start + 100ms) == 0);
	CHECK(window.next_due(window_start + 100ms) == window_start + 200ms);
	CHECK(send_all_due(window, window_start + 200ms) == 1);
	CHECK(window.refused(0, window_start + 210ms)); // and waits longer
	CHECK(send_all_due(window, window_start + 500ms) == 0);
	CHECK(send_all_due(window, window_start + 610ms) == 1);
	CHECK(window.remove(0, window_start + 620ms));
	CHECK(send_all_due(window, window_start + 630ms) == 7);
	CHECK(window.refused(1, window_start + 700ms)); // short again
	CHECK(send_all_due(window, window_start + 900ms) == 1);
}

TEST_CASE("fleet window: a trial that gets no answer is sent again")
{
	SendWindow window;
	window.add(1, 1);
	window.add(2, 1);
	send_all_due(window, window_start);
	window.refused(1, window_start);
	window.refused(2, window_start);
	CHECK(send_all_due(window, window_start + 1s) == 1);
	CHECK(send_all_due(window, window_start + 1900ms) == 0);
	CHECK(send_all_due(window, window_start + 2100ms) == 1);
}

TEST_CASE("fleet clock: exchanges succeed however long an answer takes, up to a second")
{
	using Clock = PendingClockRequest::Clock;
	for (const auto &[round_trip_ms, exchanges] :
	     {std::pair(1, 10 + 4), std::pair(40, 10 + 4), std::pair(60, 10 + 4), std::pair(300, 10 + 1),
	      std::pair(900, 5), std::pair(1100, 0)}) {
		const Clock::time_point start{};
		PendingClockRequest request(start);
		std::uint64_t t1 = 0;
		std::deque<std::pair<Clock::time_point, std::uint64_t>> on_their_way;
		for (Clock::time_point now = start; now < start + std::chrono::milliseconds(4990);
		     now += std::chrono::milliseconds(1)) {
			if (!on_their_way.empty() && on_their_way.front().first <= now) {
				request.take({on_their_way.front().second, 5, 6}, 7);
				on_their_way.pop_front();
			}
			if (now < request.due())
				continue;
			request.ask(++t1, now);
			on_their_way.emplace_back(now + std::chrono::milliseconds(round_trip_ms), t1);
		}
		INFO(round_trip_ms << " ms");
		CHECK(request.answered() == static_cast<std::uint64_t>(exchanges));
	}
}

TEST_CASE("fleet clock: an answer completes the request it belongs to, once")
{
	const PendingClockRequest::Clock::time_point now{};
	PendingClockRequest request(now);
	CHECK_FALSE(request.take({0, 5, 6}, 7));
	request.ask(100, now);
	CHECK_FALSE(request.take({99, 5, 6}, 7));
	CHECK_FALSE(request.last());
	CHECK(request.take({100, 5, 6}, 7));
	CHECK(request.last()->t4 == 7);
	CHECK_FALSE(request.take({100, 50, 60}, 70));
	CHECK(request.last()->t2 == 5);
	request.ask(200, now);
	CHECK(request.due() == now + std::chrono::seconds(1));
	request.withdraw();
	CHECK(request.due() == now + std::chrono::milliseconds(50));
	CHECK_FALSE(request.take({200, 5, 6}, 7));
	CHECK(request.answered() == 1);
}

TEST_CASE("fleet window: what is withdrawn holds nothing up, and ends no pause")
{
	SendWindow window;
	window.add(1, 100);
	window.add(2, 10);
	window.add(3, 1);
	send_all_due(window, window_start);
	for (const std::uint64_t number : {1u, 2u, 3u})
		window.refused(number, window_start);
	CHECK(window.due(window_start + 200ms) == 1u);
	window.sent(1, window_start + 200ms);
	CHECK_FALSE(window.due(window_start + 210ms)); // it tries
	CHECK(window.withdraw(1));
	CHECK_FALSE(window.withdraw(1));
	CHECK_FALSE(window.has(1));
	CHECK(window.bytes() == 11);
	CHECK(send_all_due(window, window_start + 220ms) == 1); // now another one tries, one only
	CHECK(window.remove(2, window_start + 230ms));
	CHECK(send_all_due(window, window_start + 230ms) == 1);
	const std::uint64_t before = window.sent_again();
	window.add(1, 100, false);
	CHECK(window.due(window_start + 240ms) == 1u);
	window.sent(1, window_start + 240ms);
	CHECK(window.sent_again() == before + 1);
}

TEST_CASE("fleet progress: blocks that are stored in any order")
{
	StoredBlocks stored;
	stored.add(10, 5);
	CHECK(stored.prefix() == 0);
	stored.add(0, 4);
	CHECK(stored.prefix() == 4);
	stored.add(2, 8);
	CHECK(stored.prefix() == 15);
	stored.add(3, 2);
	CHECK(stored.prefix() == 15);
	stored.add(15, 1);
	CHECK(stored.prefix() == 16);
}

TEST_CASE("fleet progress: survives as text, of the same trace only")
{
	TraceProgress progress;
	progress.uuid = fleet_test::uuid_of(1);
	progress.store = 0xfedcba9876543210;
	progress.streams["kernel_cpu0"].add(0, 12);
	progress.streams["kernel_cpu0"].add(20, 1); // is sent again
	progress.files["metadata"] = ~0ull;
	progress.refused = 3;
	progress.is_complete = true;
	TraceProgress read;
	REQUIRE(read.parse(progress.text(), progress.uuid));
	CHECK(read.store == progress.store);
	CHECK(read.streams["kernel_cpu0"].prefix() == 12);
	CHECK(read.files["metadata"] == ~0ull);
	CHECK(read.refused == 3);
	CHECK(read.is_complete);
	CHECK_FALSE(read.parse(progress.text(), fleet_test::uuid_of(2)));
	CHECK(read.streams.empty());
	CHECK_FALSE(read.is_complete);
	for (const char *text : {"", "{", "[]", "{\"uuid\":1}"})
		CHECK_FALSE(read.parse(text, progress.uuid));
	const std::string uuid = uuid_digits(progress.uuid);
	REQUIRE(read.parse("{\"uuid\":\"" + uuid +
			       "\",\"store\":\"x\",\"streams\":{\"../x\":5,\"a\":-1,\"b\":1e30},\"files\":{\"x\":1}}",
			   progress.uuid));
	CHECK(read.streams.empty());
	CHECK(read.files.empty());
}
