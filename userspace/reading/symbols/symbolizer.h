// SPDX-License-Identifier: MIT
// Names the frames of stacks: function and file. Offline: from the trace (mappings, the kernel's functions, the vdso)
// and from the files themselves, if unmodified; or from what `monitor pack` put into the trace (packed_frames.h). Each
// file is read once, each address looked up once. While a recording runs (answers/live/stack_naming.h), look-ups may be
// limited in time, and results are dropped when they take too much memory.
// A frame without a name is shown as file+0xaddress; none is left out.
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

using Name = std::uint32_t; // of a frame: index in Symbolizer::names()

struct FrameName {
	std::string function, module;
	std::string line; // "slow.c:42", if lines are asked for and known
	bool is_kernel = false;
	bool is_assumed = false; // without unwind tables here: callers were found by frame pointers

	// The function, with its line if there is one.
	std::string text() const { return line.empty() ? function : function + " (" + line + ")"; }
};

struct SymbolOptions {
	std::vector<std::string> debug_directories{}; // searched before /usr/lib/debug
	bool lines = false;                           // a function's lines are separate frames
	std::string maps = "/tmp";                    // where programs write perf-PID.map
	std::int64_t end_ns = INT64_MAX; // end of the recording, since 1970: a younger map is another process's
	// Converts a CLOCK_MONOTONIC time in ns to ticks. Without it, times in jitdumps are ignored.
	std::function<std::uint64_t(std::uint64_t)> ticks_of{};
	int stop_fd = -1; // once readable, debug information is no longer waited for
};

class Symbolizer {
public:
	// `directory`: of the trace.
	explicit Symbolizer(const std::string &directory, SymbolOptions options = {});

	CodeMap &code() { return code_; }

	// `is_return`: the address is a return address, not that of an instruction that ran.
	Name kernel(std::uint64_t address, bool is_return);
	// The function, then the functions inlined into it, as "NAME (inlined)". Valid until the next call.
	std::span<const Name> user(std::int32_t process, std::uint64_t time, std::uint64_t address, bool is_return);
	// A pseudo-frame: "[truncated]".
	Name other(const std::string &text);

	const std::vector<FrameName> &names() const { return names_; }
	bool has_lines() const { return options_.lines; }
	// Needed files that are gone or have another build id now.
	const std::vector<std::string> &missing() const { return missing_; }
	// Maps of functions generated at run time that were not used, as their files belong to another user.
	const std::vector<std::string> &foreign() const { return foreign_; }
	// Users whose stacks may be incomplete: their programs' mappings exceeded the recorder's limits.
	std::vector<std::uint32_t> users_without_room() const;
	// From some moment on the recorder could not open files, so stacks in later programs and libraries may be
	// incomplete.
	bool opener_lost() const { return opener_lost_; }
	// Needed files with a Go table of a version that the recorder did not know.
	std::vector<std::string> with_unknown_go() const;
	// Files whose debug information could not be read completely.
	std::vector<std::string> damaged() const;
	// Files with parts of their debug information in other files that were not found.
	std::vector<std::pair<std::string, MissingFiles>> incomplete() const;

	// All names found, to be stored in a trace that is read elsewhere.
	PackedFrames found() const;

	// For a running recording:
	using Clock = std::chrono::steady_clock;
	// After this time unknown names are not looked up: frames are shown as file+0xaddress, and counted as unnamed.
	void look_up_until(Clock::time_point end) { look_up_until_ = end; }
	std::uint64_t take_unnamed() { return std::exchange(unnamed_, 0); }
	// Reads the list of files again if it lacks this one.
	void expect_file(std::uint32_t number);
	void read_files();
	// Functions that the process generated at run time may have changed.
	void forget_jit_functions(std::int32_t process);
	// Drops all names, or tables of files, if there are more than this.
	void forget_above(std::size_t max_names, std::size_t max_functions);

private:
	struct Frames {
		std::vector<Name> names;
		bool is_found = false; // false: its frames are shown as file+0xaddress
	};
	struct File {
		CodeFile code;
		bool is_loaded = false;
		FunctionTable functions;
		std::optional<DebugInfo> debug_info;
		MissingFiles not_found;                          // before debug_info is used
		std::unordered_map<std::uint64_t, Frames> known; // by file address
	};
	Name intern(FrameName name);
	void add_packed(const PackedFrames &packed);
	void load(File &file);
	Frames look_up(File &file, std::uint64_t address);
	JitFunctions &jit_functions_of(std::int32_t process);
	bool is_too_late();
	std::span<const Name> single(Name name);

	std::string directory_;
	SymbolOptions options_;
	CodeMap code_;
	std::unordered_map<std::uint32_t, File> files_;
	std::optional<FunctionTable> kernel_;
	std::unordered_map<std::uint64_t, Frames> known_kernel_;
	std::unordered_map<std::int32_t, JitFunctions> jit_functions_;
	std::set<std::pair<std::uint32_t, std::string>> without_room_; // see CodeList
	bool opener_lost_ = false;
	std::unordered_map<std::int32_t, std::int32_t> inner_pids_; // pids in other pid namespaces
	std::map<std::pair<std::int32_t, const JitFunction *>, Name> known_jit_;
	Name single_ = 0; // results of the last user()
	Clock::time_point look_up_until_ = Clock::time_point::max();
	std::uint64_t unnamed_ = 0;
	std::size_t read_bytes_ = 0, functions_ = 0; // of the list of files; in tables of files
	std::vector<FrameName> names_;
	std::map<std::tuple<std::string, std::string, std::string>, Name> by_text_;
	std::vector<std::string> missing_, foreign_;
};

} // namespace monitor::symbols
