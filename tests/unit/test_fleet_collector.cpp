// SPDX-License-Identifier: MIT
// What the collector does with what arrives: fleet/collector/, without a network.
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "fleet/collector/clock_answers.h"
#include "fleet/collector/collector.h"
#include "fleet_blocks.h"

using namespace monitor;
using namespace monitor::fleet;
namespace fs = std::filesystem;

namespace {

class TemporaryRun {
public:
	TemporaryRun()
	{
		std::string name =
		    ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/fleet-test-XXXXXX" : "/tmp/fleet-test-XXXXXX";
		REQUIRE(::mkdtemp(name.data()));
		path_ = name;
	}
	~TemporaryRun() { fs::remove_all(path_); }
	std::string path() const { return path_ + "/run"; }

private:
	std::string path_;
};

// A collector whose answers can be waited for.
struct Answering {
	explicit Answering(const std::string &path, const std::string &run = "")
	    : collector(
		  path, run,
		  [this](const std::string &reply, const Answer &answer) {
			  const std::lock_guard lock(mutex);
			  answers[reply] = answer;
			  came.notify_all();
		  },
		  [this](const std::string &sentence) { sentences.push_back(sentence); })
	{
	}

	Answer answer()
	{
		std::unique_lock lock(mutex);
		const std::string reply = std::to_string(number);
		REQUIRE(came.wait_for(lock, std::chrono::seconds(10), [&] { return answers.contains(reply); }));
		return answers[reply];
	}

	Answer send(const std::string &host, const Uuid &uuid, std::uint64_t first, unsigned count,
		    const std::string &stream = "kernel_cpu0", unsigned content = 0)
	{
		std::vector<std::byte> message;
		Batch batch;
		batch.session = session;
		batch.trace = {run, uuid, ""};
		batch.stream = stream;
		batch.first_block = first;
		const auto blocks = encode_batch(batch, count * block_bytes, message);
		for (unsigned i = 0; i < count; ++i)
			fleet_test::fill_block(blocks.subspan(i * block_bytes, block_bytes), uuid, 1, first + i,
					       content);
		collector.batch(host, message, std::to_string(++number));
		return answer();
	}

	Answer send_piece(const std::string &host, const std::string &file, const std::string &text, std::size_t offset,
			  std::size_t bytes)
	{
		std::vector<std::byte> message;
		Piece piece;
		piece.session = session;
		piece.trace = {run, fleet_test::uuid_of(1), ""};
		piece.file = file;
		piece.hash = content_hash(std::as_bytes(std::span(text)));
		piece.file_bytes = text.size();
		piece.offset = offset;
		const auto to = encode_piece(piece, bytes, message);
		std::memcpy(to.data(), text.data() + offset, bytes);
		collector.piece(host, message, std::to_string(++number));
		return answer();
	}

	std::mutex mutex;
	std::condition_variable came;
	std::map<std::string, Answer> answers;
	std::vector<std::string> sentences;
	unsigned number = 0;
	std::uint64_t session = 1;
	std::string run;
	Collector collector;
};

bool has_blocks(const std::string &path, unsigned count, const Uuid &uuid)
{
	const std::string text = read_file(path, 1 << 24);
	std::vector<std::byte> expected(count * block_bytes);
	for (unsigned i = 0; i < count; ++i)
		fleet_test::fill_block(std::span(expected).subspan(i * block_bytes, block_bytes), uuid, 1, i);
	return text.size() == expected.size() && std::memcmp(text.data(), expected.data(), text.size()) == 0;
}

const Uuid stored_uuid = fleet_test::uuid_of(1), second_uuid = fleet_test::uuid_of(2);

} // namespace

TEST_CASE("fleet collector: blocks are placed by their number, in any order, again and again")
{
	const TemporaryRun run;
	Answering at(run.path());
	CHECK(at.send("h", stored_uuid, 64, 36).status == Status::stored);
	CHECK(at.send("h", stored_uuid, 0, 64).status == Status::stored);
	CHECK(at.send("h", stored_uuid, 30, 64).status == Status::stored);
	CHECK(at.send("h", stored_uuid, 30, 64).conflicts == 0);
	CHECK(has_blocks(run.path() + "/h/kernel_cpu0", 100, stored_uuid));
	const auto host = at.collector.accounts()["hosts"][0];
	CHECK(host["blocks"] == 100);
	CHECK(host["repeated"] == 128);
	CHECK(host["conflicts"] == 0);
}

TEST_CASE("fleet collector: a block that contradicts is kept aside, the first one stays")
{
	const TemporaryRun run;
	Answering at(run.path());
	at.send("h", stored_uuid, 0, 4);
	const Answer answer = at.send("h", stored_uuid, 2, 4, "kernel_cpu0", 9);
	CHECK(answer.status == Status::stored);
	CHECK(answer.conflicts == 2);
	const std::string text = read_file(run.path() + "/h/kernel_cpu0", 1 << 20);
	CHECK(text.size() == 6 * block_bytes);
	std::vector<std::byte> first(block_bytes);
	fleet_test::fill_block(first, stored_uuid, 1, 2);
	CHECK(std::memcmp(text.data() + 2 * block_bytes, first.data(), block_bytes) == 0);
	CHECK(at.collector.accounts()["hosts"][0]["conflicts"] == 2);
	CHECK(at.sentences.size() == 1);
	unsigned kept = 0;
	for (const fs::directory_entry &entry : fs::directory_iterator(run.path() + "/.monitor/conflicts")) {
		++kept;
		CHECK(entry.file_size() == block_bytes);
		CHECK(entry.path().filename().string().starts_with("h-"));
	}
	CHECK(kept == 2);
}

TEST_CASE("fleet collector: each trace of a host has its own directory, also after a restart")
{
	const TemporaryRun run;
	std::uint64_t store;
	{
		Answering at(run.path());
		at.send("h", stored_uuid, 0, 3);
		store = at.send("h", second_uuid, 0, 2).store;
		at.send("h.x", second_uuid, 0, 1);
		at.collector.save();
	}
	Answering at(run.path());
	CHECK(at.collector.accounts()["hosts"][0]["blocks"] == 5);
	CHECK(at.send("h", second_uuid, 2, 1).store == store);
	at.send("h", stored_uuid, 0, 4);
	CHECK(has_blocks(run.path() + "/h/kernel_cpu0", 4, stored_uuid));
	CHECK(has_blocks(run.path() + "/h/" + uuid_digits(second_uuid) + "/kernel_cpu0", 3, second_uuid));
	CHECK(has_blocks(run.path() + "/h.x/kernel_cpu0", 1, second_uuid));
	const auto json = parse_json(read_file(run.path() + "/.monitor/collection.json", 1 << 20));
	CHECK(json["parts"].size() == 2);
	CHECK(json["parts"][0]["directory"] == "h");
	CHECK(json["parts"][0]["bound_ns"].is_null());
}

TEST_CASE("fleet collector: one collector writes a run, and only into a run")
{
	const TemporaryRun run;
	Answering at(run.path());
	CHECK_THROWS_AS(Answering(run.path()), Error);
	fs::create_directories(run.path() + "/../other");
	const Fd file = open_file(run.path() + "/../other/file", O_WRONLY | O_CREAT, 0600);
	CHECK_THROWS_AS(Answering(run.path() + "/../other"), Error);
}

TEST_CASE("fleet collector: what is malformed, too far or too much harms nothing")
{
	const TemporaryRun run;
	Answering at(run.path());
	CHECK(at.send("h", stored_uuid, 100'000, 1).status == Status::invalid);
	at.collector.batch("h", std::as_bytes(std::span("garbage")), std::to_string(++at.number));
	CHECK(at.answer().status == Status::invalid);
	at.collector.batch("nobody", std::as_bytes(std::span("garbage")), "nobody");
	at.collector.piece("nobody", std::as_bytes(std::span("garbage")), "nobody");
	CHECK(at.collector.accounts()["hosts"].size() == 1);
	CHECK(at.send("h", stored_uuid, 0, 1, "../x").status == Status::invalid);
	CHECK(at.send("h", stored_uuid, 0, 1, "metadata").status == Status::invalid);
	CHECK(at.send("h", stored_uuid, 0, 1).status == Status::stored);
	CHECK(at.send_piece("h", ".monitor/../../x", "text", 0, 4).status == Status::invalid);
	for (unsigned i = 0; i < max_traces_of_host + 5; ++i) {
		Uuid uuid = second_uuid;
		uuid[7] = static_cast<std::uint8_t>(i);
		uuid[8] = static_cast<std::uint8_t>(i >> 8);
		const Status status = at.send("h", uuid, 0, 1).status;
		CHECK(status == (i + 1 < max_traces_of_host ? Status::stored : Status::invalid));
	}
	CHECK(at.collector.accounts()["hosts"][0]["refused"].size() >= 4);
	CHECK_FALSE(fs::exists(run.path() + "/x"));
	CHECK_FALSE(fs::exists(run.path() + "/../x"));
}

TEST_CASE("fleet collector: only what stays on its host may be far apart, and up to a limit")
{
	const TemporaryRun run;
	Answering at(run.path());
	CHECK(at.send("h", stored_uuid, 100'000, 1).status == Status::invalid);
	const std::string fetched = "{}";
	CHECK(at.send_piece("h", ".monitor/fetched.json", fetched, 0, fetched.size()).status == Status::stored);
	CHECK(at.send("h", stored_uuid, 100'000, 1).status == Status::stored);
	CHECK(at.send("h", stored_uuid, max_stream_blocks - 200'000, 1).status == Status::stored);
	CHECK(at.send("h", stored_uuid, 200'000, 1, "kernel_cpu1").status == Status::invalid); // all of them together
	CHECK(at.send("h", stored_uuid, 100'000, 1, "kernel_cpu1").status == Status::stored);
	CHECK(at.collector.accounts()["hosts"][0]["blocks"] == 3);
}

TEST_CASE("fleet collector: another run's messages are told so, and leave nothing")
{
	const TemporaryRun run;
	Answering at(run.path(), "one");
	at.run = "one";
	CHECK(at.send("h", stored_uuid, 0, 1).status == Status::stored);
	std::vector<std::byte> message;
	Batch batch;
	batch.trace = {"two", stored_uuid, ""};
	batch.stream = "kernel_cpu0";
	fleet_test::fill_block(encode_batch(batch, block_bytes, message), stored_uuid, 1, 0);
	at.collector.batch("other", message, "none");
	REQUIRE(at.answers.contains("none"));
	CHECK(at.answers["none"].status == Status::not_mine);
	CHECK(at.answers["none"].instance != 0);
	CHECK(at.collector.accounts()["hosts"].size() == 1);
	CHECK_THROWS_AS(Answering(run.path(), "two"), Error);
}

TEST_CASE("fleet collector: the session that started last is the host's")
{
	const TemporaryRun run;
	Answering at(run.path());
	at.session = 10;
	CHECK(at.send("h", stored_uuid, 0, 1).status == Status::stored);
	at.session = 11;
	CHECK(at.send("h", stored_uuid, 1, 1).status == Status::stored);
	at.session = 10;
	CHECK(at.send("h", stored_uuid, 2, 1).status == Status::replaced);
	CHECK(at.send("other", stored_uuid, 0, 1).status == Status::stored);
	at.session = 11;
	CHECK(at.send("h", stored_uuid, 2, 1).status == Status::stored);
	CHECK(at.collector.accounts()["hosts"][0]["sessions"] == 2);
}

TEST_CASE("fleet collector: a description takes its place as a whole")
{
	const TemporaryRun run;
	Answering at(run.path());
	const std::string old = "old", text(300'000, 'x'), path = run.path() + "/h/metadata";
	CHECK(at.send_piece("h", "metadata", old, 0, 3).status == Status::stored);
	CHECK(at.send_piece("h", "metadata", text, 1000, 1000).status == Status::start_again);
	CHECK(at.send_piece("h", "metadata", text, 0, 200'000).status == Status::taken);
	CHECK(read_file(path, 1 << 20) == old);
	CHECK(at.send_piece("h", "metadata", text, 100'000, 200'000).status == Status::start_again);
	CHECK(at.send_piece("h", "metadata", text, 200'000, 100'000).status == Status::stored);
	CHECK(read_file(path, 1 << 20) == text);
	CHECK(at.send_piece("h", ".monitor/recording.json", "", 0, 0).status == Status::stored);
	CHECK(fs::file_size(run.path() + "/h/.monitor/recording.json") == 0);
	CHECK(fs::is_empty(run.path() + "/.monitor/incoming"));
}

TEST_CASE("fleet collector: a description that changed on its way is not taken")
{
	const TemporaryRun run;
	Answering at(run.path());
	const std::string text = "0123456789";
	std::vector<std::byte> message;
	Piece piece;
	piece.session = 1;
	piece.trace = {"", stored_uuid, ""};
	piece.file = "metadata";
	piece.hash = content_hash(std::as_bytes(std::span(text))) ^ 1;
	piece.file_bytes = text.size();
	std::memcpy(encode_piece(piece, text.size(), message).data(), text.data(), text.size());
	at.collector.piece("h", message, std::to_string(++at.number));
	CHECK(at.answer().status == Status::start_again);
	CHECK_FALSE(fs::exists(run.path() + "/h/metadata"));
}

TEST_CASE("fleet collector: what cannot be opened is refused, and the rest goes on")
{
	const TemporaryRun run;
	Answering at(run.path());
	at.send("h", stored_uuid, 0, 1);
	fs::create_directory(run.path() + "/h/full");
	CHECK(at.send("h", stored_uuid, 0, 1, "full").status == Status::invalid);
	if (::access("/dev/full", W_OK) == 0) {
		fs::create_symlink("/dev/full", run.path() + "/h/link");
		CHECK(at.send("h", stored_uuid, 0, 1, "link").status == Status::invalid); // is not followed
	}
	CHECK(at.send("h", stored_uuid, 1, 1).status == Status::stored);
}

TEST_CASE("fleet collector: what it cannot store now is not refused for good")
{
	const TemporaryRun run;
	Answering at(run.path());
	at.send("h", stored_uuid, 0, 1);
	fs::rename(run.path() + "/h", run.path() + "/away");
	CHECK(at.send("h", stored_uuid, 1, 1).status == Status::later);
	CHECK(at.send("h", stored_uuid, 0, 1, "kernel_cpu1").status == Status::later);
	CHECK(at.send_piece("h", "metadata", "text", 0, 4).status == Status::later);
	fs::rename(run.path() + "/away", run.path() + "/h");
	CHECK(at.send("h", stored_uuid, 1, 1).status == Status::stored);
	CHECK(has_blocks(run.path() + "/h/kernel_cpu0", 2, stored_uuid));
}

TEST_CASE("fleet collector: nothing is stored in a trace that the accounts do not have")
{
	const TemporaryRun run;
	Answering at(run.path());
	CHECK(at.send("other", stored_uuid, 0, 1).status == Status::stored);
	const std::string accounts = run.path() + "/.monitor/fleet.json";
	fs::remove(accounts);
	fs::create_directories(accounts + "/in-the-way"); // they cannot be replaced
	CHECK(at.send("h", stored_uuid, 0, 1).status == Status::later);
	CHECK(at.send("h", stored_uuid, 0, 1).status == Status::later);
	CHECK(at.send_piece("h", "metadata", "text", 0, 4).status == Status::later);
	CHECK(at.send("h", second_uuid, 0, 1).status == Status::later);
	CHECK(at.send("other", stored_uuid, 1, 1).status == Status::stored); // this one they have
	fs::remove_all(accounts);
	CHECK(at.send("h", second_uuid, 0, 1).status == Status::stored);
	CHECK(at.send("h", stored_uuid, 0, 1).status == Status::stored);
	CHECK(has_blocks(run.path() + "/h/kernel_cpu0", 1, stored_uuid)); // which came first
	CHECK(has_blocks(run.path() + "/h/" + uuid_digits(second_uuid) + "/kernel_cpu0", 1, second_uuid));
	const auto json = parse_json(read_file(accounts, 1 << 20));
	CHECK(json["hosts"][0]["traces"].size() == 2);
	CHECK(json["hosts"][0]["traces"][0]["uuid"].get<std::string>() == uuid_digits(stored_uuid));
}

TEST_CASE("fleet collector: accounts that are on the disk have every trace of which something is stored")
{
	const TemporaryRun run;
	Answering at(run.path());
	for (unsigned i = 0; i < 40; ++i) {
		const std::string host = "h" + std::to_string(i / 2);
		CHECK(at.send(host, i % 2 ? second_uuid : stored_uuid, 0, 1).status == Status::stored);
		std::size_t traces = 0;
		const auto accounts = parse_json(read_file(run.path() + "/.monitor/fleet.json", 1 << 20));
		for (const auto &each : accounts["hosts"])
			traces += each["traces"].size();
		CHECK(traces == i + 1);
		const auto parts = parse_json(read_file(run.path() + "/.monitor/collection.json", 1 << 20));
		CHECK(parts["parts"].size() == i / 2 + 1);
	}
}

TEST_CASE("fleet collector: what was placed and not accounted for is not taken for another trace")
{
	const TemporaryRun run;
	const std::string accounts = run.path() + "/.monitor/fleet.json";
	const auto killed_after = [&](const std::string &host, const Uuid &uuid) { // placing, before saving
		const std::string before = read_file(accounts, 1 << 20);
		{
			Answering at(run.path());
			CHECK(at.send(host, uuid, 0, 3).status == Status::stored);
		}
		replace_file(accounts, before, 0600);
	};
	{
		Answering at(run.path());
		CHECK(at.send("known", stored_uuid, 0, 3).status == Status::stored);
	}
	killed_after("h", stored_uuid);
	killed_after("known", second_uuid);
	Answering at(run.path());
	const Answer answer = at.send("h", second_uuid, 0, 2); // the host was started again meanwhile
	CHECK(answer.status == Status::stored);
	CHECK(answer.conflicts == 0);
	CHECK(has_blocks(run.path() + "/h/kernel_cpu0", 2, second_uuid));
	CHECK(at.send("h", stored_uuid, 0, 3).conflicts == 0); // and its trace of before is sent again
	CHECK(has_blocks(run.path() + "/h/" + uuid_digits(stored_uuid) + "/kernel_cpu0", 3, stored_uuid));
	REQUIRE(at.sentences.size() == 1);
	CHECK(at.sentences[0].find("acknowledged to nobody") != std::string::npos);
	const fs::directory_iterator aside(run.path() + "/.monitor/unaccounted");
	CHECK(has_blocks(aside->path() / "kernel_cpu0", 3, stored_uuid));
	CHECK(std::distance(fs::begin(aside), fs::end(aside)) == 1);
	// a further trace is in a directory with its name: there it goes on
	CHECK(at.send("known", second_uuid, 0, 4).conflicts == 0);
	CHECK(has_blocks(run.path() + "/known/" + uuid_digits(second_uuid) + "/kernel_cpu0", 4, second_uuid));
	const auto host = at.collector.accounts()["hosts"][1];
	CHECK(host["host"] == "known");
	CHECK(host["repeated"] == 3);
	CHECK(host["blocks"] == 7);
}

TEST_CASE("fleet collector: the newest description is there, and none where something else has its name")
{
	const TemporaryRun run;
	Answering at(run.path());
	for (unsigned i = 0; i < 12; ++i) {
		const std::string text = "version " + std::to_string(i);
		CHECK(at.send_piece("h", "metadata", text, 0, text.size()).status == Status::stored);
		CHECK(read_file(run.path() + "/h/metadata", 1000) == text);
	}
	fs::create_directories(run.path() + "/h/.monitor/recording.json/in-the-way");
	CHECK(at.send_piece("h", ".monitor/recording.json", "{}", 0, 2).status == Status::invalid);
	CHECK(fs::is_empty(run.path() + "/.monitor/incoming"));
}

TEST_CASE("fleet collector: blocks that contradict are kept up to a limit, and all are counted")
{
	const TemporaryRun run;
	Answering at(run.path());
	for (unsigned first = 0; first < 320; first += 64)
		at.send("h", stored_uuid, first, 64);
	unsigned conflicts = 0;
	for (unsigned first = 0; first < 320; first += 64)
		conflicts += at.send("h", stored_uuid, first, 64, "kernel_cpu0", 3).conflicts;
	CHECK(conflicts == 320);
	const auto host = at.collector.accounts()["hosts"][0];
	CHECK(host["conflicts"] == 320);
	CHECK(host["conflicts_kept"] == 256);
	const fs::directory_iterator kept(run.path() + "/.monitor/conflicts");
	CHECK(std::distance(fs::begin(kept), fs::end(kept)) == 256);
	CHECK(std::ranges::any_of(at.sentences, [](const auto &each) { return each.find("is dropped") != each.npos; }));
}

TEST_CASE("fleet clocks: exchanges are written down once, in order")
{
	const TemporaryRun run;
	Answering at(run.path());
	ClockAnswers clocks(run.path());
	ClockQuestion question;
	question.clock = {true, 2'000'000'000, stored_uuid};
	std::string why;
	const auto ask = [&](std::uint64_t t1, ClockTimes last) {
		question.t1 = t1;
		question.has_last = last.t1 != 0;
		question.last = last;
		return clocks.answer("h", encode_clock_question(question), clocks.now_ns(), why);
	};
	const auto first = ask(100, {});
	REQUIRE(first);
	CHECK(first->t1 == 100);
	CHECK(first->t2 <= first->t3);
	CHECK_FALSE(fs::exists(run.path() + "/.monitor/clocks/h"));
	ask(200, {100, 5, 6, 150});
	ask(200, {100, 5, 6, 150});
	ask(300, {200, 7, 8, 250});
	CHECK(read_file(run.path() + "/.monitor/clocks/h", 1000) ==
	      "monitor-clock 1 h clock=tsc frequency_hz=2000000000 boot=01000000-0000-0000-0000-0000000000ab\n"
	      "100 5 6 150\n200 7 8 250\n");
	question.clock.boot = second_uuid;
	ask(20, {10, 9, 10, 15});
	CHECK(fs::exists(run.path() + "/.monitor/clocks/h." + uuid_digits(second_uuid) + "-1"));
	CHECK_FALSE(clocks.answer("h", {}, 0, why));
	// another collector in the same boot goes on with the same clock
	const std::uint64_t before = clocks.now_ns(), again = ClockAnswers(run.path()).now_ns();
	CHECK(again - before < 1'000'000'000);
}

TEST_CASE("fleet clocks: a host that says that it boots again and again makes some files")
{
	const TemporaryRun run;
	Answering at(run.path());
	ClockAnswers clocks(run.path());
	ClockQuestion question;
	question.has_last = true;
	std::string why;
	const auto ask = [&](unsigned boot, bool is_tsc, std::uint64_t at_ns) {
		question.clock = {is_tsc, 1'000'000'000, fleet_test::uuid_of(boot)};
		question.t1 = at_ns + 10;
		question.last = {at_ns, at_ns, at_ns, at_ns};
		return clocks.answer("h", encode_clock_question(question), clocks.now_ns(), why).has_value();
	};
	const std::string directory = run.path() + "/.monitor/clocks";
	const auto files = [&] { return std::distance(fs::directory_iterator(directory), fs::directory_iterator()); };
	for (unsigned i = 0; i < 100; ++i)
		CHECK(ask(i % 40, i % 3 == 0, 1000 + i));
	CHECK(files() == max_clock_files_of_host);
	const std::string last = directory + "/h." + uuid_digits(fleet_test::uuid_of(15)) + "-1";
	const auto size = fs::file_size(last); // the last one that was started goes on
	CHECK(ask(15, true, 5000));
	CHECK(fs::file_size(last) > size);
	// nor does a new collector write to a file that it did not start
	for (unsigned i = 1; i < 1000; ++i)
		open_file(directory + "/g." + uuid_digits(fleet_test::uuid_of(1)) + '-' + std::to_string(i),
			  O_WRONLY | O_CREAT, 0600);
	open_file(directory + "/g", O_WRONLY | O_CREAT, 0600);
	const auto before = files();
	question.clock.boot = fleet_test::uuid_of(1);
	CHECK(clocks.answer("g", encode_clock_question(question), clocks.now_ns(), why));
	CHECK(files() == before);
	CHECK(fs::file_size(directory + "/g." + uuid_digits(fleet_test::uuid_of(1)) + "-999") == 0);
}

TEST_CASE("fleet collector: a directory stays that of its shard")
{
	const TemporaryRun run;
	const auto open_as = [&](const Shard &shard) {
		Collector(
		    run.path(), "", [](const std::string &, const Answer &) {}, {}, shard);
		return parse_json(read_text(run.path() + "/.monitor/fleet.json"))["shard"];
	};
	CHECK(open_as({1, 2}) == "1/2");
	CHECK(open_as({1, 2}) == "1/2");
	CHECK_THROWS_WITH(open_as({1, 4}), Catch::Matchers::Contains("is shard 1/2 of its run, not 1/4"));
	CHECK_THROWS_WITH(open_as({}), Catch::Matchers::Contains("is shard 1/2 of its run, not 0/1"));
	auto accounts = parse_json(read_text(run.path() + "/.monitor/fleet.json"));
	accounts["merged"] = {"0/2", "1/2"};
	replace_file(run.path() + "/.monitor/fleet.json", accounts.dump(), 0600);
	CHECK_THROWS_WITH(open_as({1, 2}), Catch::Matchers::Contains("was made of the shards"));
}

TEST_CASE("fleet cost: what agents use is counted between two of their words; what is unknown is no number")
{
	CostAccount cost;
	const std::set<std::string> hosts{"once", "twice", "never", "again"};
	const auto at = [start = CostAccount::Clock::now()](int ms) { return start + std::chrono::milliseconds(ms); };
	cost.add_report("once", "s", {1000, 2000, 3}, at(0));
	cost.add_report("twice", "s", {1000, 2000, 3}, at(0));
	cost.add_report("twice", "s", {1500, 2600, 5}, at(700));
	cost.add_report("again", "s", {9, 9, 9}, at(0));
	cost.add_report("again", "s", {10, 10, 10}, at(1000));
	cost.add_report("again", "t", {5000, 5000, 5000}, at(2000)); // another agent: what it used before is unknown
	cost.add_report("again", "t", {5007, 5000, 5000}, at(2500));
	cost.add_report("again", "t", {1, 1, 1}, at(3000)); // no such thing
	cost.add_report("again", "t", {2, 2, 2}, at(3100));
	cost.add_received(100);
	const nlohmann::json json = cost.json(hosts, at(5000));
	CHECK(json["agents"]["once"].is_null());
	CHECK(json["agents"]["never"].is_null());
	CHECK(json["agents"]["twice"] ==
	      nlohmann::json({{"cpu_ns", 500}, {"bytes", 600}, {"messages", 2}, {"elapsed_ns", 700'000'000}}));
	CHECK(json["agents"]["again"] ==
	      nlohmann::json({{"cpu_ns", 9}, {"bytes", 2}, {"messages", 2}, {"elapsed_ns", 1'600'000'000}}));
	CHECK(json["server"].is_null());
	CHECK(json["collector"]["bytes"] == 100);
	CHECK(json["collector"]["messages"] == 1);
	CHECK(json["collector"]["elapsed_ns"] > 4'000'000'000);

	CostAccount next; // a collector that is started again
	next.load(json);
	next.add_report("twice", "s", {1600, 2700, 6}, at(9000));
	next.add_report("twice", "s", {1601, 2702, 9}, at(9200));
	next.add_received(1);
	const nlohmann::json sums = next.json(hosts);
	CHECK(sums["agents"]["twice"] ==
	      nlohmann::json({{"cpu_ns", 501}, {"bytes", 602}, {"messages", 5}, {"elapsed_ns", 900'000'000}}));
	CHECK(sums["collector"]["bytes"] == 101);
	CHECK(sums["collector"]["elapsed_ns"] >= json["collector"]["elapsed_ns"]);
	CHECK(sums["collector"]["cpu_ns"] >= json["collector"]["cpu_ns"]);
	const std::uint64_t most = ~std::uint64_t(0);
	next.add_report("twice", "s", {most, most, most});
	CHECK(nlohmann::json(next.json(hosts))["agents"]["twice"]["bytes"] > most / 2); // whatever a host says
	for (const char *text : {"null", "[]", R"({"agents":5})", R"({"agents":{"x":{"cpu_ns":-1}},"collector":7})"})
		next.load(parse_json(text));

	CHECK(process_cpu_ns(::getpid()));
	CHECK_FALSE(process_cpu_ns(1 << 30));
	CHECK_THROWS_AS(CostAccount(1 << 30), Error);
	CHECK(CostAccount(::getpid()).json({})["server"].contains("cpu_ns"));
	CHECK_FALSE(CostAccount(::getpid()).json({})["server"].contains("partly"));
}

TEST_CASE("fleet cost: the server's is kept by a collector that does not know its process, and says that it is a part")
{
	CostAccount without;
	without.load(parse_json(R"({"server":{"cpu_ns":500},"collector":{"cpu_ns":1,"bytes":2,"messages":3}})"));
	CHECK(without.json({})["server"] == nlohmann::ordered_json({{"cpu_ns", 500}})); // it has received nothing
	without.add_received(1);
	const nlohmann::json json = without.json({});
	CHECK(json["server"] == nlohmann::json({{"cpu_ns", 500}, {"partly", true}}));
	CHECK_FALSE(json["collector"].contains("elapsed_ns")); // the one before did not say it
	CostAccount with(::getpid());
	with.load(json);
	CHECK(with.json({})["server"]["cpu_ns"] >= 500);
	CHECK(with.json({})["server"]["partly"] == true);
	CostAccount only_later(::getpid());
	only_later.load(parse_json(R"({"server":null,"collector":{"cpu_ns":1,"bytes":2,"messages":3}})"));
	CHECK(only_later.json({})["server"]["partly"] == true);
}
