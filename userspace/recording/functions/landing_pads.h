// SPDX-License-Identifier: MIT
// Exception landing pads, to which no code jumps directly.
#pragma once

#include <cstdint>
#include <vector>

#include "base/elf_image.h"
#include "exit_search.h"

namespace monitor::functions {

class LandingPads {
public:
	explicit LandingPads(const ElfImage &image);

	// Adds those in `part`; false: invalid tables.
	bool add_to(std::vector<std::uint64_t> &pads, const CodePart &part) const;

private:
	struct Function {
		std::uint64_t first, end, table;
	};

	bool add_pads_of(const Function &function, std::vector<std::uint64_t> &pads) const;

	std::vector<std::byte> tables_;
	std::uint64_t tables_address_ = 0;
	std::vector<Function> functions_; // with an LSDA, by address
};

} // namespace monitor::functions
