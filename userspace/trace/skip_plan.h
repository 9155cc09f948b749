// SPDX-License-Identifier: MIT
// How the fields of an event are passed over: the trees of its scopes laid out as a row of steps.
//
// Made once per class when its fields are listed; the cursor takes it for every event that is not of fixed size. What
// stands at known distances is one step. Invariant: it passes what skip() (field_class.h) passes, saves what that
// saves, and reads nothing outside the view.
#pragma once

#include <vector>

#include "field_class.h"

namespace monitor::trace {

class SkipPlan {
public:
	// Behind what was added before. The type must outlive the plan.
	void add(const FieldClass &type);

	// False: the fields do not lie wholly inside the content, or a variant's tag chooses nothing. True: they may
	// end behind the content, which the caller tests.
	bool pass(const View &view, std::uint64_t &at_bits) const
	{
		const Step *const end = steps_.data() + steps_.size();
		for (const Step *step = steps_.data(); step != end; ++step) {
			at_bits = aligned(at_bits, step->align_bits);
			if (step->kind == Kind::fixed)
				at_bits += step->size_bits;
			else if (step->kind == Kind::when)
				step += is_present(*step->type, view) ? 0 : step->size_bits;
			else if (!pass(*step, view, at_bits))
				return false;
		}
		return true;
	}

private:
	enum class Kind : std::uint8_t { fixed, saved, text, row, when, other };

	struct Step {
		Kind kind;
		std::uint32_t align_bits;
		std::uint64_t size_bits; // of what is fixed; from one element of a row to the next; of `when` the steps
		const FieldClass *type;
	};

	static bool pass(const Step &step, const View &view, std::uint64_t &at_bits);
	void add_fixed(std::uint32_t align_bits, std::uint64_t size_bits);
	void add_members(const FieldClass &structure);

	std::vector<Step> steps_;
	std::size_t apart_ = 0; // steps before this one are not added to
};

} // namespace monitor::trace
