// SPDX-License-Identifier: MIT
// Files of a few bytes, read as a description in TDL says: places, lengths, conditions, times, and what is damaged.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tdl_samples.h"

namespace test_tdl_reading {

using namespace monitor::trace::tdl;

TEST_CASE("tdl: numbers, texts and lists are where the description says")
{
	CHECK(read(record("a unsigned 8 bits\nb signed 16 bits\nc unsigned 16 bits, big endian, as hexadecimal"),
		   "01 feff 1234 02 0100 0001") == "0 r a=1 b=-2 c=0x1234\n0 r a=2 b=1 c=0x1\n");
	CHECK(read(record("a unsigned 3 bits\nb unsigned 5 bits\nc unsigned 4 bits, big endian\nd unsigned 4 bits, big "
			  "endian"),
		   "0b 12") == "0 r a=3 b=1 c=1 d=2\n");
	CHECK(read(record("a real 32 bits\nb real 64 bits, big endian"), "0000803f 4000000000000000") ==
	      "0 r a=1 b=2\n");
	CHECK(read(record("a text of 4 bytes\nb text until zero\nc block of 2 bytes"), "'ab' 0000 'cde' 00 0102") ==
	      "0 r a=ab b=cde c=[0x1 0x2]\n");
	CHECK(read(record("n unsigned 8 bits\na text of n minus 1 bytes\nb list of n times 2 minus 2 signed 8 bits"),
		   "02 'x' ff01 01") == "0 r n=2 a=x b=[-1 1]\n0 r n=1 a=\"\" b=[]\n");
	CHECK(read(record("n unsigned 8 bits\nlength is n\na text of 1 bytes\nb list to the end of unsigned 16 bits"),
		   "06 'x' 0100 0200 02 'y'") == "0 r n=6 a=x b=[1 2]\n0 r n=2 a=y b=[]\n");
	CHECK(read(record("a unsigned 8 bits\nfiller to a multiple of 4 bytes\nb unsigned 8 bits\nfiller of 1 bytes\n"
			  "filler bytes 0xAA 0xBB"),
		   "01 000000 02 00 aabb") == "0 r a=1 b=2\n");
	CHECK(read(record("n unsigned 8 bits\ngroup g\nx unsigned 8 bits\ny unsigned 8 bits\nend\n"
			  "group e n times\nl unsigned 8 bits\nt text of l bytes\nend\nz unsigned 8 bits, hidden"),
		   "02 0304 01'a' 02'bc' 09") == "0 r n=2 g={x=3 y=4} e=[{l=1 t=a} {l=2 t=bc}]\n");
	CHECK(read(record(
		       "n unsigned 8 bits\nlength is n\ngroup e to the end\nl unsigned 8 bits\nt text of l bytes\nend"),
		   "06 01'a' 02'bc' 01") == "0 r n=6 e=[{l=1 t=a} {l=2 t=bc}]\n0 r n=1 e=[]\n");
}

TEST_CASE("tdl: a field is present if the conditions on numbers and names hold")
{
	const std::string text = record("k unsigned 8 bits, named kinds\nf unsigned 8 bits, named flags\n"
					"when k is one or 5\na unsigned 8 bits\nend\n"
					"when f has x and k is at least 2\nb unsigned 8 bits\nend\n"
					"when f lacks x\nc unsigned 8 bits\nend") +
				 "names kinds\n1 means one\n2 to 4 means few\nend\n"
				 "names flags\nbit 0 means w\nbit 7 means x\nend\n";
	CHECK(read(text, "01 00 0a 0c") == "0 r k=one f=0 a=10 c=12\n");
	CHECK(read(text, "03 01 0c") == "0 r k=few f=w c=12\n");
	CHECK(read(text, "05 81 0a 0b 03 80 0b") == "0 r k=5 f=w|x a=10 b=11\n0 r k=few f=x b=11\n");
	CHECK(
	    read(record("k signed 8 bits\nwhen k is at most -2\na unsigned 8 bits\nend\nwhen k is not -1\nb unsigned 8 "
			"bits\nend"),
		 "fe 01 02 ff 00 03") == "0 r k=-2 a=1 b=2\n0 r k=-1\n0 r k=0 b=3\n");
	CHECK(read(record("k signed 8 bits, named sizes\nwhen k is not small or 9\na unsigned 8 bits\nend") +
		       "names sizes\n-5 to 5 means small\nend\n",
		   "02 fb fa 01 06 02 09 80 03 7f 04") ==
	      "0 r k=small\n0 r k=small\n0 r k=-6 a=1\n0 r k=6 a=2\n0 r k=9\n0 r k=-128 a=3\n0 r k=127 a=4\n");
}

TEST_CASE("tdl: records are told apart by what they begin with")
{
	const std::string text =
	    "trace t\nevery record begins with\nk unsigned 8 bits\nn unsigned 8 bits\nlength is n\nend\n"
	    "record a when k is 1 and n is 3\nx unsigned 8 bits\nend\n"
	    "record b when k is 1\ny list to the end of unsigned 8 bits\nend\n"
	    "record c when k is at least 200\nend\n";
	CHECK(read(text, "0103 05 0104 0607 ff02") == "0 a k=1 n=3 x=5\n0 b k=1 n=4 y=[6 7]\n0 c k=255 n=2\n");
	const std::string left_out = "a record of a kind that is not described; it is skipped\n";
	const std::string rest_left_out = "a record of a kind that is not described; the rest of the file is skipped\n";
	CHECK(read(text, "ff02 0203aa ff02") == "0 c k=255 n=2\ngap\n0 c k=255 n=2\nrecord 1 at byte 2: " + left_out);
	CHECK(read(text, "ff02 0204aa") == "0 c k=255 n=2\ngap\nrecord 1 at byte 2: " + rest_left_out);
	CHECK(read(text, "ff02 0200 ff02") == "0 c k=255 n=2\ngap\nrecord 1 at byte 2: " + rest_left_out);
	CHECK(read(text, "ff02 0201 ff02") == "0 c k=255 n=2\ngap\nrecord 1 at byte 2: " + rest_left_out);
	CHECK(read("trace t\nevery record begins with\nk unsigned 8 bits\nlength is n\nend\n"
		   "record a when k is 1\nn unsigned 8 bits\nend\n",
		   "0203ff 0102") == "gap\nrecord 0 at byte 0: " + rest_left_out);
	CHECK(read("trace t\nevery record begins with\nk unsigned 8 bits\nlength is 2 bytes\nend\n"
		   "record a when k is 1\nx unsigned 8 bits\nend\n",
		   "0203 0105") == "gap\n0 a k=1 x=5\nrecord 0 at byte 0: " + left_out);
	CHECK(read(text + "record d\nend\n", "0202 ff02") == "0 d k=2 n=2\n0 c k=255 n=2\n");
}

TEST_CASE("tdl: a short record at the end, of a description that has longer ones too")
{
	const std::string text = "trace t\nrecord a when k is 1\nk unsigned 8 bits\nx unsigned 8 bits\nend\n"
				 "record b when k is 2 and m is 3\nk unsigned 8 bits\npad unsigned 64 bits, hidden\n"
				 "m unsigned 8 bits\nn unsigned 16 bits\nlength is n\nend\n";
	CHECK(read(text, "02 0000000000000000 03 0c00 01 05") == "0 b k=2 m=3 n=12\n0 a k=1 x=5\n");
	const std::string cut =
	    "gap\nrecord 1 at byte 2: a record is cut off by the end of the file or of its segment; the rest";
	CHECK(read(text, "01 05 02 00").find("0 a k=1 x=5\n" + cut) == 0);
	CHECK(read(text, "01 05 02 0000000000000000 03 0c").find("0 a k=1 x=5\n" + cut) == 0);
	CHECK(read(text, "01 05 03").find("record 1 at byte 2: a record of a kind that is not described") !=
	      std::string::npos);
}

TEST_CASE("tdl: kinds whose fields are read in different ways")
{
	const auto kinds = [](const std::string &first, const std::string &second, const std::string &value) {
		return "trace t\nrecord a when k is 1\nk " + first + "\nend\nrecord b when k is " + value + "\nk " +
		       second + "\nend\n";
	};
	CHECK(read(kinds("unsigned 16 bits", "unsigned 16 bits, big endian", "2"), "0100 0002 0100") ==
	      "0 a k=1\n0 b k=2\n0 a k=1\n");
	CHECK(read(kinds("signed 8 bits", "unsigned 8 bits", "255"), "01 ff 01") == "0 a k=1\n0 b k=255\n0 a k=1\n");
	CHECK(read(kinds("unsigned 8 bits", "signed 8 bits", "-1"), "01 ff 01") == "0 a k=1\n0 b k=-1\n0 a k=1\n");
}

TEST_CASE("tdl: times are points or distances, of one field or two")
{
	const auto timed = [](const std::string &how, const std::string &bytes) {
		return read(
		    record("s unsigned 8 bits, in seconds, hidden\nm unsigned 16 bits, in milliseconds, hidden\n" +
			   how),
		    bytes);
	};
	CHECK(timed("time is s plus m since 1970", "01 0200 02 0000") == "1002 r \n2000 r \n");
	CHECK(timed("time is m since the record before", "00 0200 00 0300") == "2 r \n5 r \n");
	CHECK(timed("time is m wrapping", "00 feff 00 0100") == "65534 r \n65537 r \n");
	CHECK(timed("time is m may step back", "00 0500 00 0300 00 0600") == "5 r \n5 r \n6 r \n");
	CHECK(timed("time is m", "00 0500 00 0300 00 0600") ==
	      "5 r \ngap\n6 r \nrecord 1 at byte 3: the event's time steps back; it is skipped\n");
	CHECK(
	    read(
		record(
		    "a real 32 bits, in seconds, hidden\nb unsigned 8 bits, in milliseconds, hidden\ntime is a plus b"),
		"0000003f 01") == "501 r \n");
	CHECK(read(record("a signed 8 bits, in seconds\ntime is a"), "ff").find("is before its origin") !=
	      std::string::npos);
}

TEST_CASE("tdl: a record that is left out does not move the time of those after it, but with its distance")
{
	const std::string text =
	    "trace t\nrecord point when k is 1\nk unsigned 8 bits, hidden\n"
	    "t unsigned 8 bits, in milliseconds, hidden\ntime is t\nend\n"
	    "record step when k is 2\nk unsigned 8 bits, hidden\n"
	    "t unsigned 8 bits, in milliseconds, hidden\ns unsigned 8 bits, checksum sum8, hidden\n"
	    "time is t since the record before\nend\n";
	CHECK(read(text, "0164 020a0c 0105 020a0c 020a0c") ==
	      "100 point \n110 step \ngap\n120 step \n130 step \nrecord 2 at byte 5: the event's time steps back; it "
	      "is skipped\n");
	CHECK(read(text, "0164 020a00 020a0c") ==
	      "100 point \ngap\n120 step \nrecord 1 at byte 2: the checksum of a record is wrong; it is skipped\n");
}

TEST_CASE("tdl: without a finish the last event tells when it ends, and a segment's begin is a clock")
{
	const std::string text =
	    "trace t\nevery segment begins with\nn unsigned 8 bits\nt unsigned 8 bits, in milliseconds\n"
	    "length is n\nbegin is t\nend\nrecord r\na unsigned 8 bits, in milliseconds\n";
	const auto bytes = bytes_of("04 0a 0b 10 04 14 15 19"), cut = bytes_of("04 0a 0b 10 04 14 15 19 05");
	CHECK(open(text + "time is a\nend\n", bytes).end_time() == 25);
	CHECK(open(text + "time is a\nend\n", cut).end_time() == 25);
	const monitor::trace::Trace reported = open(text + "end\n", bytes);
	CHECK(reported.end_time() == 20);
	reported.streams().front()->set_clock({"finer", 1'000'000'000});
	CHECK(reported.streams().front()->begin_time() == 10'000'000);
}

TEST_CASE("tdl: a record that tells no CPU is of its segment's")
{
	const std::string text = "trace t\nevery segment begins with\nn unsigned 8 bits\nc unsigned 8 bits\n"
				 "length is n\ncpu is c\nend\nevery record begins with\nk unsigned 8 bits\nend\n"
				 "record a when k is 1\nc unsigned 8 bits\ncpu is c\nend\nrecord b when k is 2\nend\n";
	const auto bytes = bytes_of("06 09 02 0107 02");
	monitor::trace::Trace trace = open(text, bytes);
	std::vector<std::uint32_t> cpus;
	merge(
	    trace, {}, [&](const monitor::trace::Event &event) { cpus.push_back(event.packet_cpu); },
	    [](const auto &, auto...) {});
	CHECK(cpus == std::vector<std::uint32_t>{9, 7, 9});
}

TEST_CASE("tdl: the magic chooses byte order and units")
{
	const std::string text =
	    "trace t\nmagic \"LE\" means little endian\nmagic \"BE\" means big endian, a in seconds\n"
	    "the file begins with\nm text of 2 bytes\nend\n"
	    "record r\na unsigned 16 bits, in milliseconds\ntime is a\nend\n";
	CHECK(read(text, "'LE' 0100") == "1 r a=1\n");
	CHECK(read(text, "'BE' 0001") == "1 r a=1\n");
	CHECK_THAT(read(text, "'XE' 0001"), Catch::StartsWith("file is not what t.tdl describes (none of its magics "
							      "is there); give its description with"));
}

TEST_CASE("tdl: segments have headers, contents and losses")
{
	const std::string text =
	    "trace t\nthe file begins with\nf unsigned 8 bits\nend\n"
	    "every segment begins with\nn unsigned 8 bits\nused unsigned 8 bits\nt unsigned 8 bits, in seconds\n"
	    "gone unsigned 8 bits\nlength is n\ncontent is used\nbegin is t\nlost is gone\nend\n"
	    "record r\na unsigned 8 bits, in seconds\ntime is a since the segment\nend\n";
	CHECK(read(text, "00 07 06 0a 00 0102 ff 05 05 14 03 01") == "11 r a=1\n12 r a=2\ngap\n21 r a=1\n");
	CHECK(read(text, "00 07 08 0a 00 0102 ff").find("content is not inside it") != std::string::npos);
	CHECK(read(text, "00 03 03 0a 00").find("is less than that of its fields") != std::string::npos);
	CHECK(read(text, "00 00 00 0a 00").find("is less than that of its fields") != std::string::npos);
	const std::string fixed =
	    "trace t\nevery segment begins with\nm unsigned 8 bits, always 9\nlength is 4 bytes\nend\n"
	    "record r\na unsigned 8 bits\nend\n";
	CHECK(read(fixed, "09 010203 09 040506") == "0 r a=1\n0 r a=2\n0 r a=3\n0 r a=4\n0 r a=5\n0 r a=6\n");
	CHECK(read(fixed, "09 010203 08 040506 09 07")
		  .find("segment 1 at byte 4: the header's m is 8, but must always be 9\n") != std::string::npos);
	CHECK(read(fixed, "09 010203 09").find("the file ends in the middle") != std::string::npos);
}

TEST_CASE("tdl: a record that is cut off, too short or wrong is damage with its position")
{
	const std::string text = record("n unsigned 8 bits\na unsigned 8 bits\nlength is n");
	CHECK(read(text, "02 07 02") ==
	      "0 r n=2 a=7\ngap\nrecord 1 at byte 2: a record is cut off by the end of the file or of its "
	      "segment; the rest of the file is "
	      "skipped\n");
	CHECK(read(text, "02 07 00 00").find("record 1 at byte 2: a record has a length of 0") != std::string::npos);
	CHECK(read(text, "02 07 01 00")
		  .find("record 1 at byte 2: the fields of a record r do not fit into its length of 1 bytes;") !=
	      std::string::npos);
	CHECK(read(record("n unsigned 64 bits\na text of n bytes"), "ffffffffffffffff 00")
		  .find("0: a record is cut off") != std::string::npos);
	CHECK(read(record("n unsigned 64 bits\na list of n times 4 plus 4 unsigned 32 bits"), "ffffffffffffffff 00")
		  .find("0: a record is cut off") != std::string::npos);
	CHECK(read("trace t\nthe file begins with\nv signed 8 bits, always -2\nend\n" + text.substr(8), "fd 02 07") ==
	      "header at byte 0: the header's v is -3, but must always be -2\n");
	CHECK(
	    read(record("filler bytes 0xAA 1"), "aa01 aa02") ==
	    "0 r \ngap\nrecord 1 at byte 2: the record's filler is 0xaa02, but must always be 0xaa01; the rest of the "
	    "file is skipped\n");
	CHECK(read(record("a unsigned 8 bits, always 7"), "07 08")
		  .find("record 1 at byte 1: the record's a is 8, but must always be 7") != std::string::npos);
}

TEST_CASE("tdl: a wrong checksum costs its record only")
{
	const auto summed = [](const std::string &method, const std::string &sums) {
		return read(
		    record("a unsigned 8 bits\nb unsigned 8 bits\ns unsigned 32 bits, big endian, checksum " + method),
		    sums);
	};
	CHECK(summed("sum8", "ff02 00000001") == "0 r a=255 b=2 s=1\n");
	CHECK(summed("sum16", "ff02 00000101") == "0 r a=255 b=2 s=257\n");
	CHECK(summed("sum32", "ff02 00000101") == "0 r a=255 b=2 s=257\n");
	CHECK(summed("xor8", "ff02 000000fd") == "0 r a=255 b=2 s=253\n");
	CHECK(summed("crc32", "'ab' 9e83486d") == "0 r a=97 b=98 s=2659403885\n");
	CHECK(summed("sum8 of b", "ff02 00000002") == "0 r a=255 b=2 s=2\n");
	CHECK(summed("sum8 of a to b", "0102 00000003 0102 00000004 0303 00000006") ==
	      "0 r a=1 b=2 s=3\ngap\n0 r a=3 b=3 s=6\nrecord 1 at byte 6: the checksum of a record is wrong; it is "
	      "skipped\n");
	const std::string text = record("a unsigned 8 bits\ns unsigned 8 bits, checksum sum8");
	for (const char *bytes : {"0101 0203 0404", "0101 0202 0405"}) { // in the middle and at the end
		const auto summed = bytes_of(bytes);
		monitor::trace::Trace trace = open(text, summed);
		std::vector<std::uint64_t> lost;
		merge(
		    trace, {}, [](const auto &) {},
		    [&](const auto &, auto, auto, std::uint64_t count) { lost.push_back(count); });
		CHECK(lost == std::vector<std::uint64_t>{1});
	}
}

TEST_CASE("tdl: a file of nothing but a header has no events and no damage")
{
	const std::string header = "trace t\nthe file begins with\nm text of 2 bytes\nend\n",
			  segments = "every segment begins with\nn unsigned 8 bits\nlength is n\nend\n",
			  fixed = "every segment begins with\nn unsigned 8 bits\nlength is 4 bytes\nend\n",
			  records = "record r\na unsigned 8 bits\nend\n";
	for (const std::string &text : {header + records, header + segments + records, header + fixed + records}) {
		CHECK(read(text, "'ab'").empty());
		CHECK_THAT(read(text, "'a'"), Catch::Contains("the file ends in the middle of a header"));
	}
}

TEST_CASE("tdl: a million segments of nothing are refused")
{
	const std::string text = "trace t\nevery segment begins with\nn unsigned 8 bits\nlength is n\nend\n"
				 "record r\na unsigned 8 bits\nend\n";
	CHECK(read(text, std::vector<std::byte>(1'000'000, std::byte(1))).empty());
	CHECK_THAT(read(text, std::vector<std::byte>(1'000'001, std::byte(1))),
		   Catch::Contains("more than a million segments of less than 16 bytes; describe them as records"));
}

TEST_CASE("tdl: a shipped description that cannot be read keeps none of the others from being found")
{
	namespace fs = std::filesystem;
	std::string share = (fs::temp_directory_path() / "monitor-share-XXXXXX").string();
	REQUIRE(::mkdtemp(share.data()));
	const fs::path directory = fs::path(share) / "descriptions";
	fs::create_directory(directory);
	fs::create_symlink("nobody@nowhere", directory / ".#x.tdl");
	std::ofstream(directory / "a.tdl") << "trace a\nrecrd r\n";
	std::ofstream(directory / "b.tdl") << "trace b\nmagic \"MINE\"\nrecord r\na unsigned 8 bits\nend\n";
	::setenv("MONITOR_SHARE", share.c_str(), 1);
	CHECK(find("file", bytes_of("'MINE' 00")).model.name == "b");
	CHECK_THROWS_WITH(find("file", bytes_of("'YOURS'")), Catch::StartsWith("no description matches file") &&
								 Catch::Contains("Not read: cannot open ") &&
								 Catch::Contains(".#x.tdl") &&
								 Catch::Contains("a.tdl:2:1: "));
	::unsetenv("MONITOR_SHARE");
	fs::remove_all(share);
}

} // namespace test_tdl_reading
