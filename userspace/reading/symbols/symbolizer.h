// SPDX-License-Identifier: MIT
// Names the frames of stacks: the function, and the file that it is in. Offline: from what the trace has (mappings, the
// kernel's functions, the vdso) and from the files themselves, as long as these are still the same; or from what
// `monitor pack` put into the trace (packed_frames.h). Each file is read once, each address looked up once. While a
// recording runs (answers/live/stack_naming.h) looking up may be limited to a time, and what was found is forgotten
// when it is too much.
//
// What has no name is called by its place, file+0xaddress; nothing is left out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "code_map.h"
#include "debug_info.h"
#include "function_table.h"
#include "jit_functions.h"
#include "packed_frames.h"

namespace monitor::symbols {

using Name = std::uint32_t; // of a frame: place in Symbolizer::names()

struct FrameName {
	std::string function, module;
	std::string line; // "slow.c:42", if lines are asked for and known
	bool is_kernel = false;
	bool is_assumed = false; // parts of it are where only frame pointers lead to the caller

	// The function, with its line if there is one.
	std::string text() const { return line.empty() ? function : function + " (" + line + ")"; }
};

struct SymbolOptions {
	std::vector<std::string> debug_directories{}; // besides /usr/lib/debug, and before it
	bool lines = false;                           // the same function on another line is another frame
	std::string maps = "/tmp";                    // where programs write perf-PID.map
	std::int64_t end_ns = INT64_MAX; // of the recording, since 1970: a younger map is of another process
	// Ticks of a time in ns of CLOCK_MONOTONIC. Without it, the times in jitdumps do not count.
	std::function<std::uint64_t(std::uint64_t)> ticks_of{};
	int stop_fd = -1; // readable: what debug information says is not waited for any more
};

class Symbolizer {
public:
	// `directory`: of the trace.
	explicit Symbolizer(const std::string &directory, SymbolOptions options = {});

	CodeMap &code() { return code_; }

	// `is_return`: the address after a call, rather than of the instruction that ran.
	Name kernel(std::uint64_t address, bool is_return);
	// The function, and then what was inlined into it, which is called "NAME (inlined)". Until the next call.
	std::span<const Name> user(std::int32_t process, std::uint64_t time, std::uint64_t address, bool is_return);
	// A frame that is no function: "[truncated]".
	Name other(const std::string &text);

	const std::vector<FrameName> &names() const { return names_; }
	bool has_lines() const { return options_.lines; }
	// Files that are needed and have another build id by now, or are gone.
	const std::vector<std::string> &missing() const { return missing_; }
	// Maps of functions made at run time that belong to somebody else, and were not used.
	const std::vector<std::string> &foreign() const { return foreign_; }
	// Users some of whose stacks end early, because the recorder had no room for what their programs mapped.
	std::vector<std::uint32_t> users_without_room() const;
	// From some moment on the recorder could open no files: the same holds for what was started or loaded later.
	bool opener_lost() const { return opener_lost_; }
	// Files that were needed, and whose table of Go's functions is of a version that the recorder did not know.
	std::vector<std::string> with_unknown_go() const;
	// Files whose debug information could not be read to its end.
	std::vector<std::string> damaged() const;
	// Files of whose debug information parts are in other files that were not found.
	std::vector<std::pair<std::string, MissingFiles>> incomplete() const;

	// The names that were found, for a trace that is to be read elsewhere.
	PackedFrames found() const;

	// Of a recording that is running:
	using Clock = std::chrono::steady_clock;
	// What is asked for later and not known by then is called by its place, and counted as unnamed.
	void look_up_until(Clock::time_point end) { look_up_until_ = end; }
	std::uint64_t take_unnamed() { return std::exchange(unnamed_, 0); }
	// The list of files has grown if it has not this one.
	void expect_file(std::uint32_t number);
	void read_files();
	// What the process made while it ran may have changed.
	void forget_made_by(std::int32_t process);
	// All names, and tables of files, if these are more.
	void forget_above(std::size_t max_names, std::size_t max_functions);

private:
	struct Frames {
		std::vector<Name> names;
		bool is_found = false; // otherwise it is called by its place
	};
	struct File {
		CodeFile code;
		bool is_loaded = false;
		FunctionTable functions;
		std::optional<DebugInfo> debug_info;
		MissingFiles not_found;                          // before debug_info is asked
		std::unordered_map<std::uint64_t, Frames> known; // by the address as the file counts them
	};
	Name intern(FrameName name);
	void take(const PackedFrames &packed);
	void load(File &file);
	Frames look_up(File &file, std::uint64_t address);
	JitFunctions &made_by(std::int32_t process);
	bool is_too_late();
	std::span<const Name> only(Name name);

	std::string directory_;
	SymbolOptions options_;
	CodeMap code_;
	std::unordered_map<std::uint32_t, File> files_;
	std::optional<FunctionTable> kernel_;
	std::unordered_map<std::uint64_t, Frames> known_kernel_;
	std::unordered_map<std::int32_t, JitFunctions> made_by_;
	std::set<std::pair<std::uint32_t, std::string>> without_room_; // see CodeList
	bool opener_lost_ = false;
	std::unordered_map<std::int32_t, std::int32_t> numbers_; // of processes in their own pid namespaces, if others
	std::map<std::pair<std::int32_t, const JitFunction *>, Name> known_made_;
	Name single_ = 0; // what user() returned last
	Clock::time_point look_up_until_ = Clock::time_point::max();
	std::uint64_t unnamed_ = 0;
	std::size_t read_bytes_ = 0, functions_ = 0; // of the list of files; in tables of files
	std::vector<FrameName> names_;
	std::map<std::tuple<std::string, std::string, std::string>, Name> by_text_;
	std::vector<std::string> missing_, foreign_;
};

} // namespace monitor::symbols
