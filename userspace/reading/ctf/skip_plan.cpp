// SPDX-License-Identifier: MIT
#include "skip_plan.h"

#include <cstring>

namespace monitor::trace {

void SkipPlan::add(const FieldClass &type)
{
	using Type = FieldClass::Kind;
	const bool is_list = type.kind == Type::array || type.kind == Type::sequence;
	if (type.is_fixed) {
		add_fixed(type.align_bits, type.fixed_bits);
	} else if (type.is_scalar()) {
		steps_.push_back({StepKind::saved, type.align_bits, type.size_bits, &type});
	} else if (type.kind == Type::string && type.encoding == Encoding::utf8) {
		steps_.push_back({StepKind::text, type.align_bits, 0, &type});
	} else if (type.kind == Type::structure) {
		add_fixed(type.align_bits, 0);
		add_members(type);
	} else if (is_list && !type.is_to_end && type.element.front().is_fixed) {
		steps_.push_back({StepKind::fixed_elements, type.align_bits, type.element.front().stride(), &type});
	} else {
		steps_.push_back({StepKind::walked, type.align_bits, 0, &type});
	}
}

// Members with the same presence are present or absent together.
void SkipPlan::add_members(const FieldClass &structure)
{
	const std::vector<Member> &members = structure.members;
	for (std::size_t i = 0; i < members.size();) {
		if (members[i].type.kind != FieldClass::Kind::optional) {
			add(members[i++].type);
			continue;
		}
		const FieldClass &first = members[i].type;
		const std::size_t condition = steps_.size();
		steps_.push_back({StepKind::if_present, 1, 0, &first});
		for (; i < members.size() && members[i].type.kind == FieldClass::Kind::optional &&
		       members[i].type.presence == first.presence;
		     ++i)
			add(members[i].type.element.front());
		steps_[condition].size_bits = steps_.size() - condition - 1;
		first_extendable_ = steps_.size();
	}
}

// A field that needs no more alignment than the step before follows it at a fixed distance.
void SkipPlan::add_fixed(std::uint32_t align_bits, std::uint64_t size_bits)
{
	if (steps_.size() == first_extendable_ || steps_.back().kind != StepKind::fixed ||
	    align_bits > steps_.back().align_bits) {
		steps_.push_back({StepKind::fixed, align_bits, size_bits, nullptr});
		return;
	}
	Step &step = steps_.back();
	step.size_bits = aligned(step.size_bits, align_bits) + size_bits;
}

bool SkipPlan::skip_step(const Step &step, const View &view, std::uint64_t &at_bits)
{
	const FieldClass &type = *step.type;
	switch (step.kind) {
	case StepKind::fixed:
	case StepKind::if_present:
		break; // the caller does it
	case StepKind::saved:
		if (!view.has(at_bits, step.size_bits))
			return false;
		view.slots[type.slot] = read_scalar_fast(type, view, at_bits);
		if (type.clock >= 0)
			view.slots[type.slot + 1] = type.size_bits;
		at_bits += step.size_bits;
		break;
	case StepKind::text: {
		if (at_bits >= view.end_bits)
			return false;
		const std::byte *from = view.packet + at_bits / 8;
		const void *nul = std::memchr(from, 0, (view.end_bits - at_bits) / 8);
		if (!nul)
			return false;
		at_bits += static_cast<std::uint64_t>(static_cast<const std::byte *>(nul) - from + 1) * 8;
		break;
	}
	case StepKind::fixed_elements: {
		const std::uint64_t length = length_of(type, view, at_bits);
		if (length == 0)
			return at_bits <= view.end_bits;
		if (at_bits > view.end_bits ||
		    (step.size_bits != 0 && length - 1 > (view.end_bits - at_bits) / step.size_bits))
			return false;
		at_bits += (length - 1) * step.size_bits + type.element.front().fixed_bits;
		break;
	}
	case StepKind::walked:
		return skip(type, view, at_bits);
	}
	return true;
}

} // namespace monitor::trace
