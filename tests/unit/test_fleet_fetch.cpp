// SPDX-License-Identifier: MIT
// Traces that stay on their host until they are fetched, or a window of them: which blocks a window has, what travels,
// and what the copy says of itself.
#include "fleet_link.h"

#include "base/block_ranges.h"
#include "base/fetched_trace.h"
#include "fleet/forward/spool.h"
#include "fleet/forward/trace_clock.h"
#include "fleet/forward/window_blocks.h"
#include "fleet/wire/fetch_request.h"

namespace test_fleet_fetch {

using namespace monitor;
using namespace monitor::fleet;
using fleet_test::BadLink;
using fleet_test::FleetDirectory;
using fleet_test::forward_all;
using fleet_test::Steady;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000, origin_s = 1'700'000'000, all_ns = ~std::uint64_t(0);
const Uuid fetched_uuid = fleet_test::uuid_of(9);

// Tick 0 is at origin_s; a tick is a nanosecond.
const std::string described_clock =
    "/* CTF 1.8 */\n\nclock {\n\tname = tsc;\n\tfreq = 1000000000;\n\toffset_s = 1700000000;\n\toffset = 0;\n};\n";

// Blocks of a second each, of which the last half is silent.
void append_seconds(const std::string &path, std::uint64_t first, unsigned count)
{
	const Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	std::vector<std::byte> block(block_bytes);
	for (std::uint64_t i = first; i < first + count; ++i) {
		fleet_test::fill_block(block, fetched_uuid, 1, i);
		edc_block header;
		std::memcpy(&header, block.data(), sizeof header);
		header.timestamp_begin = i * second_ns;
		header.timestamp_end = i * second_ns + second_ns / 2;
		std::memcpy(block.data(), &header, sizeof header);
		write_all(file.get(), block, path);
	}
}

// Two CPUs, 1000 and 300 blocks, and the recorder's stream.
std::string kept_trace(const std::string &path, const char *state = "complete")
{
	fs::create_directories(path + "/.monitor");
	fleet_test::write_text(path + "/metadata", described_clock);
	fleet_test::write_text(path + "/.monitor/recording.json", fleet_test::recording_text(fetched_uuid, state));
	append_seconds(path + "/recorder", 0, 10);
	append_seconds(path + "/kernel_cpu0", 0, 1000);
	append_seconds(path + "/kernel_cpu1", 0, 300);
	return path;
}

TailOptions on_demand(const std::string &progress = "")
{
	TailOptions options;
	options.run = "r";
	options.progress_file = progress;
	options.forward = Forward::on_demand;
	return options;
}

FetchRequest window_of(double from_s, double to_s, const char *nonce, std::uint64_t store = 0)
{
	const auto ns = [](double s) { return origin_s * second_ns + static_cast<std::uint64_t>(s * 1e9); };
	return {"r", nonce, store, ns(from_s), ns(to_s), false};
}

FetchedTrace fetched_in(const std::string &copy)
{
	const auto fetched = FetchedTrace::parse(read_text(copy + "/.monitor/fetched.json"));
	return fetched.value_or(FetchedTrace());
}

// Until the copy says that this command was obeyed.
bool fetch_until(Forwarding &forwarding, const std::string &copy, const std::string &nonce, int seconds = 10)
{
	const Steady::time_point end = Steady::now() + std::chrono::seconds(seconds);
	while (Steady::now() < end) {
		forwarding.step(Steady::now() + std::chrono::milliseconds(20));
		if (fetched_in(copy).request == nonce && fs::exists(copy + "/.monitor/recording.json"))
			return true;
	}
	return false;
}

void step_for(Forwarding &forwarding, std::chrono::milliseconds time)
{
	for (const Steady::time_point end = Steady::now() + time; Steady::now() < end;)
		forwarding.step(end);
}

// Each block of the copy is the original's or a hole; `expected` says which are there.
void expect_blocks(const std::string &trace, const std::string &copy, const std::string &stream,
		   const std::vector<BlockRanges::Range> &expected)
{
	const std::string original = read_file(trace + '/' + stream, 1 << 28), text = read_text(copy + '/' + stream);
	BlockRanges there;
	for (std::uint64_t i = 0; i < text.size() / block_bytes; ++i) {
		const std::string_view block(text.data() + i * block_bytes, block_bytes);
		if (block.find_first_not_of('\0') == std::string_view::npos)
			continue;
		CHECK(block == std::string_view(original.data() + i * block_bytes, block_bytes));
		there.add(i, 1);
	}
	CHECK(std::vector<BlockRanges::Range>(there.ranges().begin(), there.ranges().end()) == expected);
}

} // namespace

TEST_CASE("fleet fetch: ranges of blocks merge, and say what is missing")
{
	BlockRanges ranges;
	CHECK(ranges.missing({3, 3}) == std::nullopt);
	CHECK(ranges.missing({3, 5}) == BlockRanges::Range(3, 5));
	ranges.add(10, 5);
	ranges.add(20, 5);
	ranges.add(0, 0);
	CHECK(ranges.ranges().size() == 2);
	CHECK(ranges.count() == 10);
	CHECK(ranges.missing({8, 30}) == BlockRanges::Range(8, 10));
	CHECK(ranges.missing({10, 30}) == BlockRanges::Range(15, 20));
	CHECK(ranges.missing({12, 14}) == std::nullopt);
	CHECK(ranges.missing({22, 30}) == BlockRanges::Range(25, 30));
	ranges.add(14, 6);
	CHECK(ranges.has({10, 25}));
	CHECK(ranges.ranges().size() == 1);
	CHECK(ranges.prefix() == 0);
	ranges.add(0, 12);
	CHECK(ranges.prefix() == 25);
}

TEST_CASE("fleet fetch: real time becomes ticks and back")
{
	const auto clock = TraceClock::parse(
	    "x\nclock {\n\tname = tsc;\n\tfreq = 2500000000;\n\toffset_s = 100;\n\toffset = 1250000000;\n};\n");
	REQUIRE(clock);
	CHECK(clock->ticks_of(101 * second_ns) == 1'250'000'000);
	CHECK(clock->real_ns_of(1'250'000'000) == 101 * second_ns);
	CHECK(clock->ticks_of(0) == 0);
	CHECK(clock->ticks_of(all_ns) > 40'000'000'000'000'000);
	CHECK(clock->real_ns_of(all_ns) > 7'000'000'000 * second_ns);
	for (const char *text :
	     {"", "\nclock {", "\nclock {\n\tfreq = 0;\n\toffset_s = 1;\n\toffset = 1;\n}",
	      "\nclock {\n\tfreq = 5;\n\toffset = 1;\n}", "\nclock {\n\tfreq = x;\n\toffset_s = 1;\n\toffset = 1;\n}",
	      "\nclock {\n\tfreq = 5;\n\toffset_s = 9999999999999999;\n\toffset = 1;\n}"})
		CHECK_FALSE(TraceClock::parse(text));
}

TEST_CASE("fleet fetch: a window has the blocks that touch it, and the one before")
{
	const FleetDirectory directory;
	const std::string file = directory.path() + "/stream";
	append_seconds(file, 5, 100); // from 5 s to 104.5 s
	const auto range = [&](double from, double to, bool keeps_state = true) {
		return window_blocks(file, 100, static_cast<std::uint64_t>(from * 1e9),
				     static_cast<std::uint64_t>(to * 1e9), keeps_state);
	};
	CHECK(range(15, 18, false) == BlockRanges::Range(10, 14));
	CHECK(range(15.2, 15.3, false) == BlockRanges::Range(10, 11));
	CHECK(range(15.7, 16.1, false) == BlockRanges::Range(11, 12));
	for (const auto &[from, to] : {std::pair(15.7, 15.8), std::pair(0., 3.), std::pair(200., 300.)})
		CHECK(range(from, to, false).first == range(from, to, false).second);
	CHECK(range(15, 18) == BlockRanges::Range(10, 14));
	CHECK(range(15.2, 15.3) == BlockRanges::Range(10, 11));
	CHECK(range(15.7, 15.8) == BlockRanges::Range(10, 11)); // between two blocks: the state is that of the first
	CHECK(range(0, 3) == BlockRanges::Range(0, 1));         // so that the stream is known
	CHECK(range(0, 6) == BlockRanges::Range(0, 2));
	CHECK(range(200, 300) == BlockRanges::Range(99, 100));
	CHECK(window_blocks(file, 100, 0, all_ns, true) == BlockRanges::Range(0, 100));
	CHECK(window_blocks(directory.path() + "/none", 100, 5, 6, true) == BlockRanges::Range(0, 100));
	const auto span = stream_span(file, 100);
	REQUIRE(span);
	CHECK(span->begin == 5 * second_ns);
	CHECK(span->end == 104 * second_ns + second_ns / 2);
}

TEST_CASE("fleet fetch: what a copy says of itself survives as text")
{
	FetchedTrace trace;
	trace.request = "n";
	trace.has_ended = true;
	trace.windows = {{1, 2}, {0, all_ns}};
	trace.streams["a"].blocks = 10;
	trace.streams["a"].present.add(0, 3);
	trace.streams["a"].present.add(5, 1);
	const auto read = FetchedTrace::parse(trace.text());
	REQUIRE(read);
	CHECK(read->text() == trace.text());
	CHECK(read->blocks() == 10);
	CHECK(read->blocks_present() == 4);
	CHECK_FALSE(read->is_whole());
	for (const char *text :
	     {"", "{}", "[]", R"({"version":1})", R"({"version":2,"windows":[],"streams":{}})",
	      R"({"version":1,"windows":[[2,1]],"streams":{}})", R"({"version":1,"windows":[[1]],"streams":{}})",
	      R"({"version":1,"windows":[],"streams":{"a":{"blocks":4,"here":[[0,5]]}}})",
	      R"({"version":1,"windows":[],"streams":{"a":{"blocks":-1,"here":[]}}})",
	      R"({"version":1,"windows":[],"streams":{"a":{"blocks":1e30,"here":[]}}})"})
		CHECK_FALSE(FetchedTrace::parse(text));
	CHECK(window_text({0, all_ns}) == "all of it");
	CHECK(window_text({origin_s * second_ns, origin_s * second_ns + 1'500'000'000}) ==
	      "2023-11-14 22:13:20.000 to 22:13:21.500 UTC");
}

TEST_CASE("fleet fetch: a request is read as it was written, or not at all")
{
	const FetchRequest request{"run.1", "abcd", 0xfedcba9876543210, 5, all_ns, true};
	const auto read = parse_fetch_request(fetch_request_text(request));
	REQUIRE(read);
	CHECK(read->run == request.run);
	CHECK(read->nonce == request.nonce);
	CHECK(read->store == request.store);
	CHECK(read->from_ns == 5);
	CHECK(read->to_ns == all_ns);
	CHECK(read->is_list);
	FetchRequest wrong = request;
	wrong.run = "../x";
	CHECK_FALSE(parse_fetch_request(fetch_request_text(wrong)));
	wrong = request;
	wrong.to_ns = 4;
	CHECK_FALSE(parse_fetch_request(fetch_request_text(wrong)));
	CHECK_FALSE(parse_fetch_request("{}"));
	CHECK(parse_hex64("") == 0u);
	CHECK_FALSE(parse_hex64("12"));
	CHECK_FALSE(parse_hex64("zzzzzzzzzzzzzzzz"));
}

TEST_CASE("fleet fetch: what stays on the host sends descriptions only, then the windows that are asked for")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace"), copy = directory.path() + "/run/h";
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	Forwarding forwarding(link, {});
	forwarding.add(trace, on_demand());
	REQUIRE(fetch_until(forwarding, copy, ""));
	step_for(forwarding, std::chrono::milliseconds(300));
	for (const char *stream : {"recorder", "kernel_cpu0", "kernel_cpu1"})
		CHECK_FALSE(fs::exists(copy + '/' + stream));
	CHECK(read_file(copy + "/metadata", 1 << 20) == described_clock);
	CHECK(fetched_in(copy).blocks() == 1310);
	CHECK(fetched_in(copy).blocks_present() == 0);
	CHECK(fetched_in(copy).has_ended);
	CHECK(forwarding.accounts()[0].kept == 1310);
	CHECK_FALSE(forwarding.accounts()[0].is_complete);

	forwarding.fetch(window_of(900, 902, "one"));
	REQUIRE(fetch_until(forwarding, copy, "one"));
	expect_blocks(trace, copy, "kernel_cpu0", {{900, 903}});
	expect_blocks(trace, copy, "kernel_cpu1", {{299, 300}}); // what it did last
	expect_blocks(trace, copy, "recorder", {{0, 10}});
	CHECK(fetched_in(copy).windows.size() == 1);
	CHECK(fetched_in(copy).blocks_present() == 14);
	CHECK(forwarding.accounts()[0].stored == 14);
	CHECK(forwarding.accounts()[0].kept == 1310 - 14);

	forwarding.fetch(window_of(100.2, 100.3, "two"));
	REQUIRE(fetch_until(forwarding, copy, "two"));
	expect_blocks(trace, copy, "kernel_cpu0", {{100, 101}, {900, 903}});
	expect_blocks(trace, copy, "kernel_cpu1", {{100, 101}, {299, 300}});
	CHECK(fetched_in(copy).windows.size() == 2);

	const auto accounts = link.collector().accounts();
	CHECK(accounts["hosts"][0]["blocks"] == 16); // holes are none
	link.close();
	link.open(directory.path() + "/run");
	CHECK(link.collector().accounts()["hosts"][0]["blocks"] == 16);

	forwarding.fetch({"r", "three", 0, 0, all_ns, false});
	REQUIRE(forward_all(forwarding));
	CHECK(forwarding.accounts()[0].stored == 1310);
	CHECK(forwarding.accounts()[0].kept == 0);
	REQUIRE(fetched_in(copy).is_whole());
	fs::remove(copy + "/.monitor/fetched.json");
	CHECK(fleet_test::is_same_trace(trace, copy));
}

TEST_CASE("fleet fetch: another directory gets its own window, and the agent may end meanwhile")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace"), progress = directory.path() + "/progress";
	{
		BadLink link(1, 0);
		link.open(directory.path() + "/one");
		Forwarding forwarding(link, {});
		forwarding.add(trace, on_demand(progress));
		forwarding.fetch(window_of(10, 11, "one"));
		REQUIRE(fetch_until(forwarding, directory.path() + "/one/h", "one"));
		forwarding.save();
	}
	BadLink link(1, 0.1);
	link.open(directory.path() + "/two");
	const std::string text = link.collector().accounts()["store"];
	Forwarding forwarding(link, {});
	TailOptions as_started = on_demand(progress);
	as_started.forward = Forward::batch; // its progress says otherwise
	forwarding.add(trace, as_started);
	step_for(forwarding, std::chrono::milliseconds(500));
	CHECK_FALSE(fs::exists(directory.path() + "/two/h"));
	forwarding.fetch(window_of(50, 51, "two", *parse_hex64(text)));
	REQUIRE(fetch_until(forwarding, directory.path() + "/two/h", "two"));
	expect_blocks(trace, directory.path() + "/two/h", "kernel_cpu0", {{50, 52}});
	CHECK(fetched_in(directory.path() + "/two/h").windows.size() == 1);
	expect_blocks(trace, directory.path() + "/one/h", "kernel_cpu0", {{10, 12}});
}

TEST_CASE("fleet fetch: no copy says that it was fetched before it was")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace", "incomplete"),
			  copy = directory.path() + "/run/h";
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	link.drops_batches = true;
	Forwarding forwarding(link, {});
	forwarding.add(trace, on_demand());
	forwarding.fetch(window_of(10, 11, "one"));
	step_for(forwarding, std::chrono::milliseconds(600));
	REQUIRE(fs::exists(copy + "/.monitor/fetched.json"));
	CHECK(fetched_in(copy).request == "");
	CHECK(fetched_in(copy).windows.empty());
	link.drops_batches = false;
	link.break_off();
	REQUIRE(fetch_until(forwarding, copy, "one"));
	expect_blocks(trace, copy, "kernel_cpu0", {{10, 12}});
}

TEST_CASE("fleet fetch: of a recording that goes on, what is there and what still comes of the window")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace", "incomplete"),
			  copy = directory.path() + "/run/h";
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	Forwarding forwarding(link, {});
	TailOptions options = on_demand();
	options.max_age = std::chrono::milliseconds(0);
	forwarding.add(trace, options);
	forwarding.fetch(window_of(998, 1001, "one"));
	REQUIRE(fetch_until(forwarding, copy, "one"));
	CHECK_FALSE(fetched_in(copy).has_ended);
	expect_blocks(trace, copy, "kernel_cpu0", {{998, 1000}});
	append_seconds(trace + "/kernel_cpu0", 1000, 5);
	step_for(forwarding, std::chrono::milliseconds(300));
	fleet_test::write_text(trace + "/.monitor/recording.json",
			       fleet_test::recording_text(fetched_uuid, "complete"));
	step_for(forwarding, std::chrono::milliseconds(600));
	expect_blocks(trace, copy, "kernel_cpu0", {{998, 1002}});
	CHECK(fetched_in(copy).has_ended);
	CHECK(fetched_in(copy).blocks() == 1315);
	CHECK(read_file(copy + "/.monitor/recording.json", 1000).find("\"complete\"") != std::string::npos);
}

TEST_CASE("fleet fetch: without an end, what was recorded until the host got the request, also of streams found later")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace", "incomplete"),
			  copy = directory.path() + "/run/h";
	const std::string boot = read_text("/proc/sys/kernel/random/boot_id", 64);
	const auto say_state = [&](const char *state) {
		fleet_test::write_text(trace + "/.monitor/recording.json",
				       R"({"state": ")" + std::string(state) + R"(", "uuid": ")" +
					   uuid_digits(fetched_uuid) + R"(", "boot_id": ")" +
					   boot.substr(0, boot.find('\n')) + "\"}");
	};
	say_state("incomplete");
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	Forwarding forwarding(link, {});
	TailOptions options = on_demand();
	options.max_age = std::chrono::milliseconds(0);
	FetchRequest request{"r", "one", 0, 0, all_ns, false};
	request.received_ticks = 999 * second_ns + second_ns / 2;
	forwarding.fetch(request); // nothing of the trace is known yet
	forwarding.add(trace, options);
	REQUIRE(fetch_until(forwarding, copy, "one"));
	const FetchedTrace::Window until_then(0, origin_s * second_ns + request.received_ticks);
	CHECK(fetched_in(copy).windows == std::vector{until_then});
	append_seconds(trace + "/kernel_cpu0", 1000, 50);
	append_seconds(trace + "/kernel_cpu2", 0, 1050);
	step_for(forwarding, std::chrono::milliseconds(500));
	expect_blocks(trace, copy, "kernel_cpu0", {{0, 1000}});
	expect_blocks(trace, copy, "kernel_cpu2", {{0, 1000}});
	request.nonce = "two"; // after the end it is all
	say_state("complete");
	step_for(forwarding, std::chrono::milliseconds(300));
	forwarding.fetch(request);
	REQUIRE(forward_all(forwarding));
	CHECK(fetched_in(copy).windows == std::vector{FetchedTrace::Window(0, all_ns)});
	CHECK(fetched_in(copy).is_whole());
}

TEST_CASE("fleet fetch: a stream that goes on does not hold up the word that a request was obeyed")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace", "incomplete");
	TailOptions options = on_demand();
	options.max_age = std::chrono::milliseconds(0);
	TraceTail tail(trace, options);
	Steady::time_point now = Steady::now();
	std::string said; // of the copy
	const auto send_descriptions = [&] {
		while (const auto content = tail.next_description(now)) {
			if (content->file == fetched_file)
				said = FetchedTrace::parse(content->bytes).value().request;
			tail.description_stored(content->file, content->hash);
		}
	};
	const auto look = [&] {
		now += std::chrono::seconds(10);
		tail.scan(now);
		send_descriptions();
	};
	look();
	tail.fetch(window_of(100, 200, "one"));
	send_descriptions();
	CHECK(said == ""); // it has not looked since
	look();
	CHECK(said == "");
	for (unsigned i = 0; i < 10; ++i) {
		std::vector<BlockRun> on_their_way;
		while (const auto run = tail.next_blocks(now))
			on_their_way.push_back(*run);
		append_seconds(trace + "/recorder", 10 + i, 1); // of which all is wanted
		look();
		CHECK(said == (i == 0 ? "" : "one"));
		for (const BlockRun &run : on_their_way)
			tail.stored(run, 0);
	}
}

TEST_CASE("fleet fetch: what was refused is not here, also for an agent that is started again")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace"), progress = directory.path() + "/progress",
			  copy = directory.path() + "/run/h";
	{
		const Fd file = open_file(trace + "/kernel_cpu0", O_WRONLY);
		REQUIRE(::pwrite(file.get(), "xxxx", 4, 20 * block_bytes + offsetof(edc_block, uuid)) == 4);
	}
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	{
		Forwarding forwarding(link, {});
		forwarding.add(trace, on_demand(progress));
		forwarding.fetch(window_of(10, 30, "one"));
		REQUIRE(fetch_until(forwarding, copy, "one"));
		CHECK(forwarding.accounts()[0].refused == 1);
		forwarding.save();
	}
	Forwarding forwarding(link, {});
	forwarding.add(trace, on_demand(progress));
	forwarding.fetch(window_of(40, 41, "two"));
	REQUIRE(fetch_until(forwarding, copy, "two"));
	const auto here = fetched_in(copy).streams["kernel_cpu0"].present.ranges();
	CHECK(std::vector<BlockRanges::Range>(here.begin(), here.end()) ==
	      std::vector<BlockRanges::Range>{{10, 20}, {21, 31}, {40, 42}});
}

TEST_CASE("fleet fetch: each block by itself, if that was asked for")
{
	const FleetDirectory directory;
	const std::string trace = kept_trace(directory.path() + "/trace");
	unsigned sent[2];
	for (const Forward forward : {Forward::batch, Forward::each}) {
		BadLink link(1, 0);
		link.open(directory.path() + '/' + forward_text(forward));
		Forwarding forwarding(link, {});
		TailOptions options = on_demand();
		options.forward = forward;
		forwarding.add(trace, options);
		REQUIRE(forward_all(forwarding));
		CHECK(fleet_test::is_same_trace(trace, directory.path() + '/' + forward_text(forward) + "/h"));
		sent[forward == Forward::each] = link.sent;
		CHECK(forwarding.sent().messages == link.sent);
		CHECK(forwarding.sent().bytes > 1310 * block_bytes);
	}
	CHECK(sent[1] - sent[0] == 1310 - (1 + 16 + 5)); // of 10, 1000 and 300 blocks
}

TEST_CASE("fleet fetch: a full spool drops what stays on the host, oldest first, and says so")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool";
	kept_trace(spool + "/r");
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	Forwarding forwarding(link, {});
	const auto no = [](const std::string &) { return false; };
	const auto stays = [](const std::string &) { return Forward::on_demand; };
	Spool(spool, 1ull << 40, forwarding, no, {}, stays).step();
	REQUIRE(fetch_until(forwarding, directory.path() + "/run/h", ""));
	const std::vector<KeptTrace> kept = forwarding.kept();
	REQUIRE(kept.size() == 1);
	CHECK(kept[0].run == "r");
	CHECK(kept[0].blocks == 1310);
	REQUIRE(kept[0].span);
	CHECK(*kept[0].span ==
	      FetchedTrace::Window(origin_s * second_ns, (origin_s + 999) * second_ns + second_ns / 2));
	std::vector<std::string> sentences;
	Spool full(
	    spool, 0, forwarding, no, [&](const std::string &sentence) { sentences.push_back(sentence); }, stays);
	full.step();
	CHECK(full.account().dropped == 1);
	CHECK(full.account().dropped_blocks == 1310);
	REQUIRE(sentences.size() == 1);
	CHECK(sentences[0].find("r was dropped, 1310 of its blocks") != std::string::npos);
}

TEST_CASE("fleet fetch: progress keeps what was asked for, and blocks far apart")
{
	TraceProgress progress;
	progress.uuid = fetched_uuid;
	progress.wanted.forward = Forward::on_demand;
	progress.wanted.request = "n";
	progress.wanted.windows = {{5, 6}, {0, all_ns}};
	progress.streams["a"].add(100, 5);
	progress.absent["a"].add(102, 1);
	TraceProgress read;
	REQUIRE(read.parse(progress.text(), fetched_uuid));
	CHECK(read.wanted.forward == Forward::on_demand);
	CHECK(read.wanted.request == "n");
	CHECK(read.wanted.windows == progress.wanted.windows);
	CHECK(read.streams["a"].has({100, 105}));
	CHECK(read.stored_blocks() == 5);
	CHECK(read.absent["a"].missing({101, 104}) == BlockRanges::Range(101, 102));
	CHECK(read.absent["a"].has({102, 103}));
	read.start_again(7);
	CHECK(read.absent.empty()); // the next collector may take it
	CHECK(read.wanted.windows.size() == 2);
	CHECK(read.stored_blocks() == 0);
	REQUIRE(read.parse(
	    "{\"uuid\":\"" + uuid_digits(fetched_uuid) +
		R"(","store":"x","forward":"never","windows":[[2,1],5],"absent":{"a":[[2,1]],"../x":[[1,2]]},"ranges":{"a":[[9,3],[1]],"../x":[[1,2]]}})",
	    fetched_uuid));
	CHECK_FALSE(read.wanted.forward);
	CHECK(read.wanted.windows.empty());
	CHECK(read.stored_blocks() == 0);
	CHECK(read.absent.empty());
}

} // namespace test_fleet_fetch
