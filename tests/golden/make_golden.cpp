// SPDX-License-Identifier: MIT
// Writes the golden traces: make_golden DIRECTORY EVENTS makes DIRECTORY/basic, /gap and /one.
//
// EVENTS is the file of event classes (metadata.events). The traces hold what a recording seldom shows at once:
// payloads of every length, every kind of field at its limits, two CPUs and their levels, the recorder's stream, wraps
// of the low 32 bits of time, an empty packet, and (gap) counted losses and a jump in the packets' numbers. `one` is a
// single packet, to be damaged. No two streams have an event at the same time, so that any reader gives the same order.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../unit/samples.h"

namespace {

using samples::StreamWriter;

constexpr std::uint64_t all_ones = ~std::uint64_t(0);

std::uint64_t pair(std::int32_t low, std::int32_t high)
{
	return static_cast<std::uint32_t>(low) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32;
}

// Eight characters of a text from `at`.
std::uint64_t chars(const std::string &text, std::size_t at)
{
	std::uint64_t word = 0;
	if (at < text.size())
		std::memcpy(&word, text.data() + at, std::min<std::size_t>(8, text.size() - at));
	return word;
}

void post_new_thread(StreamWriter &writer, std::uint64_t time, std::int32_t pid, std::int32_t parent,
		     const std::string &comm)
{
	writer.post(time, 259, 0, {pair(pid, pid), pair(parent, 120), chars(comm, 0), chars(comm, 8)});
}

void post_switch(StreamWriter &writer, std::uint64_t time, std::int32_t from, std::int32_t to)
{
	writer.post(time, 256, 1, {pair(from, to)});
}

// Every class once, with values that grow with `n`; n = 0 has the limits.
std::uint64_t post_all(StreamWriter &writer, std::uint64_t time, std::uint64_t n, std::uint64_t step)
{
	const std::uint64_t big = n == 0 ? all_ones : n * 0x0123456789abcdef;
	const std::uint64_t lowest = n == 0 ? std::uint64_t(1) << 63 : 0 - n;
	const auto next = [&] { return time += step; };
	const std::string text = n == 0 ? "0123456789abcdef0123456789ABCDEFxyzw<>[]" : "text " + std::to_string(n);
	writer.post(next(), 300, static_cast<unsigned>(n == 0 ? 0x8000 : 0 - n));
	writer.post(next(), 301, 0xfeed + n, {pair(n == 0 ? INT32_MIN : -int(n), n == 0 ? -1 : int(n))});
	writer.post(next(), 302, static_cast<unsigned>(n & 15) << 12 | (0xfff - n),
		    {big, lowest << 16 >> 16 & 0xfff'ffff'ffff});
	writer.post(next(), 303, static_cast<unsigned>(n) - 3, {chars(text, 0), n == 0 ? chars(text, 8) : 0, lowest});
	writer.post(next(), 304, 0xffff, {big, lowest, big, pair(-1, n == 0 ? INT32_MIN : 7)}, EDC_MODE_USER);
	writer.post(next(), 305, 1,
		    {chars(text, 0), chars(text, 8), chars(text, 16), chars(text, 24), chars(text, 32)});
	writer.post(next(), 306, 2, // here fields lie across words
		    {(n & 0xffff) | lowest << 16, lowest >> 48 | (big & 0xffffffff) << 16 | chars(text, 0) << 48,
		     chars(text, 2), (chars(text, 10) & 0xffff'ffff'ffff) | 0xabcd'0000'0000'0000, big, lowest});
	writer.post(next(), 307, 3, {1, big, 2, lowest, 3, 4, lowest}, EDC_MODE_USER);
	writer.post(next(), 308, 0);
	writer.post(next(), 4095, static_cast<unsigned>(n));
	return time;
}

void write_file(const std::filesystem::path &path, std::string_view bytes)
{
	std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_stream(const std::filesystem::path &path, StreamWriter &writer)
{
	const auto bytes = writer.bytes();
	write_file(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

void make_basic(const std::filesystem::path &directory)
{
	StreamWriter recorder(0xffffffff, 0), cpu0(0, 0), cpu0_level1(0, 1), cpu1(1, 0);
	const std::uint64_t wrap = std::uint64_t(7) << 32; // the low 32 bits wrap here

	recorder.open(wrap - 5000);
	recorder.post(wrap - 5000, 1, 0, {11, 22, 33, 44});
	recorder.post(wrap + 5000, 1, 1, {55, 66, 77, all_ones});

	cpu0.open(wrap - 4000).tid = 41;
	post_new_thread(cpu0, wrap - 4000, 42, 41, "bash");
	post_new_thread(cpu0, wrap - 3990, 43, 41, "a \"name\"");
	post_switch(cpu0, wrap - 3980, 41, 42);
	post_all(cpu0, wrap - 45, 0, 10); // wraps in between
	cpu0.open(wrap + 1000).tid = 42;
	post_all(cpu0, wrap + 1000, 1, 10);
	cpu0.open(wrap + 2000); // empty
	cpu0.open(wrap + (std::uint64_t(3) << 32) + 1);
	post_all(cpu0, wrap + (std::uint64_t(3) << 32) + 1, 2, 1000000);

	cpu0_level1.open(wrap + 1005);
	cpu0_level1.post(wrap + 1005, 300, 9);
	cpu0_level1.post(wrap + 1015, 301, 9, {9});

	cpu1.open(wrap - 3995).tid = 0;
	cpu1.post(wrap - 3995, 300, 1);
	post_switch(cpu1, wrap - 3985, 0, 43);
	cpu1.post(wrap - 3984, 262, 0, {pair(43, 43), chars("renamed", 0), 0});
	std::uint64_t time = wrap - 3983;
	for (std::uint64_t n = 3; n < 20; ++n) { // three packets
		if (cpu1.room() < 600)
			cpu1.open(time + 3).tid = 43;
		time = post_all(cpu1, time, n, 3);
	}

	write_stream(directory / "recorder", recorder);
	write_stream(directory / "cpu0_level0", cpu0);
	write_stream(directory / "cpu0_level1", cpu0_level1);
	write_stream(directory / "cpu1_level0", cpu1);
}

void make_gap(const std::filesystem::path &directory)
{
	StreamWriter cpu0(0, 0), cpu1(1, 0);
	cpu0.open(1000).tid = 7;
	post_switch(cpu0, 1000, 7, 8);
	cpu0.post(1010, 300, 1);
	cpu0.open(2000, 5).tid = 9; // 5 events lost
	cpu0.post(2000, 300, 2);
	cpu0.post(2010, 300, 3);
	cpu0.skip_sequence(2); // 2 packets lost
	cpu0.open(3000, 5).tid = 10;
	cpu0.post(3005, 300, 4);
	cpu1.open(1500, 0).tid = 11;
	cpu1.post(1500, 300, 5);
	cpu1.post(2500, 300, 6);
	write_stream(directory / "cpu0_level0", cpu0);
	write_stream(directory / "cpu1_level0", cpu1);
}

void make_one(const std::filesystem::path &directory)
{
	StreamWriter cpu0(0, 0);
	cpu0.open(1000).tid = 7;
	post_new_thread(cpu0, 1000, 8, 7, "bash");
	post_switch(cpu0, 1001, 7, 8);
	post_all(cpu0, 1001, 0, 1);
	write_stream(directory / "cpu0_level0", cpu0);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 3) {
		std::fprintf(stderr, "usage: make_golden DIRECTORY EVENTS\n");
		return 2;
	}
	std::ifstream events(argv[2]);
	const std::string classes{std::istreambuf_iterator<char>(events), {}};
	for (const char *name : {"basic", "gap", "one"}) {
		const auto directory = std::filesystem::path(argv[1]) / name;
		std::filesystem::create_directories(directory);
		write_file(directory / "metadata", samples::description_text(classes));
	}
	make_basic(std::filesystem::path(argv[1]) / "basic");
	make_gap(std::filesystem::path(argv[1]) / "gap");
	make_one(std::filesystem::path(argv[1]) / "one");
	return 0;
}
