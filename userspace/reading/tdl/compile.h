// SPDX-License-Identifier: MIT
// The TDL compiler: from a model to the description that streams are decoded with, and the layout of records that this
// cannot express.
// Run once per file, as byte order and units may depend on its magic.
#pragma once

#include <memory>

#include "compile_fields.h"
#include "reading/ctf/description.h"

namespace monitor::trace::tdl {

struct Compiled {
	std::shared_ptr<const Description> description;
	std::vector<Placed> placed; // the positions of the model's lines
};

// `magic` is the variant to compile, one of the model's, or nullptr. The model must outlive `placed`. Throws
// ParseError.
Compiled compile(const Model &model, const Magic *magic, std::uint32_t first_index = 0);

} // namespace monitor::trace::tdl
