// SPDX-License-Identifier: MIT
// A description in TDL as people name it: a file, or one of those in share/descriptions; and which one a file is of.
//
// Called by Trace::open and by `monitor tdl`. Throws Error: no such description, or FILE:LINE:COLUMN: what is wrong.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compile.h"

namespace monitor::trace::tdl {

struct Source {
	std::string path;
	Model model;
};

// From text to a model that compiles whatever the magic is. False: `why` is "LINE:COLUMN: sentence".
bool read_text(std::string_view untrusted_text, Model &model, std::string &why);

// `name` is a path, or the name of a shipped description.
Source load(const std::string &name);
// The description whose magic stands in the file.
Source find(const std::string &path, std::span<const std::byte> untrusted_bytes);

// For these bytes: by the magic that stands there. Throws Error if the description has some and none stands there.
Compiled compile_for(const Source &source, const std::string &path, std::span<const std::byte> untrusted_bytes,
		     std::uint32_t first_index = 0);

} // namespace monitor::trace::tdl
