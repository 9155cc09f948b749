// SPDX-License-Identifier: MIT
// Which field holds a sequence's length or a variant's tag.
// Base of the classes that assign slots: Completion for CTF 1.8, JsonSlots for CTF 2. The scopes are walked in the
// order of their bits (packet header, packet context, event header, ...), and each reference gets the slot of the field
// it names. In CTF 1.8 (References) a name is looked up from the innermost struct outwards, then in the earlier scopes;
// CTF 1.8.3, 7.3.2. Invariant: a field precedes everything that refers to it, and is read whenever that is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "description.h"

namespace monitor::trace {

class ScopeWalk {
public:
	explicit ScopeWalk(Layout &layout) : layout_(layout) {}
	virtual ~ScopeWalk() = default;

	// Resolves all references. `streams[i]` is the stream class of `events[i]`. Throws ParseError.
	void walk(const std::vector<std::shared_ptr<EventClass>> &events, const std::vector<StreamClass *> &streams);

protected:
	// A structure around the walk's position, which `passed` of its members precede.
	struct Frame {
		FieldClass *structure;
		std::size_t passed;
	};
	struct Root {
		std::int8_t number; // of the scope, from the packet header to the payload
		FieldClass *type;
	};

	// Called before the references in each scope are resolved.
	virtual void packet_header() = 0;
	virtual void stream(StreamClass &stream) = 0;
	virtual void event(const EventClass &) {}
	virtual void resolve_reference(FieldClass &type) = 0;

	// A new slot; a time has a second one, for its size.
	std::int32_t new_slot(bool is_time);

	Layout &layout_;
	std::vector<Root> roots_; // that are visible here
	std::vector<Frame> frames_;

private:
	void enter(std::int8_t number, FieldClass &root);
	void resolve(FieldClass &type);
};

class References : public ScopeWalk {
public:
	using ScopeWalk::ScopeWalk;

protected:
	// The integer's slot; assigns one if it has none.
	std::int32_t save(FieldClass &integer);

private:
	void resolve_reference(FieldClass &type) override;
	FieldClass *find(const Reference &reference, std::string &why);
	FieldClass *find_absolute(std::string_view path, bool &is_absolute);
	static void choose_tags(FieldClass &variant, const FieldClass &tag);
};

} // namespace monitor::trace
