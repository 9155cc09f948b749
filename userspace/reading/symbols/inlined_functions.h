// SPDX-License-Identifier: MIT
// The functions of a file from its DWARF debug information, with the functions inlined into them (DWARF 5, 3.3.8), read
// by libdw. As the library trusts its input, this runs in the process that debug_info.cpp starts.
// A unit's functions are listed when it is first needed, a function's inlined functions likewise. Split units (DWARF 5,
// 7.3.2) are opened at the same time: libdw looks beside the file, in the compilation directory and, since version
// 0.191, in FILE.dwp.
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

	// Both must stay open; `common`, or -1, is the file that .gnu_debugaltlink names.
	InlinedFunctions(int file, int common);
	~InlinedFunctions();
	InlinedFunctions(const InlinedFunctions &) = delete;

	// False: it is damaged, or needs more memory than allowed.
	bool is_readable() const;
	// See DebugInfo::find(). `tried_paths`: where the split unit of the address was not found, once per unit.
	std::vector<SourceFrame> find(std::uint64_t address, std::vector<std::string> &tried_paths);

private:
	struct Tables;
	std::unique_ptr<Tables> tables_; // null: it cannot be read
};

} // namespace monitor::symbols
