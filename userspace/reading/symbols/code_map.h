// SPDX-License-Identifier: MIT
// Which file a process had mapped at an address at some time: from the `mapping` tokens of a trace (card.h) and the
// list of files, .monitor/files. symbolizer.cpp looks addresses up after the last event.
// Both inputs are untrusted. Changes come in any order; each has its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reading/analyze/mapping_token.h"

namespace monitor::symbols {

struct CodeFile {
	std::string path, build_id;
	std::string copy;       // in the trace, of a file that cannot be found by its path; optional
	std::uint64_t size = 0; // without a build id: the file's size then, and its modification time
	std::int64_t modified_ns = 0;
	struct Load {
		std::uint64_t offset, address, size;
	};
	std::vector<Load> loads; // executable ones
	// Address ranges (file addresses, end exclusive) of code without unwind tables, where callers were found by
	// frame pointers.
	std::vector<std::pair<std::uint64_t, std::uint64_t>> assumed;
	bool has_unknown_go = false; // it has a Go table of a version that the recorder does not know

	// The file address of an offset; the offset itself if that is unknown.
	std::uint64_t address_of(std::uint64_t offset) const;
	bool is_assumed(std::uint64_t address) const;
};

struct CodeList {
	std::unordered_map<std::uint32_t, CodeFile> files;      // by number
	std::unordered_map<std::int32_t, std::int32_t> numbers; // pids in other pid namespaces
	// Users whose programs exceeded the recorder's limits, and for what: "mappings", "tables".
	std::set<std::pair<std::uint32_t, std::string>> without_room;
	bool opener_lost = false; // from some line on, files could not be opened
};

// Parses .monitor/files, a line of JSON per file and process; skips other lines.
CodeList parse_code_list(const std::string &text);

class CodeMap {
public:
	void add(const analyze::MappingToken &change);
	// Called before find().
	void finish();

	// For a running recording: changes beyond this number are dropped and counted.
	void limit(std::size_t max_changes) { max_changes_ = max_changes; }
	// After finish(): find() will not be called for earlier times, so only the mappings at this time are kept.
	void forget_before(std::uint64_t time);
	// The process has ended: forgets it, unless there are later changes, which are another process's with its
	// number. After forget_before(), as its children may have copied its mappings.
	void ended(std::int32_t process, std::uint64_t time);
	std::size_t size() const { return size_; } // number of changes
	std::uint64_t left_out() const { return left_out_; }

	struct Location {
		std::uint32_t file = 0;   // 0: none
		std::uint64_t offset = 0; // in the file; without a file, from the mapping's start
		std::int32_t process = 0; // that made the mapping: this one, or an ancestor
	};
	std::optional<Location> find(std::int32_t process, std::uint64_t time, std::uint64_t address) const;

private:
	struct Range {
		std::uint64_t end = 0;
		std::size_t change = 0; // that made the mapping
	};
	// The mappings after the first `changes` changes. Snapshots are frequent enough to bound how far find() looks
	// back, and rare enough to take no more memory than the changes.
	struct Snapshot {
		std::size_t changes = 0;
		std::map<std::uint64_t, Range> ranges; // by start
		std::optional<std::size_t> copied_at;  // the change that copied its parent's mappings into it
	};
	struct History {
		std::vector<analyze::MappingToken> changes; // by time, after finish()
		std::vector<Snapshot> snapshots;
	};
	static void take_snapshots(History &history);
	static void add_change(Snapshot &to, const analyze::MappingToken &change, std::size_t index);
	static void map(std::map<std::uint64_t, Range> &ranges, const analyze::MappingToken &added, std::size_t change);
	std::vector<analyze::MappingToken> mapped_at(std::int32_t process, std::uint64_t time, int ancestors) const;

	std::unordered_map<std::int32_t, History> by_process_;
	std::set<std::int32_t> unsorted_, untrimmed_; // processes with changes since finish(), since forget_before()
	std::size_t size_ = 0, max_changes_ = ~std::size_t(0);
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::symbols
