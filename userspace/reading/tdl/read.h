// SPDX-License-Identifier: MIT
// Finds a description in TDL: a file, or one in share/descriptions, by its name or by the magic of the file to read.
// Throws Error: no such description, or FILE:LINE:COLUMN: what is wrong.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "compile.h"

namespace monitor::trace::tdl {

struct ModelFile {
	std::string path;
	Model model;
};

// Parses a model that compiles with each of its magics. False: `why` is "LINE:COLUMN: message".
bool read_text(std::string_view untrusted_text, Model &model, std::string &why);

// `name` is a path, or the name of a shipped description.
ModelFile load(const std::string &name);
// The shipped description with the file's magic.
ModelFile find(const std::string &path, std::span<const std::byte> untrusted_bytes);

// Compiles for these bytes, by the magic in them. Throws Error if the description has magics and the bytes have none of
// them.
Compiled compile_for(const ModelFile &source, const std::string &path, std::span<const std::byte> untrusted_bytes,
		     std::uint32_t first_index = 0);

} // namespace monitor::trace::tdl
