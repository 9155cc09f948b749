// SPDX-License-Identifier: MIT
// The functions of one file, or of the kernel, by address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/elf_image.h"

namespace monitor::symbols {

struct Function {
	std::uint64_t address = 0, size = 0; // size 0: up to the next one, or 1 MiB
	std::string name;                    // as the file has it; empty: it begins here, and has no name
	bool is_label = false;               // a name that is not said to be a function's
};

class FunctionTable {
public:
	FunctionTable() = default;
	explicit FunctionTable(std::vector<Function> functions); // any order

	// nullptr: none is there.
	const Function *find(std::uint64_t address) const;
	bool empty() const { return functions_.empty(); }
	std::size_t size() const { return functions_.size(); }

private:
	static constexpr unsigned max_around = 64;
	static constexpr std::uint32_t none = ~std::uint32_t{0};
	void drop_places();
	void find_around();

	std::vector<Function> functions_;   // by address
	std::vector<std::uint32_t> around_; // of each: the one that it begins within, or none
};

// From .symtab, or without it .dynsym, Go's own table and where other functions begin. `has_all` tells which. What the
// file says is not trusted.
std::vector<Function> functions_of(const ElfImage &image, bool &has_all);

// .monitor/kallsyms: lines "address name" or "address name [module]".
std::vector<Function> functions_of_kernel(std::string_view untrusted_text);

} // namespace monitor::symbols
