// SPDX-License-Identifier: MIT
// What comes from instrumented programs: the texts of their classes, and the blocks of their rings.
#include <cstring>
#include <random>

#include <catch2/catch.hpp>

#include "monitor/card.h"
#include "recording/user_card/user_block.h"
#include "recording/user_card/user_classes.h"
#include "recording/user_card/user_filter.h"
#include "recording/user_card/user_merge.h"

namespace test_user_card {

using namespace monitor::card;

namespace {

std::string why_not(std::string_view fields, std::string_view name = "x")
{
	std::string why;
	return parse_user_class(name, fields, why) ? "understood" : why;
}

// A block as a program's card leaves it in its ring.
struct Block {
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> bytes{};
	std::uint64_t at = EDC_BLOCK_HEADER;

	explicit Block(std::uint64_t begin, std::uint64_t discarded = 0)
	{
		edc_block header{};
		header.timestamp_begin = begin;
		header.events_discarded = discarded;
		header.tid = 77;
		std::memcpy(bytes.data(), &header, sizeof header);
	}
	Block &post(std::uint32_t id, std::uint64_t time, std::initializer_list<std::uint64_t> words = {},
		    std::uint32_t mode = EDC_MODE_USER)
	{
		put(edc_token(id, mode, time, 5));
		for (std::uint64_t word : words)
			put(word);
		return *this;
	}
	void put(std::uint64_t word)
	{
		std::memcpy(bytes.data() + at, &word, 8);
		at += 8;
	}
	edc_block header() const
	{
		edc_block header;
		std::memcpy(&header, bytes.data(), sizeof header);
		return header;
	}
};

WordsById some_words()
{
	WordsById words;
	words.fill(unknown_class);
	words[EDC_ID_THREAD] = 1;
	words[1024] = 0;
	words[1025] = 7;
	return words;
}

UserRingInfo some_info()
{
	UserRingInfo info;
	info.uuid.fill(9);
	info.stream = 12;
	info.cpu = 3;
	info.process = 700;
	info.sequence = 4;
	return info;
}

constexpr std::uint64_t now = 1'000'000'000'000;

} // namespace

TEST_CASE("user classes: a declaration's fields, units and labels are taken over")
{
	std::string why;
	const auto cls = parse_user_class(
	    "request_end",
	    " arg: token state {ok = 0, failed=7} ; u64 bytes (B); address from; flags how {r = 1, w = 2}", why);
	REQUIRE(cls);
	CHECK(cls->argument.kind == "token");
	CHECK(cls->argument.labels == std::vector<std::pair<std::string, std::uint64_t>>{{"ok", 0}, {"failed", 7}});
	REQUIRE(cls->payload.size() == 3);
	CHECK(cls->payload[0].unit == "B");
	CHECK(cls->payload[1].kind == "address");
	CHECK(cls->payload[2].labels.size() == 2);
	CHECK(parse_user_class("plain", "", why)->argument.name == "arg");
}

TEST_CASE("user classes: short texts are some words each")
{
	std::string why;
	const auto cls = parse_user_class("open_file", "arg: u16 mode; str24 name; u64 bytes; str8 a;str16 b", why);
	REQUIRE(cls);
	REQUIRE(cls->payload.size() == 4);
	CHECK(cls->payload[0].is_text());
	CHECK(cls->payload[0].words() == 3);
	CHECK(!cls->payload[1].is_text());
	CHECK(cls->payload[1].words() == 1);
	CHECK(cls->words() == 7);
	CHECK(words_of_user_class("arg: u16 mode; str24 name; u64 bytes; str8 a;str16 b") == 7);
	CHECK(why_not("str48 a; u64 b") == "understood");
	CHECK_THAT(why_not("str48 a; str16 b"), Catch::Contains("more than 7"));
	CHECK_THAT(why_not("str48 a; u64 b; u64 c"), Catch::Contains("more than 7"));
	CHECK_THAT(why_not("arg: str8 a"), Catch::Contains("not a kind of an argument"));
	for (const char *kind : {"str", "str0", "str7", "str56", "str99", "str240", "str08", "string"})
		CHECK_THAT(why_not(kind + std::string(" a")), Catch::Contains("not a kind of a field"));
	CHECK_THAT(why_not("str8 a (B)"), Catch::Contains("semicolon"));
	CHECK_THAT(why_not("str8 a {x = 1}"), Catch::Contains("semicolon"));
}

TEST_CASE("user classes: a provider goes before the name, and counts in its text")
{
	std::string why;
	CHECK(parse_user_class("mylib:tick", "", why)->name == "mylib:tick");
	CHECK(why_not("", std::string(63, 'a') + ':' + std::string(63, 'b')) == "understood");
	for (const char *name :
	     {":tick", "mylib:", ":", "a:b:c", "a::b", "1a:b", "a:1b", "a b:c", "a:b c", "\"a:b", "a\n:b"})
		CHECK_THAT(why_not("", name), Catch::Contains("identifier"));
	CHECK_THAT(why_not("", std::string(64, 'a') + ":b"), Catch::Contains("identifier"));
	UserClasses classes;
	CHECK(classes.declare("one:tick", "") == 1024);
	CHECK(classes.declare("two:tick", "") == 1025);
	CHECK(classes.declare("tick", "") == 1026);
	CHECK(classes.declare("one:tick", "") == 1024);
	const std::string fields = "u64 x" + std::string(max_class_bytes - 9, ' ');
	CHECK(classes.declare("tick", fields) != 0);
	CHECK(classes.declare("a:tick", fields) == 0);
	CHECK(classes.why_refused() == "a:tick: its text is longer than 16 KiB");
}

TEST_CASE("user classes: what is not understood is refused with a reason")
{
	CHECK(why_not("u64 a") == "understood");
	CHECK_THAT(why_not("u32 a"), Catch::Contains("'u32' is not a kind"));
	CHECK_THAT(why_not("arg: u64 a"), Catch::Contains("not a kind of an argument"));
	CHECK_THAT(why_not("u64"), Catch::Contains("no valid name"));
	CHECK_THAT(why_not("u64 a u64 b"), Catch::Contains("semicolon"));
	CHECK_THAT(why_not("u64 a; u64 a"), Catch::Contains("two fields"));
	CHECK_THAT(why_not("u64 a (B"), Catch::Contains("unit"));
	CHECK_THAT(why_not("u64 a (\"x)"), Catch::Contains("unit"));
	CHECK_THAT(why_not("token a"), Catch::Contains("labels"));
	CHECK_THAT(why_not("token a {x}"), Catch::Contains("not a label"));
	CHECK_THAT(why_not("token a {x = }"), Catch::Contains("no value"));
	CHECK_THAT(why_not("token a {x = 1"), Catch::Contains("brace"));
	CHECK_THAT(why_not("u64 a;u64 b;u64 c;u64 d;u64 e;u64 f;u64 g;u64 h"), Catch::Contains("more than 7"));
	CHECK_THAT(why_not("", "two words"), Catch::Contains("identifier"));
	CHECK_THAT(why_not("", std::string(64, 'a')), Catch::Contains("identifier"));
}

TEST_CASE("user classes: one id for each name and layout, none when they are used up")
{
	UserClasses classes;
	CHECK(classes.declare("a", "u64 x") == 1024);
	CHECK(classes.declare("a", "u64 y") == 1025);
	CHECK(classes.declare("a", "u64 x") == 1024);
	CHECK(classes.declare("a", "u65 x") == 0);
	for (int i = 0; i < 5000; ++i)
		classes.declare("b" + std::to_string(i), "");
	CHECK(classes.all().size() == EDC_ID_LAST - EDC_ID_USER_FIRST + 1);
	CHECK(classes.all().back().id == EDC_ID_LAST);
	CHECK(classes.refused() == 1 + 5000 - (classes.all().size() - 2));
}

TEST_CASE("user classes: what one process, one user and all may declare is bounded")
{
	UserClasses classes;
	int number = 0;
	const auto declare = [&](std::size_t bytes, const Declarer &declarer) {
		const std::string name = "c" + std::to_string(number++);
		std::string fields = "u64 x";
		fields.resize(bytes - name.size(), ' ');
		return classes.declare(name, fields, declarer) != 0;
	};
	const auto how_many = [&](std::size_t bytes, const Declarer &declarer) {
		std::size_t given = 0;
		while (declare(bytes, declarer))
			++given;
		return given;
	};
	CHECK(!declare(max_class_bytes + 1, {1, 0, true}));
	CHECK(classes.why_refused() == "c0: its text is longer than 16 KiB");
	CHECK(how_many(20, {1, 500, false}) == max_per_process.classes);
	CHECK(how_many(20, {2, 500, false}) == max_per_uid.classes - max_per_process.classes);
	CHECK(!declare(20, {3, 500, false})); // of the same user
	CHECK(how_many(max_class_bytes, {4, 501, false}) == max_per_process.bytes / max_class_bytes);
	CHECK(declare(20, {5, 502, false}));
	CHECK(how_many(20, {6, 0, true}) == max_per_process.classes);
	std::size_t bytes = 0;
	for (int process = 7; const std::size_t given = how_many(max_class_bytes, {process, 0, true}); ++process)
		bytes += given * max_class_bytes;
	CHECK(bytes <= max_of_recording.bytes);
	CHECK(bytes > max_of_recording.bytes / 2);
	CHECK(!classes.adopt(4000, "theirs", std::string(max_class_bytes, ' ')));
}

TEST_CASE("user classes: ids that another gives, and classes that have theirs")
{
	std::vector<std::string> asked;
	UserClasses classes([&](std::string_view name, std::string_view) {
		asked.emplace_back(name);
		return static_cast<std::uint16_t>(asked.size() > 1 ? 0 : 3000);
	});
	classes.adopt(1500, "theirs", "u64 x");
	CHECK(classes.declare("theirs", "u64 x") == 1500);
	CHECK(classes.declare("ours", "") == 3000);
	classes.adopt(3000, "ours", ""); // declared once more
	CHECK(classes.all().size() == 2);
	CHECK(classes.declare("wrong", "u65 x") == 0);
	CHECK(asked == std::vector<std::string>{"ours"});
	CHECK(classes.declare("too_many", "") == 0);
	CHECK(!classes.adopt(1501, "not understood", ""));
	CHECK(words_of_user_class("arg: u16 a; u64 b (B); token c {x = 1}") == 2);
	CHECK(words_of_user_class("u65 x; \t; y") == 2);
	CHECK(words_of_user_class("") == 0);
	CHECK(words_of_user_class(" arg:u16 a") == 0);
	CHECK(words_of_user_class("str40 a; strange b; str c; \tstr8 d;u65 e") == 9);
	CHECK(classes.all().size() == 2);
	CHECK(classes.refused() == 3);
}

TEST_CASE("user block: a class that is learnt when it is met")
{
	UserRingInfo info = some_info();
	WordsById words = some_words();
	Block block(5000);
	block.post(1024, 5001).post(1030, 5002, {7}).post(1024, 5003);
	int learnt = 0;
	const auto learn = [&] {
		++learnt;
		words[1030] = 1;
	};
	CHECK(validate_user_block(block.bytes.data(), block.at, now, words, info, learn) == nullptr);
	CHECK(info.tokens == 3);
	CHECK(learnt == 1);
	Block other(5000);
	other.post(1024, 5001).post(1031, 5002);
	info = some_info();
	CHECK(validate_user_block(other.bytes.data(), other.at, now, words, info, learn) != nullptr);
	CHECK(info.tokens == 1);
}

TEST_CASE("user block: a good one gets a header that is the recorder's")
{
	UserRingInfo info = some_info();
	Block block(5000, 3);
	block.post(1024, 5001).post(EDC_ID_THREAD, 5002, {0xdead0000004dull}).post(1025, 5003, {1, 2, 3, 4, 5, 6, 7});
	CHECK(validate_user_block(block.bytes.data(), block.at, now, some_words(), info) == nullptr);
	const edc_block header = block.header();
	CHECK(header.magic == EDC_BLOCK_MAGIC);
	CHECK(header.content_size == block.at * 8);
	CHECK(header.timestamp_begin == 5000);
	CHECK(header.timestamp_end == 5003);
	CHECK(header.stream_instance_id == 12);
	CHECK(header.packet_seq_num == 4);
	CHECK(header.cpu_id == 3);
	CHECK(header.level == EDC_LEVEL_USER);
	CHECK(header.process == 700);
	CHECK(header.tid == 77);
	CHECK(header.events_discarded == 3);
	CHECK(info.tokens == 2);
	CHECK(info.last_time == 5003);
	std::uint64_t who;
	std::memcpy(&who, block.bytes.data() + EDC_BLOCK_HEADER + 16, 8);
	CHECK(who == (0x4dull | 700ull << 32)); // whatever the program said of its process
}

TEST_CASE("user block: more losses than can be are not believed")
{
	UserRingInfo info = some_info();
	info.max_discarded = 1000;
	for (const auto &[said, believed] :
	     {std::pair{900ull, 900ull}, {1001, 900}, {140'000'000'000'000, 900}, {800, 900}}) {
		Block block(info.last_time, said);
		validate_user_block(block.bytes.data(), block.at, now, some_words(), info);
		CHECK(block.header().events_discarded == believed);
	}
}

TEST_CASE("user block: the first wrong record ends it")
{
	const auto content_after = [](Block &block, std::uint64_t limit = now) {
		UserRingInfo info = some_info();
		CHECK(validate_user_block(block.bytes.data(), block.at, limit, some_words(), info) != nullptr);
		return block.header().content_size / 8 - EDC_BLOCK_HEADER;
	};
	CHECK(content_after(Block(10).post(1024, 11).post(EDC_ID_SCHED_SWITCH, 12)) == 8); // a kernel class
	CHECK(content_after(Block(10).post(1024, 11).post(1026, 12)) == 8);                // nobody asked for it
	CHECK(content_after(Block(10).post(1024, 11, {}, EDC_MODE_KERNEL)) == 0);
	CHECK(content_after(Block(10).post(1024, 11).post(1024, 9)) == 8);             // time steps back
	CHECK(content_after(Block(10).post(1024, 11).post(1025, 12, {1, 2, 3})) == 8); // longer than the content
	CHECK(content_after(Block(10).post(1024, 11).post(1025, 12, {1, 2, 3, 4, 5, 6})) == 8); // by a word
	CHECK(content_after(Block(10).post(1024, 11).post(1024, 21), 20) == 8);                 // the future
	CHECK(content_after(Block(10).post(1024, 11).post(0, 0)) == 8);                         // zero is no token
	CHECK(content_after(Block(now + 1).post(1024, now + 2)) == 0);
}

TEST_CASE("user block: whatever is in it, what comes out can be believed")
{
	std::mt19937_64 random(1);
	UserRingInfo info = some_info();
	for (int round = 0; round < 20000; ++round) {
		Block block(info.last_time + random() % 100);
		while (block.at < EDC_BLOCK_SIZE)
			block.put(random() % 3
				      ? edc_token(random() % 4 ? 1024 + random() % 2 : random() % 4096,
						  random() % 8 == 0, info.last_time + block.at + random() % 16, 0)
				      : random());
		if (random() % 4 == 0)
			block.bytes[random() % EDC_BLOCK_SIZE] ^= std::byte{0x40};
		const UserRingInfo before = info;
		validate_user_block(block.bytes.data(), random() % 8 ? random() % 600 * 8 : random(), now, some_words(),
				    info);
		const edc_block header = block.header();
		REQUIRE(header.content_size >= EDC_BLOCK_HEADER * 8);
		REQUIRE(header.content_size <= EDC_BLOCK_SIZE * 8);
		REQUIRE(header.timestamp_begin >= before.last_time);
		REQUIRE(header.timestamp_end >= header.timestamp_begin);
		REQUIRE(header.timestamp_end <= now);
		REQUIRE(info.discarded >= before.discarded);
	}
}

// Of class 1024 only events of thread 78.
std::shared_ptr<const monitor::EventMatcher> only_thread_78(const std::vector<UserClass> &)
{
	auto made = std::make_shared<monitor::EventMatcher>();
	edc_matcher &tables = made->make_tables(monitor::EventMatcher::group_of(1024));
	edc_match_class &cls = tables.cls[0];
	cls.whole = cls.decision = EDC_MATCH_EVALUATE;
	cls.has_patterns = 1;
	cls.wanted = 1 << EDC_VALUE_TID;
	cls.dimensions = cls.words = 1;
	cls.counted = 1 << 5;
	cls.patterns[0] = cls.keeping[0] = 1;
	tables.dimension[0] = {~0ull, 0, EDC_VALUE_TID, 0, 0, 0, 0, 79};
	tables.row[78][0] = 1;
	return made;
}

TEST_CASE("user filter: what is not kept leaves the block, and is counted when the block is stored")
{
	Block block(100);
	block.post(1024, 110).post(EDC_ID_THREAD, 120, {78}).post(1024, 130).post(1025, 140, {1, 2, 3, 4, 5, 6, 7});
	block.post(EDC_ID_THREAD, 150, {79}).post(1024, 160);
	UserRingInfo info = some_info();
	REQUIRE(validate_user_block(block.bytes.data(), block.at, now, some_words(), info) == nullptr);
	MergedStream merged(some_info());
	UserFilter filter(only_thread_78);
	CHECK(filter.strip(block.bytes.data(), some_words()) == 0); // no class is known yet
	filter.set(filter.make({}));
	CHECK(merged.add(block.bytes.data(), EDC_BLOCK_HEADER, some_words(), &filter) == 2);
	CHECK(filter.rejected().at(1024) == 2);
	CHECK(filter.strip(block.bytes.data(), some_words()) == 2);
	CHECK(filter.rejected().at(1024) == 2);
	filter.count(0);
	CHECK(filter.rejected().at(1024) == 4);
	CHECK(filter.rejected().size() == 1);
	CHECK(filter.counts()[5] == 6); // three events of the class, judged twice
	const std::uint64_t content = block.header().content_size / 8;
	CHECK(content == EDC_BLOCK_HEADER + 16 + 8 + 64 + 16); // both threads stay
	CHECK(edc_token_time(monitor::word_at(block.bytes.data(), EDC_BLOCK_HEADER + 16)) == 130);
	CHECK(filter.strip(block.bytes.data(), some_words()) == 0);
}

TEST_CASE("user filter: a trigger sees each event once, before its block is full and after it")
{
	const auto make = [](const std::vector<UserClass> &) {
		auto made = std::make_shared<monitor::EventMatcher>();
		made->make_tables(monitor::EventMatcher::group_of(EDC_ID_KERNEL_FIRST)).trigger[0].kind =
		    EDC_TRIGGER_EVENT;
		made->make_tables(monitor::EventMatcher::group_of(1024)).cls[0].belongs = std::uint64_t(1)
											  << EDC_FIRST_INPUT;
		return made;
	};
	UserFilter filter(make);
	filter.set(filter.make({}));
	Block block(100);
	block.post(1024, 110).post(EDC_ID_THREAD, 120, {78}).post(1024, 130);
	UserRingInfo info = some_info();
	const std::uint64_t looked = block.at;
	Block open = block;
	REQUIRE(validate_user_block(open.bytes.data(), open.at, now, some_words(), info) == nullptr);
	filter.evaluate_triggers(open.bytes.data(), some_words(), EDC_BLOCK_HEADER);
	filter.triggers().step(1000);
	const auto fired = filter.triggers().take_fired();
	REQUIRE(fired.size() == 2);
	CHECK(fired[0].event->at.tid == 77);
	CHECK(fired[1].event->at.tid == 78);
	CHECK(fired[1].event->at.process == 700);
	block.post(1024, 140);
	info = some_info();
	REQUIRE(validate_user_block(block.bytes.data(), block.at, now, some_words(), info) == nullptr);
	filter.strip(block.bytes.data(), some_words());
	filter.strip(block.bytes.data(), some_words()); // there was no room for it the first time
	filter.count(looked);
	filter.triggers().step(1000);
	CHECK(filter.triggers().take_fired().size() == 1);
	CHECK(filter.triggers().forgotten() == 0);
}

TEST_CASE("merged stream: events of a class that nobody understands are counted and left out")
{
	WordsById words = some_words();
	words[1040] = refused_class | 2;
	Block block(100);
	block.post(1024, 110).post(1040, 120, {1, 2}).post(1024, 130);
	UserRingInfo info = some_info();
	info.translate_tid = [](std::uint32_t tid) { return tid + 600; };
	CHECK(validate_user_block(block.bytes.data(), block.at, now, words, info) == nullptr);
	CHECK(block.header().tid == 677); // its threads have other numbers for themselves
	MergedStream merged(some_info());
	CHECK(merged.add(block.bytes.data(), EDC_BLOCK_HEADER, words) == 2);
	CHECK(merged.take_refused() == 1);
	CHECK(merged.take_refused() == 0);
}

TEST_CASE("merged stream: what finds no room waits, and is told")
{
	Block block(100);
	block.post(1025, 110, {1, 2, 3, 4, 5, 6, 7}).post(1025, 120, {8, 9, 10, 11, 12, 13, 14}).post(1024, 500);
	UserRingInfo info = some_info();
	validate_user_block(block.bytes.data(), block.at, now, some_words(), info);
	MergedStream merged(some_info());
	merged.add(block.bytes.data(), EDC_BLOCK_HEADER, some_words());
	bool room = false;
	std::vector<std::byte> packed;
	const auto push = [&](std::uint32_t, const std::byte *bytes) {
		if (room)
			packed.assign(bytes, bytes + EDC_BLOCK_SIZE);
		return room;
	};
	CHECK(merged.pack(115, false, push)); // the first one; its block is not full
	CHECK(!merged.stalled());
	CHECK(!merged.pack(200, true, push));
	CHECK(merged.stalled());
	room = true;
	CHECK(merged.pack(~0ull, true, push));
	CHECK(!merged.stalled());
	CHECK(merged.empty());
	std::uint64_t word;
	std::memcpy(&word, packed.data() + EDC_BLOCK_HEADER + 8 * 9, sizeof word);
	CHECK(word == 8); // the second one's words, moved to the front meanwhile
}

TEST_CASE("merged stream: events of several processes sorted, each thread told, the young ones wait")
{
	const auto filled = [](std::uint32_t process, std::uint32_t tid, std::initializer_list<std::uint64_t> times) {
		Block block(100);
		for (std::uint64_t time : times)
			block.post(1024, time);
		UserRingInfo info = some_info();
		info.process = process;
		validate_user_block(block.bytes.data(), block.at, now, some_words(), info);
		edc_block header = block.header();
		header.tid = tid;
		std::memcpy(block.bytes.data(), &header, sizeof header);
		return block;
	};
	MergedStream merged(some_info());
	CHECK(merged.add(filled(1, 11, {110, 130, 500}).bytes.data(), EDC_BLOCK_HEADER, some_words()) == 3);
	CHECK(merged.add(filled(2, 22, {120, 140}).bytes.data(), EDC_BLOCK_HEADER + 8, some_words()) ==
	      1); // 120 was merged before
	merged.add_losses(5);
	std::vector<Block> pushed;
	const auto push = [&](std::uint32_t stream, const std::byte *bytes) {
		CHECK(stream == 12);
		pushed.emplace_back(0);
		std::memcpy(pushed.back().bytes.data(), bytes, EDC_BLOCK_SIZE);
		return true;
	};
	CHECK(merged.pack(400, true, push));
	REQUIRE(pushed.size() == 1);
	const edc_block first = pushed[0].header();
	CHECK(first.timestamp_begin == 110);
	CHECK(first.timestamp_end == 140);
	CHECK(first.process == 1);
	CHECK(first.events_discarded == 5);
	std::uint64_t words[5];
	std::memcpy(words, pushed[0].bytes.data() + EDC_BLOCK_HEADER, sizeof words);
	CHECK(edc_token_time(words[0]) == 110);
	CHECK(edc_token_time(words[1]) == 130);
	CHECK(edc_token_id(words[2]) == EDC_ID_THREAD);
	CHECK(words[3] == (22 | 2ull << 32));
	CHECK(edc_token_time(words[4]) == 140);
	CHECK(first.content_size == (EDC_BLOCK_HEADER + sizeof words) * 8);
	CHECK_FALSE(merged.empty());
	const auto no_room = [](std::uint32_t, const std::byte *) { return false; };
	CHECK_FALSE(merged.pack(~0ull, true, no_room));
	CHECK(merged.pack(~0ull, true, push));
	CHECK(merged.empty());
	CHECK(pushed.size() == 2);
}

} // namespace test_user_card
