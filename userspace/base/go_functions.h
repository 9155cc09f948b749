// SPDX-License-Identifier: MIT
// The functions of a Go program, from the table with which its runtime walks stacks (.gopclntab; Go's debug/gosym and
// runtime/symtab.go), which is never stripped.
//
// Go 1.2 and later, programs and shared libraries. The file is untrusted: invalid parts are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf_image.h"

namespace monitor {

struct GoFunction {
	std::uint64_t address = 0, size = 0; // up to the next function's start
	std::string_view name;               // into the table's bytes: "main.(*T).run"
	bool is_outermost = false;           // has no caller
	bool changes_stack = false;          // switches to another stack
	bool is_assembler = false;
	std::uint32_t frame_sizes = 0; // offset of the frame sizes; 0: none
};

class GoFunctions {
public:
	static constexpr std::size_t max_bytes = 256 << 20;
	static constexpr std::size_t max_functions = 1 << 20; // the largest programs have some 100,000
	static constexpr std::size_t max_changes = 1 << 14;   // of a function

	// nullopt: no table of a known version.
	static std::optional<GoFunctions> of(const ElfImage &image);
	// Whether it has a table of an unknown version.
	static bool is_unknown(const ElfImage &image);

	const std::vector<GoFunction> &all() const { return functions_; } // by address

	// From `address` to `end` the stack pointer is `bytes` below the return address.
	struct FrameSize {
		std::uint64_t address = 0, end = 0;
		std::int64_t bytes = 0;
	};
	std::vector<FrameSize> frame_sizes(const GoFunction &function) const; // by address

private:
	struct Layout;
	static const Layout layouts[];
	static const Layout *layout_of(std::span<const std::byte> table); // nullptr: it is none

	bool parse_table(const ElfImage &image, std::vector<std::byte> bytes);
	void add_function(std::uint64_t address, std::uint64_t size, std::uint64_t at);
	void set_flags_from_names();
	template <class T> T number(std::uint64_t at) const; // 0: out of range
	std::uint64_t read_address(std::uint64_t at) const;  // of the size that entries use

	std::vector<std::byte> bytes_;
	const Layout *layout_ = nullptr;
	std::uint64_t names_ = 0, changes_ = 0; // where both tables begin
	std::vector<GoFunction> functions_;
};

} // namespace monitor
