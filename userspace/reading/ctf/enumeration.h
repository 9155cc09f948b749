// SPDX-License-Identifier: MIT
// Names of values or of ranges of values.
//
// Made from a description's enums (types.h), shared by all fields of that type; const, so any thread may use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace monitor::trace {

class Enumeration {
public:
	struct Label {
		std::uint64_t first, last; // of a signed container: sign-extended
		std::string text;
	};

	// `labels` in the order of the text; their ranges may overlap. ok() is false if one runs backwards, or if the
	// joined names of overlapping ones are too long.
	Enumeration(std::vector<Label> labels, bool is_signed);

	bool ok() const { return ok_; }
	bool overlaps() const { return overlaps_; }
	// The label of a value, or nullptr; several labels of one value are joined by `|`.
	const std::string *find(std::uint64_t value) const;
	const std::vector<Label> &labels() const { return labels_; }

private:
	std::uint64_t key(std::uint64_t value) const { return value ^ sign_; } // orders signed values
	void sort_ranges();
	void split_overlapping();
	void index_small();

	std::vector<Label> labels_;
	std::vector<Label> ranges_;        // sorted, disjoint
	std::vector<std::uint16_t> dense_; // of small values: index of the range + 1, 0 for none
	std::uint64_t sign_;
	bool ok_ = true, overlaps_ = false;
};

} // namespace monitor::trace
