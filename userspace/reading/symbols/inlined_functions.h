// SPDX-License-Identifier: MIT
// The functions of a file by its DWARF debug information, with what was inlined into them (DWARF 5, 3.3.8): libdw reads
// it. The library trusts files more than we do, so this runs in the process that debug_info.cpp starts.
//
// Of a unit its functions are listed when it is first asked for, of a function what was inlined into it; everything
// else is passed over. What a unit of the file only refers to (DWARF 5, 7.3.2) is opened at the same time: libdw seeks
// it beside the file, in the directory of the compilation and, from its version 0.191 on, in FILE.dwp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "debug_info.h"

namespace monitor::symbols {

class InlinedFunctions {
public:
	static const bool is_available;

	// Both must stay open; `common`, or -1, is what .gnu_debugaltlink names.
	InlinedFunctions(int file, int common);
	~InlinedFunctions();
	InlinedFunctions(const InlinedFunctions &) = delete;

	// False: it is damaged, or expands to more than there is memory for.
	bool is_read() const;
	// As DebugInfo::find(). `tried_paths`: where the rest of the address's unit is not, once for each unit.
	std::vector<SourceFrame> find(std::uint64_t address, std::vector<std::string> &tried_paths);

private:
	struct Tables;
	std::unique_ptr<Tables> tables_; // null: it cannot be read
};

} // namespace monitor::symbols
