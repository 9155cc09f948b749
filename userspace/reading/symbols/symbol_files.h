// SPDX-License-Identifier: MIT
// Finds what a file of a trace was made of: the file itself, if it is still the same, the one that its symbols or its
// debug information were put into (base/debug_files.h), and the one that has what several files' debug information has
// in common (dwz(1)).
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "code_map.h"
#include "function_table.h"

namespace monitor::symbols {

struct SymbolFile {
	bool is_found = false; // the file itself, or another one with its symbols
	std::vector<Function> functions;
	Fd debug_info; // of the file that has .debug_info; without one, nothing
	Fd common;     // what .gnu_debugaltlink of debug_info names
	// Paths of a file that one of these names, if it is at none of them.
	std::vector<std::string> tried_paths;
};

SymbolFile find_symbols(const CodeFile &file, const std::vector<std::string> &debug_directories);

// Of .gnu_debugdata, which distributions ship with stripped programs: an ELF file with the symbols that .dynsym has
// not, packed by xz. Empty: there is none, or this program was built without liblzma.
std::vector<Function> functions_of_debugdata(const ElfImage &image);

} // namespace monitor::symbols
