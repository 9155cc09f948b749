// SPDX-License-Identifier: MIT
#include "compile_fields.h"

#include <algorithm>
#include <utility>

#include "base/ranges.h"

namespace monitor::trace::tdl {
namespace {

using FieldClassKind = FieldClass::Kind;

constexpr std::uint64_t byte_bits = 8;
constexpr std::uint64_t max_bits = (std::uint64_t(1) << 30) * byte_bits; // total of repeated elements
constexpr std::size_t max_fields = 100'000;
constexpr std::uint64_t far_bits = 1u << 30; // fields beyond it are found by walking

// Collects names that the fields of a block refer to.
void collect(const std::vector<Item> &items, std::set<std::string> &names)
{
	for (const Item &item : items) {
		names.insert(item.field.amount.field.text);
		for (const Condition &condition : item.conditions)
			names.insert(condition.field.text);
		collect(item.items, names);
	}
}

// Collects names that statements refer to.
void collect(const Block &block, std::set<std::string> &names)
{
	for (const Condition &condition : block.conditions)
		names.insert(condition.field.text);
	for (const auto *size : {&block.length, &block.content})
		if (*size)
			names.insert((*size)->amount.field.text);
	if (block.time)
		for (const Name &part : block.time->parts)
			names.insert(part.text);
	for (const Name *name : {&block.cpu, &block.begin, &block.end, &block.lost, &block.number})
		names.insert(name->text);
}

// The complement of the ranges. `lowest` is the smallest value in order.
std::vector<LabelRange> complement(std::vector<LabelRange> sorted, std::uint64_t lowest)
{
	std::vector<LabelRange> made;
	for (LabelRange &range : sorted)
		range = {range.first - lowest, range.last - lowest};
	std::ranges::sort(sorted, {}, &LabelRange::first);
	std::uint64_t next = 0;
	for (const LabelRange &range : sorted) {
		if (range.first > next)
			made.push_back({lowest + next, lowest + range.first - 1});
		next = std::max(next, range.last + 1);
		if (range.last == ~std::uint64_t(0))
			return made;
	}
	made.push_back({lowest + next, lowest - 1});
	return made;
}

} // namespace

FieldCompiler::FieldCompiler(const Model &model, const Magic *magic)
    : magic_(magic), big_endian_(magic && magic->big_endian ? *magic->big_endian : model.big_endian), names_(model)
{
	const auto collect_block = [this](const Block &block) {
		collect(block.items, used_by_fields_);
		collect(block, used_by_statements_);
	};
	for (const auto *block : {&model.file, &model.segment, &model.common})
		if (*block)
			collect_block(**block);
	std::ranges::for_each(model.records, collect_block);
	for (std::set<std::string> *names : {&used_by_fields_, &used_by_statements_}) {
		names->erase("");
		const std::set<std::string> paths = *names;
		for (const std::string &path : paths) // a field in a group is also found by its name alone
			names->insert(path.substr(path.rfind('.') + 1));
	}
}

void FieldCompiler::enter(const std::string &name, bool is_record)
{
	if (is_record && is_record_) {
		known_.resize(headers_);
		next_slot_ = header_slots_;
	} else if (is_record) {
		headers_ = known_.size();
		header_slots_ = next_slot_;
	}
	block_ = name;
	is_record_ = is_record;
	fixed_ = true;
	at_bits_ = min_bits_ = 0;
	to_end_ = nullptr;
	path_ = {0};
	constants_.clear();
	used_names_.clear();
}

void FieldCompiler::add(const std::vector<Item> &items, FieldClass &structure)
{
	for (const Item &item : items)
		add_item(item, structure);
}

void FieldCompiler::add_item(const Item &item, FieldClass &structure)
{
	check_not_after_end(item);
	switch (item.kind) {
	case Item::Kind::field:
		check_clauses(item);
		return append(item, type_of(item), structure);
	case Item::Kind::filler: {
		FieldClass type = type_of(item);
		type.is_hidden = true;
		return append(item, std::move(type), structure);
	}
	case Item::Kind::filler_to: {
		if (group_depth_ > 0)
			throw ParseError(
			    item.position,
			    "a filler to a multiple counts from the start of the record; it cannot be in a group");
		FieldClass type;
		type.kind = FieldClassKind::structure;
		type.is_hidden = true;
		type.align_bits = static_cast<std::uint32_t>(item.multiple_bytes * byte_bits);
		return append(item, std::move(type), structure);
	}
	case Item::Kind::when:
		return add_when(item, structure);
	case Item::Kind::group:
		return add_group(item, structure);
	}
}

void FieldCompiler::add_when(const Item &item, FieldClass &structure)
{
	const auto outer = presence_;
	auto made = outer ? *outer : std::vector<FieldClass::Presence>();
	for (const Condition &condition : item.conditions) {
		const Known &known = find_integer(condition.field);
		made.push_back({known.slot, test(condition, known)});
	}
	presence_ = std::make_shared<const std::vector<FieldClass::Presence>>(std::move(made));
	whens_.push_back(&item);
	fixed_ = false;
	add(item.items, structure);
	whens_.pop_back();
	presence_ = outer;
}

void FieldCompiler::add_group(const Item &item, FieldClass &structure)
{
	if (item.items.empty())
		throw ParseError(item.position, "the group has no fields");
	if (fixed_ && at_bits_ % byte_bits != 0)
		at_bits_ = aligned(at_bits_, byte_bits);
	FieldClass group;
	group.kind = FieldClassKind::structure;
	group.align_bits = byte_bits;
	const std::string outer_prefix = prefix_;
	const std::size_t inner = known_.size();
	const auto outer_presence = std::exchange(presence_, nullptr); // the condition applies to the group as a whole
	placed_.push_back({block_, &item, prefix_ + item.name, {}, {}, whens_, {}, false});
	path_.push_back(static_cast<std::uint32_t>(structure.members.size()));
	prefix_ += item.name + '.';
	fixed_ = fixed_ && !item.is_repeated;
	repeated_depth_ += item.is_repeated;
	++group_depth_;
	add(item.items, group);
	--group_depth_;
	repeated_depth_ -= item.is_repeated;
	path_.pop_back();
	prefix_ = outer_prefix;
	presence_ = outer_presence;
	if (item.is_repeated)
		known_.resize(inner); // names in a repeated group would be ambiguous
	for (std::size_t i = inner; i < known_.size(); ++i)
		known_[i].name = item.name + '.' + known_[i].name;
	append(item, item.is_repeated ? repeated(item.field, std::move(group)) : std::move(group), structure);
}

// Appends a member, and moves to the position after it.
void FieldCompiler::append(const Item &item, FieldClass type, FieldClass &structure)
{
	if (type.is_to_end) {
		to_end_ = &item;
		to_end_whens_ = whens_;
	}
	if (!item.name.empty() && !used_names_.insert(prefix_ + item.name).second)
		throw ParseError(item.position, "a field of this block is already called " + item.name);
	if (++fields_ > max_fields)
		throw ParseError(
		    item.position,
		    "the description has more than 100,000 fields, those of `every record` counted in each record");
	type.finish();
	path_.push_back(static_cast<std::uint32_t>(structure.members.size()));
	if (item.kind != Item::Kind::group) // fields of a group are placed already
		add_placed(item, type);
	path_.pop_back();
	if (presence_) {
		FieldClass optional;
		optional.kind = FieldClassKind::optional;
		optional.is_hidden = type.is_hidden;
		optional.presence = presence_;
		optional.element.push_back(std::move(type));
		type = std::move(optional);
		type.finish();
	}
	structure.members.push_back({item.name, std::move(type), item.position, {}});
}

void FieldCompiler::add_placed(const Item &item, const FieldClass &type)
{
	at_bits_ = aligned(at_bits_, type.align_bits);
	const bool has_size = type.is_scalar() || type.is_fixed;
	const bool big_endian = type.element.empty() ? type.big_endian : type.element.front().big_endian;
	Placed placed{block_, &item, prefix_ + item.name, {}, {}, whens_, unit_of(item), big_endian};
	if (fixed_)
		placed.at_bits = at_bits_;
	if (fixed_ && has_size)
		min_bits_ = at_bits_ + type.fixed_bits;
	if (has_size)
		placed.size_bits = type.fixed_bits;
	placed_.push_back(std::move(placed));
	if (item.kind == Item::Kind::field)
		known_.push_back({item.name, &item, is_record_, fixed_, at_bits_, type.slot, type.big_endian,
				  unit_of(item), whens_, path_});
	at_bits_ += type.fixed_bits;
	fixed_ = fixed_ && has_size && at_bits_ < far_bits;
}

std::int32_t FieldCompiler::new_slot()
{
	max_slots_ = std::max(max_slots_, next_slot_ + 1);
	return next_slot_++;
}

bool FieldCompiler::needs_slot(const Item &item) const
{
	if (item.field.always || used_by_fields_.count(item.name))
		return true;
	return used_by_statements_.count(item.name) && !(is_record_ && fixed_);
}

FieldClass FieldCompiler::scalar(const Field &field, Field::Type type) const
{
	FieldClass made;
	made.kind = type == Field::Type::real ? FieldClassKind::floating_point : FieldClassKind::integer;
	made.is_signed = field.is_signed;
	made.big_endian = field.big_endian.value_or(big_endian_);
	made.base = field.base;
	made.size_bits = field.bits;
	made.is_coded = type == Field::Type::real && field.bits == comp_t_bits;
	return made;
}

FieldClass FieldCompiler::repeated(const Field &field, FieldClass element)
{
	FieldClass made;
	made.kind = FieldClassKind::sequence;
	made.align_bits = element.align_bits;
	element.finish();
	if (element.is_fixed && element.fixed_bits == 0)
		throw ParseError(field.amount.position, "the repeated part takes no bytes");
	if (field.extent == Field::Extent::to_end) {
		made.is_to_end = true;
	} else if (!field.amount.field) {
		made.kind = FieldClassKind::array;
		made.length = static_cast<std::uint64_t>(field.amount.plus);
		if (element.is_fixed && made.length > max_bits / element.stride())
			throw ParseError(field.amount.position, "the repeated part takes more than 2^30 bytes");
	} else {
		made.slot = find_integer(field.amount.field).slot;
		made.times = field.amount.times;
		made.plus = field.amount.plus;
	}
	made.element.push_back(std::move(element));
	return made;
}

FieldClass FieldCompiler::type_of(const Item &item)
{
	const Field &field = item.field;
	FieldClass made;
	switch (field.type) {
	case Field::Type::integer:
	case Field::Type::real:
		made = scalar(field, field.type);
		if (field.names)
			made.labels = names_.labels(field.names, field.is_signed, field.bits);
		if (needs_slot(item))
			made.slot = new_slot();
		if (field.always && (!whens_.empty() || repeated_depth_ > 0))
			throw ParseError(item.position,
					 "only a field that every record has exactly once can have a fixed value");
		if (field.always) {
			const bool fits = field.is_signed ? sign_extended(*field.always, field.bits) == *field.always
							  : field.bits == 64 || *field.always >> field.bits == 0;
			if (!fits)
				throw ParseError(item.position,
						 "the number after `always` does not fit into the field");
			constants_.push_back({item.name, made.slot, *field.always, field.is_signed, field.base});
		}
		break;
	case Field::Type::text:
	case Field::Type::block: {
		FieldClass byte;
		byte.align_bits = byte.size_bits = byte_bits;
		byte.is_text = field.type == Field::Type::text;
		byte.base = field.base;
		if (field.extent == Field::Extent::until_zero) {
			made.kind = FieldClassKind::string;
			made.align_bits = byte_bits;
		} else {
			made = repeated(field, std::move(byte));
		}
		made.is_text = field.type == Field::Type::text;
		break;
	}
	case Field::Type::list: {
		FieldClass element = scalar(field, field.is_real_list ? Field::Type::real : Field::Type::integer);
		if (field.names)
			element.labels = names_.labels(field.names, field.is_signed, field.bits);
		made = repeated(field, std::move(element));
		break;
	}
	}
	made.is_hidden = field.is_hidden;
	return made;
}

// Rejects a field's clauses that contradict each other.
void FieldCompiler::check_clauses(const Item &item) const
{
	const Field &field = item.field;
	const bool is_integer = field.type == Field::Type::integer;
	const auto refuse = [&](bool is_wrong, const std::string &sentence) {
		if (is_wrong)
			throw ParseError(item.position, sentence);
	};
	refuse(field.always && !is_integer, "only an integer can be `always` a number");
	refuse(field.checksum != Checksum::none && (!is_integer || field.is_signed || !is_record_),
	       "a checksum must be an unsigned integer of a record");
	refuse(field.checksum != Checksum::none && (!whens_.empty() || group_depth_ > 0),
	       "a checksum cannot be in `when` or in a group");
	constexpr std::uint32_t checksum_bits[] = {0, 8, 16, 32, 8, 32};
	const std::uint32_t bits = checksum_bits[static_cast<std::size_t>(field.checksum)];
	refuse(bits > field.bits,
	       "this checksum has " + std::to_string(bits) + " bits; the field needs at least as many");
	refuse(field.checksum != Checksum::none && !field.first && fixed_ && at_bits_ == 0,
	       "a checksum covers what comes before it, and nothing does; add `of FIRST to LAST`");
	refuse(field.names && !is_integer && (field.type != Field::Type::list || field.is_real_list),
	       "only integers can have names for their values");
	refuse(field.extent == Field::Extent::to_end && !is_record_,
	       "`to the end` is possible in a record only; give a size");
}

void FieldCompiler::check_not_after_end(const Item &item) const
{
	if (to_end_ && item.kind != Item::Kind::filler_to &&
	    std::ranges::mismatch(to_end_whens_, whens_).in1 == to_end_whens_.end())
		throw ParseError(
		    item.position,
		    "nothing can follow here, as " + to_end_->name + " of line " +
			std::to_string(to_end_->position.line) +
			" goes to the end of the record; give it a size, as in `text of SIZE minus 4 bytes`");
}

Unit FieldCompiler::unit_of(const Item &item) const
{
	if (magic_)
		for (const auto &[name, unit] : magic_->units)
			if (name.text == item.name)
				return unit;
	return item.field.unit;
}

bool FieldCompiler::has(const Name &name) const
{
	return std::ranges::find(known_, name.text, &Known::name) != known_.end();
}

const FieldCompiler::Known &FieldCompiler::find(const Name &name) const
{
	for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
		if (known->name != name.text)
			continue;
		if (std::ranges::mismatch(known->whens, whens_).in1 != known->whens.end())
			throw ParseError(name.position,
					 name.text +
					     " is not in every record; what depends on it must be in the same `when`");
		return *known;
	}
	throw ParseError(name.position, "there is no field " + name.text + " before this" +
					    did_you_mean(name.text, list_of<std::string>(known_, &Known::name)));
}

const FieldCompiler::Known &FieldCompiler::find_integer(const Name &name) const
{
	const Known &known = find(name);
	if (known.item->field.type != Field::Type::integer)
		throw ParseError(name.position, name.text + " is not an integer");
	return known;
}

RecordPart FieldCompiler::part(const Known &known) const
{
	RecordPart made;
	made.slot = known.is_record && known.is_fixed ? -1 : known.slot;
	made.at_bits = static_cast<std::uint32_t>(std::min<std::uint64_t>(known.at_bits, 1u << 31));
	made.size_bits = known.item->field.bits;
	made.is_signed = known.item->field.is_signed;
	made.is_real = known.item->field.type == Field::Type::real;
	made.big_endian = known.big_endian;
	return made;
}

RecordPart FieldCompiler::early_part(const Name &name) const
{
	const Known &known = find_integer(name);
	if (known.is_record && (!known.is_fixed || known.at_bits > 1u << 20))
		throw ParseError(
		    name.position,
		    name.text + " must come before all fields of variable size: how the record is read depends on it");
	return part(known);
}

ValueTest FieldCompiler::test(const Condition &condition, const Known &known) const
{
	using Relation = Condition::Relation;
	const Field &field = known.item->field;
	const Names *names = field.names ? &names_.find(field.names) : nullptr;
	const std::uint64_t max_value = field.is_signed ? ~std::uint64_t(0) >> 1 : ~std::uint64_t(0);
	ValueTest made;
	for (const Constant &constant : condition.values) {
		if (constant.is_negative && !field.is_signed)
			throw ParseError(constant.name.position, condition.field.text + " is never negative");
		made.values.push_back(names_.values(constant, names));
	}
	LabelRange &first = made.values.front();
	switch (condition.relation) {
	case Relation::is:
		break;
	case Relation::is_not:
		made.values = complement(std::move(made.values), field.is_signed ? ~max_value : 0);
		break;
	case Relation::at_least:
		first.last = max_value;
		break;
	case Relation::at_most:
		first = {field.is_signed ? ~max_value : 0, first.last};
		break;
	case Relation::has:
		made.mask = first.first;
		first.last = first.first;
		break;
	case Relation::lacks:
		made.mask = first.first;
		first = {0, 0};
		break;
	}
	return made;
}

RecordSize FieldCompiler::size(const Size &size) const
{
	RecordSize made;
	made.is_known = true;
	made.multiple = size.multiple_bytes * byte_bits;
	std::uint64_t unit = size.unit_bits;
	if (size.amount.field) {
		made.has_part = true;
		made.part = early_part(size.amount.field);
		const std::uint64_t field_unit = find(size.amount.field).unit.bits;
		unit = !size.has_unit && field_unit ? field_unit : unit;
	}
	made.times = size.amount.times * unit;
	made.plus = size.amount.plus * static_cast<std::int64_t>(unit);
	if (!made.has_part && (made.plus <= 0 || made.plus % 8 != 0))
		throw ParseError(size.amount.position, "a length must be a whole number of bytes, at least 1");
	return made;
}

} // namespace monitor::trace::tdl
