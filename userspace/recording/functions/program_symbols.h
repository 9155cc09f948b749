// SPDX-License-Identifier: MIT
// The functions of a program or library: names and places, from .symtab and .dynsym, and of a stripped file also from
// the list of functions that unwinders use (.eh_frame_hdr).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/elf_image.h"

namespace monitor::functions {

struct Symbol {
	std::uint64_t address = 0, size = 0;
	std::string name;         // as in the file; of a function without a name FILE+0xADDRESS
	std::string pretty;       // demangled; of a version that programs are not linked with any more NAME@VERSION
	bool is_indirect = false; // the code chooses a function when the program starts (STT_GNU_IFUNC)
};

// By address; all names of each, those of .symtab first. `separate`: where the file's .symtab was put, if it was.
// `file`: its name without directories.
std::vector<Symbol> functions_of(const ElfImage &image, const ElfImage *separate, const std::string &file);

// `glob` matches the name, or the demangled one with or without its parameters, and of a function made from a template
// also without the return type and the template's arguments.
bool matches(const Symbol &symbol, const std::string &glob);

} // namespace monitor::functions
