// SPDX-License-Identifier: MIT
// Which file a process ran at an address at some time: from the `mapping` tokens of a trace (card.h) and the list of
// files beside it, .monitor/files. Filled by whoever folds the trace; asked by symbolizer.cpp after the last event.
//
// Both are untrusted. Changes come in any order; each has its time.
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
	std::string copy;       // in the trace, of what nobody finds at its path; there need not be one
	std::uint64_t size = 0; // without a build id: of the file then, and when it was changed last
	std::int64_t modified_ns = 0;
	struct Load {
		std::uint64_t offset, address, size;
	};
	std::vector<Load> loads; // executable ones
	// Addresses, as the file counts them, of code that no table describes, where callers were found by frame
	// pointers: from the first to before the second.
	std::vector<std::pair<std::uint64_t, std::uint64_t>> assumed;
	bool has_unknown_go = false; // a table of Go of a version that the recorder does not know

	// The address as the file counts them; the offset itself if that is unknown.
	std::uint64_t address_of(std::uint64_t offset) const;
	bool is_assumed(std::uint64_t address) const;
};

struct CodeList {
	std::unordered_map<std::uint32_t, CodeFile> files;      // by number
	std::unordered_map<std::int32_t, std::int32_t> numbers; // of processes in their own pid namespaces, if others
	// Users whose programs mapped more than the recorder had room for, and what: "mappings", "tables".
	std::set<std::pair<std::uint32_t, std::string>> without_room;
	bool opener_lost = false; // files of later lines could not be opened
};

// The text of .monitor/files, a line of JSON for each file and process; what is neither is passed over.
CodeList parse_code_list(const std::string &text);

class CodeMap {
public:
	void add(const analyze::MappingToken &change);
	// Before find().
	void finish();

	// Of a recording that is running. What is more than that is not taken, and counted.
	void limit(std::size_t max_changes) { max_changes_ = max_changes; }
	// After finish(): of earlier times nobody will ask any more, so only what was mapped then is kept.
	void forget_before(std::uint64_t time);
	// The process has ended, so it is forgotten unless something happened since, as another one has its number now.
	// After forget_before(): its children, too, may have what it mapped.
	void ended(std::int32_t process, std::uint64_t time);
	std::size_t size() const { return size_; } // changes
	std::uint64_t left_out() const { return left_out_; }

	struct Place {
		std::uint32_t file = 0;   // 0: none
		std::uint64_t offset = 0; // in the file; without a file, from the start of the mapping
		std::int32_t process = 0; // that mapped it: this one, or one that it is a copy of
	};
	std::optional<Place> find(std::int32_t process, std::uint64_t time, std::uint64_t address) const;

private:
	struct Range {
		std::uint64_t end = 0;
		std::size_t change = 0; // which mapped it
	};
	// The mappings after the first `changes` changes. Frequent enough to bound how far find() looks back, rare
	// enough that all snapshots together are no larger than the list of changes.
	struct Snapshot {
		std::size_t changes = 0;
		std::map<std::uint64_t, Range> ranges; // by start
		std::optional<std::size_t> copied_at;  // the change since which it has a copy of its parent's, too
	};
	struct History {
		std::vector<analyze::MappingToken> changes; // by time, after finish()
		std::vector<Snapshot> snapshots;
	};
	static void take_snapshots(History &history);
	static void add_change(Snapshot &to, const analyze::MappingToken &change, std::size_t place);
	static void map(std::map<std::uint64_t, Range> &ranges, const analyze::MappingToken &added, std::size_t change);
	std::vector<analyze::MappingToken> mapped_at(std::int32_t process, std::uint64_t time, int ancestors) const;

	std::unordered_map<std::int32_t, History> by_process_;
	std::set<std::int32_t> new_, long_; // processes with changes since finish(), since forget_before()
	std::size_t size_ = 0, max_changes_ = ~std::size_t(0);
	std::uint64_t left_out_ = 0;
};

} // namespace monitor::symbols
