// SPDX-License-Identifier: MIT
// How to skip the fields of an event: the trees of its scopes, flattened into a sequence of steps.
//
// Made once per class when its fields are listed; the decoder uses it for every event that is not of fixed size. Fields
// at known distances are one step. Invariant: it skips what skip() (field_class.h) skips, saves what that saves, and
// reads nothing outside the view.
#pragma once

#include <vector>

#include "field_class.h"

namespace monitor::trace {

class SkipPlan {
public:
	// Appends the fields of `type`, which must outlive the plan.
	void add(const FieldClass &type);

	// False: the fields are not wholly inside the content, or a variant's tag selects nothing. True: the caller
	// still checks that they end inside the content.
	bool skip_fields(const View &view, std::uint64_t &at_bits) const
	{
		const Step *const end = steps_.data() + steps_.size();
		for (const Step *step = steps_.data(); step != end; ++step) {
			at_bits = aligned(at_bits, step->align_bits);
			if (step->kind == StepKind::fixed)
				at_bits += step->size_bits;
			else if (step->kind == StepKind::if_present)
				step += is_present(*step->type, view) ? 0 : step->size_bits;
			else if (!skip_step(*step, view, at_bits))
				return false;
		}
		return true;
	}

private:
	enum class StepKind : std::uint8_t { fixed, saved, text, fixed_elements, if_present, walked };

	struct Step {
		StepKind kind;
		std::uint32_t align_bits;
		std::uint64_t
		    size_bits; // of fixed fields; the stride of elements; for if_present, the number of its steps
		const FieldClass *type;
	};

	static bool skip_step(const Step &step, const View &view, std::uint64_t &at_bits);
	void add_fixed(std::uint32_t align_bits, std::uint64_t size_bits);
	void add_members(const FieldClass &structure);

	std::vector<Step> steps_;
	std::size_t first_extendable_ = 0; // no field is added to earlier steps
};

} // namespace monitor::trace
