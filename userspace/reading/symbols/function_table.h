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
	std::string name;                    // as in the file; empty: a function without a name
	bool is_label = false;               // a symbol not marked as a function
};

class FunctionTable {
public:
	FunctionTable() = default;
	explicit FunctionTable(std::vector<Function> functions); // in any order

	// nullptr: there is none.
	const Function *find(std::uint64_t address) const;
	bool empty() const { return functions_.empty(); }
	std::size_t size() const { return functions_.size(); }

private:
	static constexpr unsigned max_enclosing = 64;
	static constexpr std::uint32_t none = ~std::uint32_t{0};
	void drop_local_labels();
	void find_enclosing();

	std::vector<Function> functions_;      // by address
	std::vector<std::uint32_t> enclosing_; // for each: the function within which it begins, or none
};

// From .symtab or, without it, from .dynsym, Go's table, and starts of other functions. `has_all`: .symtab was there.
// The file is untrusted.
std::vector<Function> functions_of(const ElfImage &image, bool &has_all);
// Of an ELF file in memory; none if it is no such file.
std::vector<Function> functions_in(std::span<const std::byte> untrusted_file);

// .monitor/kallsyms: lines "address name" or "address name [module]".
std::vector<Function> functions_of_kernel(std::string_view untrusted_text);

} // namespace monitor::symbols
