// SPDX-License-Identifier: MIT
// The functions of a file by its DWARF debug information, with what was inlined into them (DWARF 5, 3.3.8): libdw reads
// it. The library trusts files more than we do, so this runs in the process that debug_info.cpp starts.
//
// Of a unit its functions are listed when it is first asked for, of a function what was inlined into it; everything
// else is passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "debug_info.h"

namespace monitor::symbols {

class InlinedFunctions {
public:
	static const bool is_available;

	explicit InlinedFunctions(int fd); // which must stay open
	~InlinedFunctions();
	InlinedFunctions(const InlinedFunctions &) = delete;

	// False: it is damaged, or expands to more than there is memory for.
	bool is_read() const { return tables_ != nullptr; }
	// As DebugInfo::find().
	std::vector<SourceFrame> find(std::uint64_t address);

private:
	struct Tables;
	std::unique_ptr<Tables> tables_; // null: it cannot be read
};

} // namespace monitor::symbols
