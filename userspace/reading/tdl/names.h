// SPDX-License-Identifier: MIT
// Names of values and bits in a TDL description, as labels of fields and as numbers.
// Flags get a label for every combination of their bits, so that filters and queries treat them like any other label.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "model.h"
#include "reading/ctf/enumeration.h"
#include "reading/ctf/field_class.h"

namespace monitor::trace::tdl {

inline constexpr std::size_t max_flags = 12;                   // named bits in a block
inline constexpr std::uint64_t max_combined_bytes = 32u << 20; // of the labels of combinations, in all blocks

class NameTables {
public:
	explicit NameTables(const Model &model) : model_(model) {}

	// Throws ParseError: there is no such block, or a value does not fit.
	std::shared_ptr<const Enumeration> labels(const Name &names, bool is_signed, std::uint32_t size_bits);
	const Names &find(const Name &name) const;
	// The values of a constant: a number, or the range of a name.
	LabelRange values(const Constant &constant, const Names *names) const;

private:
	const Model &model_;
	std::map<std::pair<const Names *, bool>, std::shared_ptr<const Enumeration>> made_; // by name and sign
	std::uint64_t combined_bytes_ = 0;
};

// "; did you mean X?" or "".
std::string did_you_mean(const std::string &name, const std::vector<std::string> &known);

} // namespace monitor::trace::tdl
