// SPDX-License-Identifier: MIT
// Finds a trace's files with their symbols: the file itself, if unmodified, its separate debug file
// (base/debug_files.h), and the common debug file of several (dwz(1)).
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "code_map.h"
#include "function_table.h"

namespace monitor::symbols {

struct SymbolFile {
	bool is_found = false; // the file, or another one with its symbols
	std::vector<Function> functions;
	Fd debug_info; // of the file with .debug_info, if any
	Fd common;     // the file that .gnu_debugaltlink of debug_info names
	// Where files that these refer to were looked for and not found.
	std::vector<std::string> tried_paths;
};

SymbolFile find_symbols(const CodeFile &file, const std::vector<std::string> &debug_directories);

// From .gnu_debugdata, which distributions put into stripped programs: an ELF file, compressed by xz, with symbols that
// .dynsym lacks. Empty: there is none, or this program was built without liblzma.
std::vector<Function> functions_of_debugdata(const ElfImage &image);

} // namespace monitor::symbols
