// SPDX-License-Identifier: MIT
#include "other_files.h"

#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "read.h"

namespace monitor::trace::tdl {
namespace {

constexpr std::size_t max_files = 1000, start_bytes = 4096;

struct Format {
	std::string_view magic, name, command; // the file's path replaces % in the command
};
// Written by some versions of Linux: its records have more fields.
constexpr std::string_view modified_pcap =
    "`editcap -F pcap % FILE` makes a plain pcap of it, which `monitor list FILE` reads";
constexpr Format formats[] = {
    {"PERFILE2", "a recording of perf",
     "`perf data convert -i % --to-ctf DIR` makes a trace of it, which `monitor list DIR` reads"},
    {"\x0a\x0d\x0d\x0a", "a pcapng", "`editcap -F pcap % FILE` makes a pcap of it, which `monitor list FILE` reads"},
    {"\xa1\xb2\xcd\x34", "a modified pcap", modified_pcap},
    {"\x34\xcd\xb2\xa1", "a modified pcap", modified_pcap},
    {"\x08\x74\x61\x65", "a blktrace of version 8, whose records have other fields", "`blkparse -i %` reads it"},
    {"\x65\x61\x74\x07", "a blktrace of a big endian machine", "`blkparse -i %` reads it"},
    {"\x17\x08\x44tracing", "a recording of trace-cmd", "`trace-cmd report -i %` reads it"},
};

// Quotes a word for the shell if necessary.
std::string shell_word(const std::string &path)
{
	std::string quoted = "'";
	for (const char c : path)
		quoted += c == '\'' ? "'\\''" : std::string(1, c);
	const bool is_plain =
	    path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:/@%") ==
	    std::string::npos;
	return is_plain ? path : quoted + "'";
}

} // namespace

std::string reader_of_other(const std::string &path, std::span<const std::byte> untrusted_bytes)
{
	for (const Format &format : formats)
		if (untrusted_bytes.size() >= format.magic.size() &&
		    std::memcmp(untrusted_bytes.data(), format.magic.data(), format.magic.size()) == 0) {
			std::string command(format.command);
			return path + " is " + std::string(format.name) + ": " +
			       command.replace(command.find('%'), 1, shell_word(path));
		}
	return "";
}

std::string reader_of_files_in(const std::string &directory)
{
	std::set<std::string> paths;
	std::error_code error;
	for (std::filesystem::directory_iterator entry(directory, error), end;
	     !error && entry != end && paths.size() < max_files; entry.increment(error))
		paths.insert(entry->path().string());
	for (const std::string &path : paths) {
		const std::string start = monitor::read_text(path, start_bytes);
		const auto bytes = std::as_bytes(std::span(start));
		if (std::string reader = reader_of_other(path, bytes); !reader.empty())
			return reader;
		try {
			find(path, bytes);
			return "`monitor list " + shell_word(path) + "` reads the file in it";
		} catch (const Error &) { // not described in TDL
		}
	}
	return "";
}

} // namespace monitor::trace::tdl
