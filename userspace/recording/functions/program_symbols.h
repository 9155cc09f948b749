// SPDX-License-Identifier: MIT
// The functions of a program or library, from .symtab and .dynsym, and for a stripped file also from .eh_frame_hdr.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/elf_image.h"

namespace monitor::functions {

struct Symbol {
	std::uint64_t address = 0, size = 0;
	std::string name;         // as in the file; FILE+0xADDRESS if unnamed
	std::string pretty;       // demangled; NAME@VERSION for a non-default version
	bool is_indirect = false; // a resolver that chooses a function at load time (STT_GNU_IFUNC)
};

// By address; all names of each, those of .symtab first. `separate`: the debug file, or null. `file`: its name without
// directories.
std::vector<Symbol> functions_of(const ElfImage &image, const ElfImage *separate, const std::string &file);

// `glob` matches the name, or the demangled one with or without its parameters, and of a function made from a template
// also without the return type and the template's arguments.
bool matches(const Symbol &symbol, const std::string &glob);

} // namespace monitor::functions
