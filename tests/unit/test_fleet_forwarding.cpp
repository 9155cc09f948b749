// SPDX-License-Identifier: MIT
// From a trace directory to the collector's over a link that loses, doubles and reorders: fleet/forward/forwarding
// with fleet/collector/collector. Whatever happens, the copy is the same, bit by bit.
#include "fleet/forward/spool.h"
#include "fleet_link.h"

using namespace monitor;
using namespace monitor::fleet;
using namespace fleet_test;

namespace {

const Uuid traced_uuid = fleet_test::uuid_of(7);

} // namespace

TEST_CASE("fleet forwarding: a bad link changes nothing")
{
	for (const unsigned seed : {1u, 2u, 3u}) {
		const FleetDirectory directory;
		const std::string trace = directory.path() + "/trace", run = directory.path() + "/run";
		make_trace(trace, traced_uuid, "complete", 1500);
		BadLink link(seed, seed == 1 ? 0 : 0.2);
		link.open(run);
		Forwarding forwarding(link, {});
		forwarding.add(trace, {});
		REQUIRE(forward_all(forwarding));
		CHECK(is_same_trace(trace, run + "/h"));
		const auto account = forwarding.accounts()[0];
		CHECK(account.recorded == 1500 + 501);
		CHECK(account.stored == account.recorded);
		CHECK(account.conflicts + account.refused + account.vanished == 0);
		CHECK((link.lost > 0) == (seed != 1));
	}
}

TEST_CASE("fleet forwarding: a recording is followed to its end, recording.json goes last")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", run = directory.path() + "/run";
	make_trace(trace, traced_uuid, "incomplete", 10);
	BadLink link(1, 0);
	link.open(run);
	Forwarding forwarding(link, {});
	TailOptions options;
	options.max_age = std::chrono::milliseconds(0);
	forwarding.add(trace, options);
	const auto follow = [&] {
		const Steady::time_point end = Steady::now() + std::chrono::milliseconds(400);
		while (Steady::now() < end)
			forwarding.step(end);
	};
	follow();
	CHECK_FALSE(forwarding.is_complete());
	CHECK(fs::file_size(run + "/h/kernel_cpu0") == 10 * block_bytes);
	CHECK(read_file(run + "/h/.monitor/recording.json", 1000).find("incomplete") != std::string::npos);
	append_blocks(trace + "/kernel_cpu0", traced_uuid, 10, 90);
	append_blocks(trace + "/user_5_cpu1", traced_uuid, 0, 3);
	const Fd part = open_file(trace + "/user_5_cpu1", O_WRONLY | O_APPEND);
	write_all(part.get(), std::as_bytes(std::span("half a block")), "");
	follow();
	CHECK(fs::file_size(run + "/h/user_5_cpu1") == 3 * block_bytes);
	link.close(); // no collector when it ends
	write_text(trace + "/metadata", "the last one");
	write_text(trace + "/.monitor/recording.json", recording_text(traced_uuid, "complete"));
	follow();
	CHECK_FALSE(forwarding.is_complete());
	link.open(run);
	REQUIRE(forward_all(forwarding));
	fs::resize_file(trace + "/user_5_cpu1", 3 * block_bytes);
	CHECK(is_same_trace(trace, run + "/h"));
}

TEST_CASE("fleet forwarding: no collector says complete before it is")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", copy = directory.path() + "/run/h";
	make_trace(trace, traced_uuid, "complete", 100);
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	link.drops_batches = true;
	Forwarding forwarding(link, {});
	forwarding.add(trace, {});
	CHECK_FALSE(forward_all(forwarding, std::chrono::seconds(1)));
	CHECK(fs::exists(copy + "/metadata"));
	CHECK(fs::exists(copy + "/.monitor/names"));
	CHECK_FALSE(fs::exists(copy + "/.monitor/recording.json"));
	link.drops_batches = false;
	link.break_off();
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(trace, copy));
}

TEST_CASE("fleet forwarding: a killed recorder's trace ends when its owner says so")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace";
	make_trace(trace, traced_uuid, "incomplete", 10);
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	Forwarding forwarding(link, {});
	forwarding.add(trace, {});
	CHECK_FALSE(forward_all(forwarding, std::chrono::seconds(1)));
	forwarding.set_ended(trace);
	CHECK(forward_all(forwarding));
	CHECK(is_same_trace(trace, directory.path() + "/run/h"));
}

TEST_CASE("fleet forwarding: what is stored is not sent again by the next agent")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", run = directory.path() + "/run";
	make_trace(trace, traced_uuid, "complete", 300);
	TailOptions options;
	options.progress_file = directory.path() + "/progress";
	{
		BadLink link(1, 0);
		link.open(run);
		Forwarding forwarding(link, {});
		forwarding.add(trace, options);
		REQUIRE(forward_all(forwarding));
		forwarding.save();
	}
	BadLink link(1, 0);
	link.open(run);
	{
		Forwarding forwarding(link, {});
		forwarding.add(trace, options);
		forwarding.step(Steady::now());
		CHECK(forwarding.is_complete());
		CHECK(link.sent == 0);
	}
	// half of it
	auto json = parse_json<nlohmann::ordered_json>(read_file(options.progress_file, 1 << 20));
	json["complete"] = false;
	json["streams"]["kernel_cpu0"] = 200;
	write_text(options.progress_file, json.dump());
	Forwarding forwarding(link, {});
	forwarding.add(trace, options);
	CHECK(forward_all(forwarding));
	CHECK(link.sent == 2); // 64 blocks and 36
	CHECK(is_same_trace(trace, run + "/h"));
}

TEST_CASE("fleet forwarding: a collector with another directory gets all of it")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace";
	make_trace(trace, traced_uuid, "incomplete", 100);
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	std::vector<std::string> sentences;
	Forwarding forwarding(link, [&](const std::string &sentence) { sentences.push_back(sentence); });
	forwarding.add(trace, {});
	CHECK_FALSE(forward_all(forwarding, std::chrono::seconds(1)));
	link.close();
	link.open(directory.path() + "/another");
	append_blocks(trace + "/kernel_cpu0", traced_uuid, 100, 100);
	forwarding.set_ended(trace);
	CHECK(forward_all(forwarding));
	CHECK(is_same_trace(trace, directory.path() + "/another/h"));
	CHECK(sentences.size() == 1);
}

TEST_CASE("fleet forwarding: a collector that is started again and again gets all of it")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", run = directory.path() + "/run";
	make_trace(trace, traced_uuid, "complete", 100);
	BadLink link(1, 0);
	link.open(run);
	Forwarding forwarding(link, {});
	forwarding.add(trace, {});
	for (int i = 0; i < 20; ++i) {
		forwarding.step(Steady::now() + std::chrono::milliseconds(20));
		link.close();
		link.open(run);
	}
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(trace, run + "/h"));
	CHECK(forwarding.accounts()[0].refused_files == 0);
}

TEST_CASE("fleet forwarding: what contradicts, is damaged or is gone is counted")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", twin = directory.path() + "/twin",
			  run = directory.path() + "/run";
	make_trace(trace, traced_uuid, "complete", 100);
	make_trace(twin, traced_uuid, "complete", 0);
	append_blocks(twin + "/kernel_cpu0", traced_uuid, 0, 50);
	append_blocks(twin + "/kernel_cpu0", traced_uuid, 50, 20, 5);
	BadLink link(1, 0);
	link.open(run);
	{
		Forwarding forwarding(link, {});
		forwarding.add(trace, {});
		REQUIRE(forward_all(forwarding));
	}
	{
		Forwarding forwarding(link, {});
		forwarding.add(twin, {});
		REQUIRE(forward_all(forwarding));
		CHECK(forwarding.accounts()[0].conflicts == 20);
		CHECK(forwarding.accounts()[0].stored == 51);
	}
	const std::string damaged = directory.path() + "/damaged";
	const Uuid other = fleet_test::uuid_of(8);
	make_trace(damaged, other, "complete", 70);
	const Fd file = open_file(damaged + "/kernel_cpu0", O_WRONLY);
	REQUIRE(::pwrite(file.get(), "xxxx", 4, 3 * block_bytes) == 4);
	Forwarding forwarding(link, {});
	forwarding.add(damaged, {});
	REQUIRE(forward_all(forwarding));
	CHECK(forwarding.accounts()[0].refused == 1);
	CHECK(forwarding.accounts()[0].stored == 70 + 24 - 1);
}

TEST_CASE("fleet forwarding: a trace that no collector takes holds up no other")
{
	const FleetDirectory directory;
	const std::string first = directory.path() + "/first", second = directory.path() + "/second";
	make_trace(first, fleet_test::uuid_of(1), "complete", 6000); // fills the window
	BadLink link(1, 0);
	Forwarding forwarding(link, {});
	TailOptions options;
	options.run = "one";
	forwarding.add(first, options);
	CHECK_FALSE(forward_all(forwarding, std::chrono::seconds(1))); // nobody is there
	make_trace(second, fleet_test::uuid_of(2), "complete", 300);
	options.run = "two";
	forwarding.add(second, options);
	link.open(directory.path() + "/run2", "two");
	const Steady::time_point end = Steady::now() + std::chrono::seconds(20);
	while (!forwarding.accounts()[1].is_complete && Steady::now() < end)
		forwarding.step(Steady::now() + std::chrono::milliseconds(20));
	REQUIRE(forwarding.accounts()[1].is_complete);
	CHECK(is_same_trace(second, directory.path() + "/run2/h"));
	CHECK(forwarding.accounts()[0].stored == 0);
	CHECK_FALSE(fs::exists(directory.path() + "/run2/h/" + uuid_digits(fleet_test::uuid_of(1))));
	const unsigned sent = link.sent;
	CHECK_FALSE(forward_all(forwarding, std::chrono::seconds(3)));
	CHECK(link.sent - sent <= 4); // it asks now and then, with one message
	link.close();
	link.open(directory.path() + "/run1", "one");
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(first, directory.path() + "/run1/h"));
}

TEST_CASE("fleet forwarding: collectors of two runs at once get theirs")
{
	const FleetDirectory directory;
	const std::string one = directory.path() + "/one", two = directory.path() + "/two";
	make_trace(one, fleet_test::uuid_of(1), "complete", 1500);
	make_trace(two, fleet_test::uuid_of(2), "complete", 1500);
	BadLink link(1, 0), other(2, 0);
	link.also = &other;
	link.open(directory.path() + "/run1", "one");
	other.open(directory.path() + "/run2", "two");
	Forwarding forwarding(link, {});
	TailOptions options;
	options.run = "one";
	forwarding.add(one, options);
	options.run = "two";
	forwarding.add(two, options);
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(one, directory.path() + "/run1/h"));
	CHECK(is_same_trace(two, directory.path() + "/run2/h"));
	CHECK(forwarding.sent_again() < 200); // of 70 messages
}

TEST_CASE("fleet forwarding: what cannot be read now is read later, what is gone is counted")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", run = directory.path() + "/run";
	make_trace(trace, traced_uuid, "complete", 300);
	BadLink link(1, 0);
	link.open(run);
	std::vector<std::string> sentences;
	Forwarding forwarding(link, [&](const std::string &sentence) { sentences.push_back(sentence); });
	forwarding.add(trace, {});
	forwarding.step(Steady::now());
	fs::rename(trace + "/kernel_cpu1", directory.path() + "/kept");
	// a directory: it can be opened, but pread() fails with another errno than ENOENT
	fs::create_directory(trace + "/kernel_cpu1");
	TraceTail tail(trace, {});
	std::vector<std::byte> bytes(block_bytes);
	CHECK(tail.read({"kernel_cpu1", 0, 1}, bytes) == EISDIR);
	CHECK(tail.progress().vanished == 0);
	fs::remove(trace + "/kernel_cpu1");
	CHECK(tail.read({"kernel_cpu1", 0, 1}, bytes) == ENOENT);
	CHECK(tail.progress().vanished == 1);
	fs::rename(directory.path() + "/kept", trace + "/kernel_cpu1");
	CHECK(tail.read({"kernel_cpu1", 0, 1}, bytes) == 0);
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(trace, run + "/h"));
}

TEST_CASE("fleet forwarding: descriptors that are used up for a while lose nothing")
{
	const FleetDirectory directory;
	const std::string trace = directory.path() + "/trace", run = directory.path() + "/run";
	make_trace(trace, traced_uuid, "complete", 3000);
	for (const char *stream : {"/kernel_cpu2", "/kernel_cpu3"})
		append_blocks(trace + stream, traced_uuid, 0, 3000);
	BadLink link(1, 0);
	std::vector<std::string> sentences;
	Forwarding forwarding(link, [&](const std::string &sentence) { sentences.push_back(sentence); });
	forwarding.add(trace, {});
	link.open(run);
	link.drops_batches = true;
	CHECK_FALSE(
	    forward_all(forwarding, std::chrono::seconds(1))); // blocks are on their way; descriptions are stored
	link.drops_batches = false;
	link.break_off();
	std::vector<Fd> used;
	while (true) {
		Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
		if (!fd)
			break;
		used.push_back(std::move(fd));
	}
	const Steady::time_point end = Steady::now() + std::chrono::seconds(1);
	while (Steady::now() < end)
		try {
			forwarding.step(Steady::now() + std::chrono::milliseconds(20));
		} catch (const Error &) { // of a description
		}
	used.clear();
	CHECK(std::ranges::any_of(sentences, [](const auto &each) { return each.find("cannot read") != each.npos; }));
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(trace, run + "/h"));
	CHECK(forwarding.accounts()[0].vanished == 0);
}

TEST_CASE("fleet spool: what was refused is not taken for stored")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool";
	fs::create_directories(spool);
	make_trace(spool + "/damaged", traced_uuid, "complete", 50);
	{
		const Fd file = open_file(spool + "/damaged/kernel_cpu0", O_WRONLY);
		REQUIRE(::pwrite(file.get(), "xxxx", 4, 3 * block_bytes) == 4);
	}
	BadLink link(1, 0);
	link.open(directory.path() + "/run");
	Forwarding forwarding(link, {});
	const auto no = [](const std::string &) { return false; };
	Spool(spool, 1ull << 40, forwarding, no, {}).step();
	REQUIRE(forward_all(forwarding));
	std::vector<std::string> sentences;
	Spool full(spool, 0, forwarding, no, [&](const std::string &sentence) { sentences.push_back(sentence); });
	full.step();
	CHECK(full.account().removed == 0);
	CHECK(full.account().dropped == 1);
	CHECK(full.account().dropped_blocks == 1);
	CHECK(sentences.size() == 1);
}

TEST_CASE("fleet spool: what is stored makes room first, then the oldest is dropped whole")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool", run = directory.path() + "/run";
	fs::create_directories(spool);
	BadLink link(1, 0);
	link.open(run);
	Forwarding forwarding(link, {});
	std::vector<std::string> sentences;
	std::string running = "none";
	const auto report = [&](const std::string &sentence) { sentences.push_back(sentence); };
	const auto make_old = [&](const std::string &name, int age_s) {
		for (const fs::directory_entry &entry : fs::recursive_directory_iterator(spool + '/' + name))
			if (entry.is_regular_file())
				fs::last_write_time(entry,
						    fs::file_time_type::clock::now() - std::chrono::seconds(age_s));
	};
	make_trace(spool + "/stored", fleet_test::uuid_of(1), "complete", 1000);
	{
		Spool filling(
		    spool, 1ull << 40, forwarding, [](const std::string &) { return false; }, report);
		filling.step();
		REQUIRE(forward_all(forwarding));
		filling.step();
		CHECK(filling.account().removed == 0); // there is room
	}
	link.close();
	make_trace(spool + "/oldest", fleet_test::uuid_of(2), "complete", 1000);
	make_trace(spool + "/newer", fleet_test::uuid_of(3), "complete", 1000);
	make_trace(spool + "/runs", fleet_test::uuid_of(4), "incomplete", 1000);
	make_old("stored", 10);
	make_old("oldest", 50);
	make_old("newer", 40);
	make_old("runs", 90);
	Spool limited(
	    spool, 13'000'000, forwarding, [](const std::string &name) { return name == "runs"; }, report);
	limited.step();
	forwarding.step(Steady::now());
	limited.step();
	CHECK_FALSE(fs::exists(spool + "/stored"));
	CHECK_FALSE(fs::exists(spool + "/oldest"));
	CHECK(fs::exists(spool + "/newer"));
	CHECK(fs::exists(spool + "/runs/kernel_cpu0"));
	CHECK(limited.account().removed == 1);
	CHECK(limited.account().dropped == 1);
	REQUIRE(sentences.size() == 1);
	CHECK(sentences[0].find("oldest") != std::string::npos);
	// the count survives the agent; the rest is stored when a collector comes
	Spool again(
	    spool, 13'000'000, forwarding, [](const std::string &name) { return name == "runs"; }, report);
	CHECK(again.account().dropped == 1);
	link.open(run);
	write_text(spool + "/runs/.monitor/recording.json", recording_text(fleet_test::uuid_of(4), "complete"));
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(spool + "/newer", run + "/h/" + uuid_digits(fleet_test::uuid_of(3))));
}

TEST_CASE("fleet spool: an agent that starts with a full spool learns first what is stored")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool", run = directory.path() + "/run";
	fs::create_directories(spool);
	make_trace(spool + "/older", fleet_test::uuid_of(1), "complete", 300);
	BadLink link(1, 0);
	link.open(run);
	const auto no = [](const std::string &) { return false; };
	std::vector<std::string> sentences;
	const auto report = [&](const std::string &sentence) { sentences.push_back(sentence); };
	make_trace(spool + "/stored", fleet_test::uuid_of(2), "complete", 300);
	for (const fs::directory_entry &entry : fs::recursive_directory_iterator(spool + "/older"))
		fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::seconds(60));
	fs::rename(spool + "/older", directory.path() + "/older");
	{
		Forwarding forwarding(link, {});
		Spool(spool, 1ull << 40, forwarding, no, report).step();
		REQUIRE(forward_all(forwarding));
		forwarding.save();
	}
	fs::rename(directory.path() + "/older", spool + "/older");
	link.close();
	Forwarding forwarding(link, report);
	Spool full(spool, 3'000'000, forwarding, no, report); // room for one of them
	full.step();
	CHECK(sentences.empty());
	CHECK(fs::exists(spool + "/older"));
	forwarding.step(Steady::now());
	full.step();
	CHECK(full.account().removed == 1);
	CHECK(full.account().dropped == 0);
	CHECK_FALSE(fs::exists(spool + "/stored"));
	CHECK(fs::exists(spool + "/older/kernel_cpu0"));
}

TEST_CASE("fleet spool: what was about to be dropped when the agent was killed is counted once, if it is gone")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool";
	fs::create_directories(spool + "/.forwarded");
	fs::create_directories(spool + "/.removed/half");
	BadLink link(1, 0);
	Forwarding forwarding(link, {});
	const auto open = [&] {
		return Spool(spool, 1ull << 40, forwarding, [](const std::string &) { return false; }, {}).account();
	};
	const auto killed = [&](const std::string &run) {
		write_text(spool + "/.forwarded/.dropped", R"({"removed":1,"dropped":2,"dropped_blocks":30,"going":")" +
							       run + R"(","going_blocks":7})");
	};
	killed("gone");
	CHECK(open().dropped == 3);
	CHECK(open().dropped_blocks == 37);
	CHECK_FALSE(fs::exists(spool + "/.removed"));
	fs::create_directories(spool + "/there");
	killed("there");
	CHECK(open().dropped == 2);
	CHECK(open().dropped_blocks == 30);
	killed("../x");
	CHECK(open().dropped == 2);
	for (const char *text : {"", "[]", R"({"dropped":-1,"going":5})"}) {
		write_text(spool + "/.forwarded/.dropped", text);
		CHECK(open().dropped == 0);
	}
}

TEST_CASE("fleet spool: a trace that is never understood is dropped in the end")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool";
	make_trace(spool + "/damaged", traced_uuid, "complete", 30);
	write_text(spool + "/damaged/.monitor/recording.json", "{");
	BadLink link(1, 0);
	Forwarding forwarding(link, {});
	Spool full(
	    spool, 0, forwarding, [](const std::string &) { return false; }, [](const std::string &) {});
	full.step();
	forwarding.step(Steady::now());
	full.step();
	CHECK(fs::exists(spool + "/damaged"));
	full.step(Steady::now() + std::chrono::seconds(11));
	CHECK(full.account().dropped_blocks == 30 + 11);
	CHECK_FALSE(fs::exists(spool + "/damaged"));
}

TEST_CASE("fleet spool: snapshots of a flight recorder, of one uuid, are traces of their own")
{
	const FleetDirectory directory;
	const std::string spool = directory.path() + "/spool", run = directory.path() + "/run";
	fs::create_directories(spool + "/flight/.monitor");
	write_text(spool + "/flight/.monitor/flight.json", "{}");
	BadLink link(1, 0);
	link.open(run);
	Forwarding forwarding(link, {});
	Spool follows(spool, 1ull << 40, forwarding, [](const std::string &) { return true; }, {});
	follows.step();
	CHECK(forwarding.accounts().empty());
	make_trace(spool + "/flight/snapshot-1", traced_uuid, "complete", 50);
	make_trace(spool + "/flight/snapshot-2", traced_uuid, "complete", 90);
	append_blocks(spool + "/flight/snapshot-2/kernel_cpu2", traced_uuid, 0, 9, 1);
	follows.step();
	REQUIRE(forwarding.accounts().size() == 2);
	REQUIRE(forward_all(forwarding));
	CHECK(is_same_trace(spool + "/flight/snapshot-1", run + "/h/snapshot-1"));
	CHECK(is_same_trace(spool + "/flight/snapshot-2", run + "/h/snapshot-2"));
	forwarding.save();
	CHECK(fs::exists(spool + "/.forwarded/flight~snapshot-1"));
	Spool ended(spool, 0, forwarding, [](const std::string &) { return false; }, {});
	ended.step();
	CHECK(ended.account().removed == 1);
	CHECK_FALSE(fs::exists(spool + "/flight"));
	CHECK_FALSE(fs::exists(spool + "/.forwarded/flight~snapshot-1"));
}
