// SPDX-License-Identifier: MIT
// TDL: what is no description is refused with line, column and what was expected, and what is one is taken.
#include <catch2/catch.hpp>

#include "tdl_samples.h"

namespace test_tdl_language {

using namespace monitor::trace::tdl;

namespace {

const std::string no_type = "expected a type: unsigned, signed, real, comp_t, text, block or list here, not ";

// Of the first line of the record's fields.
std::string field(const std::string &line)
{
	return wrong(record(line));
}

} // namespace

TEST_CASE("tdl: everything that a line can be is taken")
{
	CHECK(wrong(R"(# a comment, an empty line

trace all "every construct"
big endian
magic "ABCD" at byte 4 means little endian, seconds in milliseconds
magic bytes 1 0x02 0b11 4
the file begins with
	first block of 4 bytes
	magic unsigned 4 bytes, as hexadecimal "told by"
	size unsigned 16 bits, in bytes
	filler to a multiple of 16 bytes
	length is size plus 2 bytes
end
every segment begins with
	size unsigned 32 bits
	used unsigned 32 bits, in bits
	from unsigned 64 bits, in nanoseconds
	to unsigned 64 bits, in nanoseconds
	gone unsigned 32 bits
	count unsigned 32 bits
	cpu unsigned 32 bits
	length is size times 8 minus 4 bytes rounded up to 16 bytes
	content is used
	begin is from
	finish is to
	lost is gone
	number is count
	cpu is cpu
end
every record begins with
	kind unsigned 12 bits, named kinds
	options unsigned 4 bits, named options, hidden
	size unsigned 16 bits
	cpu unsigned 8 bits
	seconds signed 64 bits, in seconds
	length is size
	time is seconds since 1970, may step back
	cpu is cpu
end
record one when kind is one or 7 and options has urgent "the first"
	parts unsigned 8 bits,
		little endian, always 3, "goes on"
	filler of 3 bits
	filler of 5 bits
	filler bytes 0xAA 0xBB
	when options lacks urgent and size is at least 10 and kind is not two and size is at most 100
		name text until zero
		group place 2 times "where"
			x real 64 bits
			y real 32 bits, little endian
		end
	end
	list list of parts times 2 plus 1 signed 16 bits, named kinds
	rest list to the end of unsigned 8 bits, as octal
end
record two when kind is two
	sum unsigned 32 bits, checksum crc32 of data to data
	data block of size minus 20 bytes
	text text to the end
end
record others
end
names kinds "what there is"
	1 means one "the first"
	2 to 3 means two
end
names options
	bit 0 means urgent
	bit 3 means "two words"
end
)") == "none");
}

TEST_CASE("tdl: a line that is none is refused at its place")
{
	CHECK(wrong("") == "1:1: expected `trace` here, not the end of the line");
	CHECK(wrong("trce x\n") == "1:1: expected `trace` here, not trce; did you mean trace?");
	CHECK(wrong("trace\n") == "1:6: expected the name of the format here, not the end of the line");
	CHECK(wrong("trace t\n") ==
	      "2:1: expected `record NAME` (a description needs at least one) here, not the end of the line");
	CHECK_THAT(wrong("trace t\nrecrd r\nend\n"), Catch::StartsWith("2:1: expected a block: magic") &&
							 Catch::EndsWith("not recrd; did you mean record?"));
	CHECK(wrong("trace t\nrecord r\n\ta unsigned 8 bits\n") ==
	      "4:1: expected the `end` of record r of line 2 here, not the end of the line");
	CHECK(wrong("trace t\nrecord r\nend\n") == "2:1: the record has no fields");
	CHECK_THAT(wrong("trace t\nevery sgment begins with\n"), Catch::EndsWith("not sgment; did you mean segment?"));
	CHECK(wrong("trace t\nmagic 1\n") == "2:7: expected `bytes N N ...` or a text, of 1 to 64 bytes here, not 1");
	CHECK(wrong("trace t\nmagic bytes 256\n") == "2:13: expected bytes, each 0 to 255 here, not 256");
	CHECK(wrong("trace t\nmagic \"A\" means small endian\n") == "2:23: expected `in` here, not endian");
	CHECK(wrong("trace t\nmagic \"A\" means b in seconds\nrecord r\na unsigned 8 bits\nend\n") ==
	      "2:17: there is no field b; did you mean a?");
	CHECK(wrong("trace t\nrecord r\na unsigned 8 bits\nend\nrecord r\na unsigned 8 bits\nend\n") ==
	      "5:1: two records are called r");
}

TEST_CASE("tdl: a field that is none is refused at its place")
{
	CHECK_THAT(field("a"), Catch::StartsWith("3:1: expected a field (NAME TYPE), filler, when, group"));
	CHECK(field("a unsinged 8 bits") == "3:3: " + no_type + "unsinged; did you mean unsigned?");
	CHECK(field("a unsigned") == "3:11: expected 1 to 64 bits here, not the end of the line");
	CHECK(field("a unsigned 65 bits") == "3:12: a number must have 1 to 64 bits");
	CHECK(field("a unsigned 9 bytes") == "3:12: a number must have 1 to 64 bits");
	CHECK(field("a unsigned 8 bist") == "3:14: expected `bits` or `bytes` here, not bist; did you mean bits?");
	CHECK(field("a real 16 bits") == "3:8: a real number must have 32 or 64 bits");
	CHECK(field("a text") ==
	      "3:7: expected `of N bytes`, `until zero` or `to the end` here, not the end of the line");
	CHECK(field("a text of -1 bytes") == "3:11: expected a non-negative number here, not -1");
	CHECK(field("a text of 2000000000 bytes") == "3:11: more than 2^30 is not supported");
	CHECK_THAT(field("a unsigned 8 bits, hiden"), Catch::EndsWith("not hiden; did you mean hidden?"));
	CHECK(field("a unsigned 8 bits, named b") == "3:26: there is no block `names b`");
	CHECK(field("a unsigned 8 bits, always 256") == "3:1: the number after `always` does not fit into the field");
	CHECK(field("a real 32 bits, always 1") == "3:1: only an integer can be `always` a number");
	CHECK(field("a unsigned 8 bits \"b\" c") == "3:23: expected the end of the line here, not c");
	CHECK(field("a unsigned 8 bits\na signed 8 bits") == "4:1: a field of this block is already called a");
	CHECK(field("a unsigned 8 bits, in ticks of 0 per second") ==
	      "3:32: expected the number of ticks per second here, not 0");
	CHECK(field("filler to a multiple of 3 bytes") ==
	      "3:8: a filler must go to a multiple of 1, 2, 4, 8 ... or 4096 bytes");
	CHECK(field("filler bytes 1 2 3 4 5 6 7 8 9") == "3:30: expected at most 8 bytes, each 0 to 255 here, not 9");
	CHECK(field("a unsigned 8 bits, checksum md5") ==
	      "3:29: expected sum8, sum16, sum32, xor8 or crc32 here, not md5");
	CHECK(field("a signed 8 bits, checksum sum8") == "3:1: a checksum must be an unsigned integer of a record");
}

TEST_CASE("tdl: a name that means nothing is refused with what was meant")
{
	CHECK(field("a text of count bytes") == "3:11: there is no field count before this");
	CHECK(field("count unsigned 8 bits\na text of cuont bytes") ==
	      "4:11: there is no field cuont before this; did you mean count?");
	CHECK(field("count real 32 bits\na text of count bytes") == "4:11: count is not an integer");
	CHECK(field("a unsigned 8 bits\nwhen a is 1\nb unsigned 8 bits\nend\nc text of b bytes") ==
	      "7:11: b is not in every record; what depends on it must be in the same `when`");
	CHECK(field("a unsigned 8 bits\nwhen a is 1\nb unsigned 8 bits\nc text of b bytes\nend") == "none");
	CHECK(field("a unsigned 8 bits\nwhen a is -1\nend") == "4:11: a is never negative");
	CHECK_THAT(field("a unsigned 8 bits\nwhen a is red\nend"),
		   Catch::StartsWith("4:11: the values of this field have"));
	CHECK(wrong("trace t\nrecord r\na unsigned 8 bits, named n\nwhen a is blu\nend\nend\nnames n\n1 means "
		    "blue\nend\n") == "4:11: the field has no value called blu; did you mean blue?");
	CHECK(wrong("trace t\nrecord r\na unsigned 8 bits, named n\nend\nnames n\n256 means x\nend\n") ==
	      "6:1: x does not fit into the 8 bits of a field with these names (line 3)");
	CHECK(field("a unsigned 8 bits\nlenght is a") ==
	      "4:1: unknown statement: a block can have length, content, time, "
	      "cpu, begin, finish, lost and number; a field needs a type");
}

TEST_CASE("tdl: what cannot be read is refused")
{
	CHECK_THAT(field("a text to the end"), Catch::StartsWith("2:1: a field goes to the end of the record"));
	CHECK(field("a unsigned 8 bits\nlength is 0") == "4:11: a length must be a whole number of bytes, at least 1");
	CHECK(field("a unsigned 8 bits\nlength is 4 bits") ==
	      "4:11: a length must be a whole number of bytes, at least 1");
	CHECK_THAT(field("a unsigned 8 bits\nb text of a bytes\nn unsigned 8 bits\nlength is n"),
		   Catch::StartsWith("6:11: n must come before all fields of variable size"));
	CHECK_THAT(field("a unsigned 8 bits\ntime is a"),
		   Catch::StartsWith("4:9: a has no unit of time; add `in seconds`"));
	CHECK_THAT(field("a unsigned 8 bits, in seconds\ntime is a since the segment"),
		   Catch::StartsWith("4:1: the segment's begin is not described"));
	CHECK_THAT(
	    field("a unsigned 8 bits, in ticks of 3 per second\nb unsigned 8 bits, in milliseconds\ntime is a plus b"),
	    Catch::StartsWith("5:9: this unit does not fit the finest one"));
	CHECK(wrong("trace t\nevery segment begins with\na unsigned 8 bits\nend\n" +
		    record("a unsigned 8 bits").substr(8)) == "2:1: a segment needs a length: add `length is ...`");
	CHECK(field("a unsigned 8 bits\nbegin is a") ==
	      "4:10: only a segment can have `begin`, `finish`, `lost` and `number`");
	CHECK_THAT(field("a unsigned 8 bits\nwhen a is 1\nb unsigned 8 bits, always 2\nend"),
		   Catch::StartsWith("5:1: only a field that every record has exactly once"));
	CHECK(field("s unsigned 8 bits, checksum sum8 of s to t\nt unsigned 8 bits") ==
	      "3:37: a checksum cannot cover itself");
	CHECK(wrong("trace t\nrecord r\na unsigned 16 bits, named n\nend\nnames n\nbit 0 means a\n1 means b\nend\n") ==
	      "7:1: a block must name either values only or bits only");
}

TEST_CASE("tdl: a block without its end is told with the line where it begins")
{
	const std::string text = "trace t\nrecord r\na unsigned 8 bits\n";
	CHECK(wrong(text) == "4:1: expected the `end` of record r of line 2 here, not the end of the line");
	CHECK(wrong(text + "record s\nb unsigned 8 bits\nend\n") ==
	      "4:1: expected the `end` of record r of line 2 here, not record");
	CHECK(wrong(text + "when a is 1\nend\nnames n\n") ==
	      "6:1: expected the `end` of record r of line 2 here, not names");
	CHECK(wrong(text + "when a is 1\nnames n\n") == "5:1: expected the `end` of when of line 4 here, not names");
	CHECK(wrong(text + "group g\n\nb unsigned 8 bits\n") ==
	      "7:1: expected the `end` of group of line 4 here, not the end of the line");
	CHECK(wrong("trace t\nevery record begins with\nrecord r\n") ==
	      "3:1: expected the `end` of the block of line 2 here, not record");
	CHECK(wrong(text + "end\nnames n\n1 means a\nrecord s\n") ==
	      "7:1: expected the `end` of names n of line 5 here, not record");
	CHECK(wrong(text + "names unsigned 8 bits\nend\n") == "none"); // a field
}

TEST_CASE("tdl: what can never be is refused")
{
	const auto named = [](const std::string &names) {
		return wrong(record("a signed 8 bits, named n") + "names n\n" + names + "\nend\n");
	};
	CHECK(named("1 means a\n2 means b\n1 means c") ==
	      "8:1: a number has two names, the other one on line 6; remove one of them");
	CHECK(named("3 means a\n1 to 5 means b").substr(0, 4) == "7:1:");
	CHECK(named("-1 means a\n-5 to 2 means b").substr(0, 4) == "7:1:");
	CHECK(named("bit 1 means a\nbit 1 means b").substr(0, 4) == "7:1:");
	CHECK(named("-5 to -1 means a\n0 to 2 means b\n-6 means c") == "none");
	const std::string twice =
	    ":1: the byte order of all fields appears twice; that of one field comes after its type";
	CHECK(wrong("trace t\nbig endian\nlittle endian\n" + record("a unsigned 8 bits").substr(8)) == "3" + twice);
	const std::string nothing = "an amount of 0 describes nothing; remove the line";
	CHECK(field("a text of 0 bytes") == "3:11: " + nothing);
	CHECK(field("a block of 0 bytes") == "3:12: " + nothing);
	CHECK(field("a list of 0 unsigned 8 bits") == "3:11: " + nothing);
	const std::string end = " goes to the end of the record; give it a size, as in `text of SIZE minus 4 bytes`";
	const std::string sized = "n unsigned 8 bits\nlength is n\n";
	CHECK(field(sized + "a text to the end\nb unsigned 8 bits") ==
	      "6:1: nothing can follow here, as a of line 5" + end);
	CHECK(field(sized + "a list to the end of unsigned 8 bits\nfiller of 1 bytes").substr(0, 4) == "6:8:");
	CHECK(field(sized + "group g to the end\na unsigned 8 bits\nend\nb unsigned 8 bits") ==
	      "8:1: nothing can follow here, as g of line 5" + end);
	CHECK(field(sized + "group g\na block to the end\nend\nb unsigned 8 bits").substr(0, 4) == "8:1:");
	CHECK(field(sized + "when n is 9\na text to the end\nb unsigned 8 bits\nend").substr(0, 4) == "7:1:");
	CHECK(field(sized + "when n is 9\na text to the end\nend\nb unsigned 8 bits") == "none");
	CHECK(field("a unsigned 32 bits\nb text until zero\nlength is 3 bytes") ==
	      "5:11: the fields of r take more than this, at least 4 bytes");
	CHECK(field("a unsigned 32 bits\nb text until zero\nlength is 4 bytes") == "none");
	CHECK(wrong("trace t\nthe file begins with\na unsigned 16 bits\nlength is 1\nend\n" +
		    record("a unsigned 8 bits").substr(8)) ==
	      "4:11: the fields of the file take more than this, at least 2 bytes");
	CHECK(field("a unsigned 32 bits\ns unsigned 16 bits, checksum crc32") ==
	      "4:1: this checksum has 32 bits; the field needs at least as many");
	CHECK(field("s unsigned 32 bits, checksum crc32\na unsigned 32 bits") ==
	      "3:1: a checksum covers what comes before it, and nothing does; add `of FIRST to LAST`");
	CHECK(field("s unsigned 8 bits, checksum sum8 of a\na unsigned 32 bits") == "none");
	const auto second = [](const std::string &first, const std::string &second) {
		return wrong("trace t\nevery record begins with\nk signed 8 bits\nl unsigned 8 bits\nend\nrecord a" +
			     first + "\nend\nrecord b" + second + "\nend\n");
	};
	CHECK(second("", "") ==
	      "8:1: record b never matches: record a matches first; put this one first, or tell them apart "
	      "with `when`");
	CHECK(second("", " when k is 1").substr(0, 4) == "8:1:");
	CHECK(second(" when k is 1", " when k is 1").substr(0, 4) == "8:1:");
	CHECK(second(" when k is 1 or 2", " when l is 3 and k is 2").substr(0, 4) == "8:1:");
	CHECK(second(" when k is at most 3", " when k is -4 or 2").substr(0, 4) == "8:1:");
	CHECK(second(" when k is at most 3", " when k is at most 4") == "none");
	CHECK(second(" when k is 1 and l is 2", " when k is 1") == "none");
	CHECK(second(" when k is 1", " when k is 1 or 2") == "none");
	CHECK(second(" when l is 1", " when k is 1") == "none");
	CHECK(second(" when l has 1", " when l is 1") == "none"); // it is not known to be
	CHECK(field("group a 0 times\nb unsigned 8 bits\nend") == "3:9: " + nothing);
}

TEST_CASE("tdl: what never holds is refused")
{
	const std::string no_fit = "3:1: the number after `always` does not fit into the field";
	CHECK(field("a signed 8 bits, always 255") == no_fit);
	CHECK(field("a signed 8 bits, always -129") == no_fit);
	CHECK(field("a signed 8 bits, always -1") == "none");
	CHECK(field("a unsigned 8 bits, always 255") == "none");
	const auto of = [](const std::string &range) {
		return field(
		    "x unsigned 4 bits\ny unsigned 4 bits\nz unsigned 8 bits\ns unsigned 8 bits, checksum sum8" +
		    range);
	};
	const std::string no_bytes = "6:1: a checksum covers whole bytes; what s covers begins or ends within a byte";
	CHECK(of(" of x to y") == "none");
	CHECK(of("") == "none");
	CHECK(of(" of x to x") == no_bytes);
	CHECK(of(" of y to z") == no_bytes);
	CHECK(field("x unsigned 4 bits\ns unsigned 8 bits, checksum sum8") == "4" + no_bytes.substr(1));
}

TEST_CASE("tdl: words that are none are refused")
{
	CHECK(wrong("trace t $\n") == "1:9: this character is not valid in TDL");
	CHECK(wrong("trace t \"abc\n") == "1:9: a text does not end on its line: its closing \" is missing");
	CHECK(wrong("trace t \"\\q\"\n") == "1:10: an escape in a text must be one of \\\" \\\\ \\n \\xNN");
	CHECK(field("a unsigned 8x bits") == "3:12: a number is malformed: 10, 0xA0 and 0b11 are numbers");
	CHECK(field("a unsigned 18446744073709551616 bits") == "3:12: a number does not fit into 64 bits");
	CHECK(wrong("trace " + std::string(256, 'a') + "\n") == "1:7: a name is longer than 255 bytes");
}

TEST_CASE("tdl: nesting and size are bounded")
{
	std::string deep = "a unsigned 8 bits\n", ends;
	for (int i = 0; i < 16; ++i) {
		deep += "when a is 1\n";
		ends += "end\n";
	}
	CHECK(field(deep + "b unsigned 8 bits\n" + ends) == "none");
	CHECK(field(deep + "when a is 1\n" + ends + "end\n") == "20:1: blocks are nested too deeply");
	CHECK(field("group a 1000000000 times\ngroup b 1000000000 times\nc unsigned 8 bits\nend\nend") ==
	      "3:9: the repeated part takes more than 2^30 bytes");
	CHECK(field("group a 1000000000 times\nfiller of 0 bytes\nend") == "3:9: the repeated part takes no bytes");
	CHECK(field("a block of 1073741824 bytes\nb unsigned 8 bits, in seconds\ntime is b") == "none");
	std::string many;
	for (int i = 0; i < 10'001; ++i)
		many += "a" + std::to_string(i) + " unsigned 8 bits\n";
	CHECK_THAT(field(many), Catch::EndsWith("a description has at most 10000 lines of fields and names"));
	CHECK(wrong(std::string((1 << 20) + 1, ' ')) == "1:1: the description is larger than 1 MiB");
	std::string common = "trace t\nevery record begins with\n", records;
	for (int i = 0; i < 400; ++i) {
		common += "a" + std::to_string(i) + " unsigned 8 bits\n";
		records += "record r" + std::to_string(i) + " when a0 is " + std::to_string(i) + "\nend\n";
	}
	CHECK_THAT(wrong(common + "end\n" + records), Catch::Contains("more than 100,000 fields"));
	std::string uses, flags = "names n\n";
	for (int i = 0; i < 12; ++i)
		flags +=
		    "bit " + std::to_string(i) + " means \"" + std::string(1000, static_cast<char>('a' + i)) + "\"\n";
	for (int bits = 12; bits <= 64; ++bits)
		uses += "a" + std::to_string(bits) + " unsigned " + std::to_string(bits) + " bits, named n\n";
	CHECK(wrong(record(uses) + flags + "end\n") == "none"); // their combinations are made once
	CHECK_THAT(wrong(record(uses + "b signed 12 bits, named n") + flags + "end\n"),
		   Catch::Contains("the names of all combinations of bits take more than 32 MiB"));
}

TEST_CASE("tdl: every beginning of a description is refused or whole")
{
	const std::string text =
	    "trace t\nmagic \"AB\" means big endian\nrecord r\na unsigned 8 bits, named n\nlength is a\n"
	    "end\nnames n\n1 means one\nend\n";
	std::size_t whole = 0;
	for (std::size_t size = 0; size <= text.size(); ++size)
		whole += wrong(text.substr(0, size)) == "none";
	CHECK(whole == 2); // the last `end`, and after its line
}

} // namespace test_tdl_language
