// SPDX-License-Identifier: MIT
// Where functions continue after an exception: places that nothing in their code jumps to.
#pragma once

#include <cstdint>
#include <vector>

#include "base/elf_image.h"
#include "exit_search.h"

namespace monitor::functions {

class LandingPads {
public:
	explicit LandingPads(const ElfImage &image);

	// In `part`; false: the file's tables make no sense.
	bool add_to(std::vector<std::uint64_t> &pads, const CodePart &part) const;

private:
	struct Function {
		std::uint64_t first, end, table;
	};

	bool add_of(const Function &function, std::vector<std::uint64_t> &pads) const;

	std::vector<std::byte> tables_;
	std::uint64_t tables_address_ = 0;
	std::vector<Function> functions_; // that have a table, by address
};

} // namespace monitor::functions
