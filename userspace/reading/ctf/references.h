// SPDX-License-Identifier: MIT
// Which field holds a sequence's length or a variant's tag.
//
// Used by the interpretation (interpret.cpp) after Types: the roots are entered in the order of their bits (packet
// header, packet context, event header, ...), and each reference gets the slot of the field it names. A name is looked
// up from the innermost struct outwards, then in the earlier roots; CTF 1.8.3, 7.3.2.
// Invariant: a field precedes everything that refers to it, and is not in an array or a variant unless that is too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "field_class.h"

namespace monitor::trace {

class References {
public:
	explicit References(std::int32_t &slots) : slots_(slots) {}

	// Gives the integer a slot, if it has none, and returns it.
	std::int32_t save(FieldClass &integer);
	// Resolves the references in the root; later roots may refer to it. `name` is what absolute paths begin with,
	// such as "stream.event.header". The root must outlive this. Throws Refusal.
	void enter(std::string name, FieldClass &root);
	// Later roots do not see the last root.
	void leave() { roots_.pop_back(); }

private:
	// A structure that contains the position of the walk; its first `visible` members have been passed.
	struct Frame {
		FieldClass *structure;
		std::size_t visible;
	};
	struct Root {
		std::string name;
		FieldClass *type;
	};

	void resolve(FieldClass &type);
	void refer(FieldClass &type);
	FieldClass *find(const Reference &reference, std::string &why);
	FieldClass *find_absolute(std::string_view path, bool &is_absolute);
	void choose_tags(FieldClass &variant, const FieldClass &tag);

	std::int32_t &slots_;
	std::vector<Root> roots_;
	std::vector<Frame> frames_;
};

} // namespace monitor::trace
