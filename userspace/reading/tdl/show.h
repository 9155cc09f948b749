// SPDX-License-Identifier: MIT
// Shows a description in TDL, as rows for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "compile.h"

namespace monitor::trace::tdl {

struct FieldRow {
	std::string block, field;
	std::string at, size; // in bytes, N.B is bit B of byte N; "" if it is variable
	std::string type, unit, meaning;
};

std::vector<FieldRow> rows_of(const std::vector<Placed> &placed);

// The whole description: blocks with the positions of their fields, how records are told apart, lengths, times, names.
std::string to_json(const Model &model, const std::vector<Placed> &placed);

} // namespace monitor::trace::tdl
