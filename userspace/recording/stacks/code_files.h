// SPDX-License-Identifier: MIT
// Executable files of processes: each is read once; its unwind table goes to the probes, and a line of JSON for
// symbolization into .monitor/files.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_image.h"
#include "base/fd.h"
#include "base/json.h"
#include "monitor/stack.h"
#include "user_shares.h"

namespace monitor::stacks {

struct CodeFile {
	std::uint32_t number = 0;              // in .monitor/files
	std::uint32_t first_row = 0, rows = 0; // EDC_UNWIND_LATER: table deferred
	std::vector<ElfSegment> loads;
};

struct FileVersion {
	std::uint64_t size = 0;
	std::int64_t modified_ns = 0;
};

class CodeFiles {
public:
	// `list`: .monitor/files, which stays open.
	CodeFiles(std::span<edc_unwind_row> rows, Fd list) : rows_(rows), shares_(rows.size()), list_(std::move(list))
	{
	}

	// nullptr: not seen before.
	CodeFile *find(const std::string &key) const;
	// Adds another key of the file.
	void add_key(const std::string &key, CodeFile &file);
	// `image` nullopt: unreadable. `user`: whose share of rows the table uses. `deferred`: a descriptor of the
	// file, to defer its table. nullptr: too many files.
	CodeFile *add(const std::string &key, const std::string &path, const std::optional<ElfImage> &image,
		      const FileVersion &version, std::uint32_t user = 0, Fd deferred = {});
	// Builds deferred tables, shortest first, within this total CPU time for all tables; calls `on_made` for each.
	void make_tables(std::uint64_t max_ns, const std::function<void(const CodeFile &)> &on_made);

	// Notes a process's number in its own pid namespace.
	void add_process(std::int32_t process, std::int32_t inside);
	// Notes a user whose "mappings" or "tables" had no room.
	void add_without_room(std::uint32_t user, const char *what);
	// Notes that no more files can be opened.
	void add_lost_opener() { write({{"opener_lost", true}}); }

	std::size_t size() const { return files_.size(); }
	std::size_t rows() const { return next_row_; }
	std::uint64_t unread() const { return unread_; }             // files that could not be read
	std::uint64_t without_room() const { return without_room_; } // files and tables without room
	std::uint64_t build_ns() const { return build_ns_; }         // CPU time of the tables
	// Users whose files and tables had no room, since the last call.
	std::vector<std::uint32_t> take_refused() { return std::exchange(refused_, {}); }

private:
	struct DeferredTable {
		CodeFile *file;
		Fd fd;
		std::uint32_t user;
		nlohmann::ordered_json line;
	};
	bool add_table(CodeFile &file, const ElfImage &image, std::uint32_t user, nlohmann::ordered_json &line);
	void refuse(std::uint32_t user);
	void write(const nlohmann::ordered_json &line);

	std::span<edc_unwind_row> rows_;
	UserShares shares_;
	Fd list_;
	std::deque<CodeFile> files_;
	std::map<std::string, CodeFile *> by_key_; // several keys of one file
	std::size_t list_bytes_ = 0;
	std::uint32_t next_row_ = 0;
	std::uint64_t unread_ = 0, without_room_ = 0, build_ns_ = 0;
	std::vector<std::uint32_t> refused_;
	std::multimap<std::uint64_t, DeferredTable> deferred_; // by estimated time to build, in ns
};

// The load bias (runtime address - link-time address) of code mapped from `offset` at `start`. Its first page may also
// hold the end of the preceding segment (ld.lld).
std::uint64_t bias_of(const CodeFile &file, std::uint64_t start, std::uint64_t end, std::uint64_t offset);

} // namespace monitor::stacks
