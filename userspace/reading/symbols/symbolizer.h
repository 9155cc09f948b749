// SPDX-License-Identifier: MIT
// Names the frames of stacks: the function, and the file that it is in. Offline: from what the trace has (mappings, the
// kernel's functions, the vdso) and from the files themselves, as long as these are still the same. Each file is read
// once, each address looked up once. Called by answers/report/call_tree.cpp.
//
// What has no name is called by its place, file+0xaddress; nothing is left out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "code_map.h"
#include "function_table.h"

namespace monitor::symbols {

using Name = std::uint32_t; // of a frame: place in Symbolizer::names()

struct FrameName {
	std::string function, module;
	bool is_kernel = false;
};

class Symbolizer {
public:
	// `directory`: of the trace. `debug`: where files with symbols are sought by build id.
	explicit Symbolizer(const std::string &directory, std::string debug = "/usr/lib/debug");

	CodeMap &code() { return code_; }

	// `is_return`: the address after a call, rather than of the instruction that ran.
	Name kernel(std::uint64_t address, bool is_return);
	Name user(std::int32_t process, std::uint64_t time, std::uint64_t address, bool is_return);
	// A frame that is no function: "[truncated]".
	Name other(const std::string &text);

	const std::vector<FrameName> &names() const { return names_; }
	// Files that are needed and have another build id by now, or are gone.
	const std::vector<std::string> &missing() const { return missing_; }

private:
	struct File {
		CodeFile code;
		bool is_loaded = false;
		FunctionTable functions;
		std::unordered_map<std::uint64_t, Name> known;
	};
	Name intern(FrameName name);
	void load(File &file);

	std::string directory_, debug_;
	CodeMap code_;
	std::unordered_map<std::uint32_t, File> files_;
	std::optional<FunctionTable> kernel_;
	std::unordered_map<std::uint64_t, Name> known_kernel_;
	std::vector<FrameName> names_;
	std::map<std::pair<std::string, std::string>, Name> by_text_;
	std::vector<std::string> missing_;
};

} // namespace monitor::symbols
