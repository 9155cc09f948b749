// SPDX-License-Identifier: MIT
// Compiles the fields of blocks one after the other: from the model to field classes, with the position of each.
// One per description. Blocks are entered from the file's header inwards; later fields of a block, and later blocks,
// can refer to a field by its name. Throws ParseError. Invariant: a reference is only evaluated if its field is in the
// same record, so that the slot has this record's value.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "names.h"
#include "reading/ctf/record_layout.h"

namespace monitor::trace::tdl {

// The position of a model's line, for show.h.
struct Placed {
	std::string block; // "the file", "every segment" or the name of a record
	const Item *item = nullptr;
	std::string name;                     // with the names of its groups
	std::optional<std::uint64_t> at_bits; // empty: variable
	std::optional<std::uint64_t> size_bits;
	std::vector<const Item *> whens; // the enclosing `when`s
	Unit unit;
	bool big_endian = false; // of a list's elements
};

class FieldCompiler {
public:
	struct Known {
		std::string name;
		const Item *item = nullptr;
		bool is_record = false; // of a record, not of a header
		bool is_fixed = false;  // at at_bits in its block
		std::uint64_t at_bits = 0;
		std::int32_t slot = -1;
		bool big_endian = false;
		Unit unit;
		std::vector<const Item *> whens; // the enclosing `when`s
		std::vector<std::uint32_t> path; // like Field::path
	};

	// `magic` selects the variant to compile, or nullptr.
	FieldCompiler(const Model &model, const Magic *magic);

	// Starts another block; `name` is for messages. A record replaces the previous record.
	void enter(const std::string &name, bool is_record);
	// Appends fields to the block's structure.
	void add(const std::vector<Item> &items, FieldClass &structure);
	std::vector<RecordConstant> take_constants() { return std::move(constants_); }

	bool has(const Name &name) const;
	// Finds a field that every record (or header) has.
	const Known &find(const Name &name) const;
	const Known &find_integer(const Name &name) const;
	RecordPart part(const Known &known) const;
	// The same for a field that is needed before the record is walked.
	RecordPart early_part(const Name &name) const;
	ValueTest test(const Condition &condition, const Known &known) const;
	RecordSize size(const Size &size) const;
	// The minimum size of the current block's fields.
	std::uint64_t min_bits() const { return min_bits_; }

	std::int32_t slots() const { return max_slots_; }
	const std::vector<Known> &known() const { return known_; }
	const std::vector<Placed> &placed() const { return placed_; }

private:
	void add_item(const Item &item, FieldClass &structure);
	void add_when(const Item &item, FieldClass &structure);
	void add_group(const Item &item, FieldClass &structure);
	void append(const Item &item, FieldClass type, FieldClass &structure);
	void add_placed(const Item &item, const FieldClass &type);
	FieldClass type_of(const Item &item);
	FieldClass scalar(const Field &field, Field::Type type) const;
	FieldClass repeated(const Field &field, FieldClass element);
	bool needs_slot(const Item &item) const;
	std::int32_t new_slot();
	void check_clauses(const Item &item) const;
	void check_not_after_end(const Item &item) const;
	Unit unit_of(const Item &item) const;

	const Magic *magic_;
	bool big_endian_;
	NameTables names_;
	std::set<std::string> used_by_fields_;     // fields that others in their block refer to
	std::set<std::string> used_by_statements_; // fields that statements refer to

	std::string block_;
	bool is_record_ = false;
	std::size_t headers_ = 0; // in known_: number of those before the record
	std::int32_t header_slots_ = budget_slot + 1, next_slot_ = budget_slot + 1, max_slots_ = budget_slot + 1;
	bool fixed_ = true;
	std::uint64_t at_bits_ = 0, min_bits_ = 0;
	const Item *to_end_ = nullptr;           // the field of the record that extends to its end
	std::vector<const Item *> to_end_whens_; // the `when`s that enclose it
	std::vector<const Item *> whens_;
	FieldClass::Presences presence_; // of all whens_; nullptr: none
	unsigned repeated_depth_ = 0, group_depth_ = 0;
	std::string prefix_;
	std::vector<std::uint32_t> path_;
	std::set<std::string> used_names_; // names in the block, with their groups
	std::size_t fields_ = 0;           // number in all blocks
	std::vector<Known> known_;
	std::vector<RecordConstant> constants_;
	std::vector<Placed> placed_;
};

} // namespace monitor::trace::tdl
