// SPDX-License-Identifier: MIT
#include "compile.h"

#include <algorithm>

#include "reading/ctf/fields.h"

namespace monitor::trace::tdl {
namespace {

using Known = FieldCompiler::Known;

// A part of a time that needs the clock's unit, which is known only at the end.
struct PendingTicks {
	TextPosition position;
	std::uint64_t per_second;
	std::uint64_t *ticks;
	bool wraps;
};

FieldClass empty_structure()
{
	FieldClass made;
	made.kind = FieldClass::Kind::structure;
	made.align_bits = 8;
	return made;
}

class Compiler {
public:
	Compiler(const Model &model, const Magic *magic, std::uint32_t first_index)
	    : model_(model), magic_(magic), fields_(model, magic)
	{
		made_->first_index = first_index;
	}

	Compiled compile()
	{
		header(model_.file, "the file", layout_->file, false);
		header(model_.segment, "every segment", layout_->segment, true);
		if (model_.common)
			check_roles(*model_.common, false);
		layout_->forms.resize(model_.records.size());
		for (std::size_t i = 0; i < model_.records.size(); ++i)
			record(model_.records[i], i);
		check_magic();
		set_clock();
		layout_->index();
		auto all = std::make_unique<Layout>();
		all->streams.push_back(std::make_unique<StreamClass>());
		all->streams.back()->clock = pending_ticks_.empty() ? -1 : 0;
		all->slots = fields_.slots();
		all->records = std::move(layout_);
		made_->layout = std::move(all);
		made_->env = {{"tracer_name", model_.name}};
		return {std::move(made_), fields_.placed()};
	}

private:
	static void refuse_name(const Name &name, const char *sentence)
	{
		if (name)
			throw ParseError(name.position, sentence);
	}
	static void check_roles(const Block &block, bool is_segment)
	{
		if (!is_segment) {
			for (const Name *name : {&block.begin, &block.end, &block.lost, &block.number})
				refuse_name(*name, "only a segment can have `begin`, `finish`, `lost` and `number`");
			if (block.content)
				throw ParseError(block.content->amount.position, "only a segment can have `content`");
		}
	}

	void header(const std::optional<Block> &block, const char *name, RecordHeader &made, bool is_segment)
	{
		if (!block)
			return;
		made.has_value = true;
		made.fields = empty_structure();
		fields_.enter(name, false);
		fields_.add(block->items, made.fields);
		made.fields.finish();
		made.constants = fields_.take_constants();
		check_roles(*block, is_segment);
		if (block->time)
			throw ParseError(block->time->position, "only a record can have `time`; a segment has `begin`");
		if (!is_segment)
			refuse_name(block->cpu, "only a segment or a record can have `cpu`");
		if (block->length)
			made.size = checked_size(*block->length, name);
		if (!is_segment)
			return;
		if (!block->length)
			throw ParseError(block->position, "a segment needs a length: add `length is ...`");
		if (block->content)
			made.content = fields_.size(*block->content);
		set_role(block->cpu, made.cpu);
		made.lost_bits = set_role(block->lost, made.lost);
		made.number_bits = set_role(block->number, made.number);
		set_role(block->begin, made.begin);
		set_role(block->end, made.end);
		set_time_role(block->begin, made.begin_ticks);
		set_time_role(block->end, made.end_ticks);
	}

	// Returns the field's size in bits.
	std::uint32_t set_role(const Name &name, std::int32_t &slot)
	{
		if (!name)
			return 64;
		const Known &known = fields_.find_integer(name);
		if (known.item->field.is_signed)
			throw ParseError(name.position, name.text + " is not an unsigned integer");
		slot = known.slot;
		return known.item->field.bits;
	}
	void set_time_role(const Name &name, std::uint64_t &ticks)
	{
		if (name)
			add_pending(name, fields_.find(name), ticks, false);
	}
	void add_pending(const Name &name, const Known &known, std::uint64_t &ticks, bool wraps)
	{
		if (known.unit.per_second == 0)
			throw ParseError(name.position,
					 name.text + " has no unit of time; add `in seconds`, `in nanoseconds` or `in "
						     "ticks of N per second` after its type");
		pending_ticks_.push_back({name.position, known.unit.per_second, &ticks, wraps});
	}

	void record(const Block &block, std::size_t number)
	{
		auto cls = std::make_shared<EventClass>();
		RecordForm &form = layout_->forms[number];
		fields_.enter(block.name, true);
		cls->payload = empty_structure();
		if (model_.common) {
			fields_.add(model_.common->items, cls->payload);
			measure_common(*model_.common);
		}
		fields_.add(block.items, cls->payload);
		if (cls->payload.members.empty())
			throw ParseError(block.position, "the record has no fields");
		cls->payload.finish();
		check_roles(block, false);
		form.constants = fields_.take_constants();
		form.cls = cls.get();
		cls->name = block.name;
		cls->id = number;
		cls->index = made_->first_index + static_cast<std::uint32_t>(number);
		cls->scopes[0] = &cls->payload;
		list_fields(*cls);
		choose(block, form);
		check_reached(block, number);
		measure(block, form, *cls);
		add_time(block, form);
		const Name &cpu = block.cpu || !model_.common ? block.cpu : model_.common->cpu;
		if (cpu) {
			form.has_cpu = true;
			form.cpu = fields_.part(fields_.find_integer(cpu));
		}
		add_checksums(*cls, form);
		made_->add(std::move(cls));
	}

	void choose(const Block &block, RecordForm &form)
	{
		for (const Condition &condition : block.conditions) {
			RecordTest test;
			test.part = fields_.early_part(condition.field);
			test.test = fields_.test(condition, fields_.find(condition.field));
			form.tests.push_back(std::move(test));
		}
	}

	// The length is the same for every record unless it depends on a field that only some have.
	void measure_common(const Block &common)
	{
		if (common.length && (!common.length->amount.field || fields_.has(common.length->amount.field)))
			layout_->size = fields_.size(*common.length);
	}

	void measure(const Block &block, RecordForm &form, const EventClass &cls)
	{
		const std::optional<Size> &length =
		    block.length || !model_.common ? block.length : model_.common->length;
		if (length) {
			form.size = checked_size(*length, block.name);
			return;
		}
		std::vector<const FieldClass *> open = {&cls.payload};
		while (!open.empty()) {
			const FieldClass &type = *open.back();
			open.pop_back();
			if (type.is_to_end)
				throw ParseError(block.position,
						 "a field goes to the end of the record, whose length is "
						 "not given: add `length is ...`");
			for (const Member &member : type.members)
				open.push_back(&member.type);
			for (const FieldClass &element : type.element)
				open.push_back(&element);
		}
	}

	// Checks that a constant length is large enough for the fields.
	RecordSize checked_size(const Size &length, const std::string &block) const
	{
		const RecordSize made = fields_.size(length);
		if (!made.has_part && made.bits({}) < fields_.min_bits())
			throw ParseError(length.amount.position,
					 "the fields of " + block + " take more than this, at least " +
					     std::to_string((fields_.min_bits() + 7) / 8) + " bytes");
		return made;
	}

	// Rejects a record if an earlier one accepts all that it would. Done once, as it does not depend on the magic.
	void check_reached(const Block &block, std::size_t number) const
	{
		const auto takes_all = [&](const RecordForm &form) { return layout_->forms[number].is_within(form); };
		const auto end = layout_->forms.begin() + static_cast<std::ptrdiff_t>(number);
		const auto earlier = magic_ ? end : std::find_if(layout_->forms.begin(), end, takes_all);
		if (earlier != end)
			throw ParseError(block.position,
					 "record " + block.name + " never matches: record " + earlier->cls->name +
					     " matches first; put this one first, or tell them apart with `when`");
	}

	void add_time(const Block &block, RecordForm &form)
	{
		const std::optional<Time> &time = block.time || !model_.common ? block.time : model_.common->time;
		if (!time)
			return;
		using How = RecordTime::How;
		using Origin = Time::Origin;
		if (time->wraps && (time->parts.size() > 1 || time->origin == Origin::before ||
				    time->origin == Origin::segment || time->may_step_back))
			throw ParseError(time->position,
					 "a time that wraps must be one field and a point in time, and not step back");
		form.time.how = time->wraps                       ? How::wrapped
				: time->origin == Origin::segment ? How::segment
				: time->origin == Origin::before  ? How::before
								  : How::point;
		if (form.time.how == How::segment && (!model_.segment || !model_.segment->begin))
			throw ParseError(time->position,
					 "the segment's begin is not described: add `begin is FIELD` there");
		form.time.may_step_back = time->may_step_back;
		form.time.parts.reserve(time->parts.size());
		for (const Name &name : time->parts) {
			const Known &known = fields_.find(name);
			const Field &field = known.item->field;
			if (field.type != Field::Type::integer && field.type != Field::Type::real)
				throw ParseError(name.position, name.text + " is not a number");
			if (time->wraps && (field.type == Field::Type::real || field.is_signed))
				throw ParseError(name.position, "a time that wraps must be an unsigned integer");
			form.time.parts.push_back({fields_.part(known), 1});
			add_pending(name, known, form.time.parts.back().ticks, time->wraps);
		}
		if (time->origin == Origin::boot)
			made_->clock.name = "boot";
	}

	// Makes a trace::Field with the path of a known field.
	static trace::Field field_of(const Known &known, const EventClass &cls)
	{
		trace::Field made;
		made.name = known.name;
		made.path = known.path;
		const FieldClass *type = &cls.payload;
		for (std::size_t depth = 1; depth < known.path.size(); ++depth)
			type = &type->members[known.path[depth]].type;
		made.type = type;
		return made;
	}

	// Checks that the checksummed bytes start and end at byte boundaries, as far as known without the record.
	static void check_bytes(const Known &edge, std::uint64_t size_bits, const Known &checksum)
	{
		if (edge.is_fixed && (edge.at_bits + size_bits) % 8 != 0)
			throw ParseError(checksum.item->position, "a checksum covers whole bytes; what " +
								      checksum.name +
								      " covers begins or ends within a byte");
	}

	void add_checksums(const EventClass &cls, RecordForm &form)
	{
		constexpr ChecksumMethod methods[] = {ChecksumMethod::sum8,  ChecksumMethod::sum8,
						      ChecksumMethod::sum16, ChecksumMethod::sum32,
						      ChecksumMethod::xor8,  ChecksumMethod::crc32};
		for (const Known &known : fields_.known()) {
			const Field &field = known.item->field;
			if (field.checksum == Checksum::none || !known.is_record)
				continue;
			RecordChecksum made;
			made.method = methods[static_cast<std::size_t>(field.checksum)];
			made.field = field_of(known, cls);
			made.is_of_all = !field.first;
			if (!made.is_of_all) {
				const Known &first = fields_.find(field.first), &last = fields_.find(field.last);
				if (!first.is_record || !last.is_record || last.path < first.path)
					throw ParseError(
					    field.first.position,
					    "a checksum covers fields of its own record, from an earlier one "
					    "to a later one");
				if (!(known.path < first.path) && !(last.path < known.path))
					throw ParseError(field.first.position, "a checksum cannot cover itself");
				made.first = field_of(first, cls);
				made.last = field_of(last, cls);
			}
			check_bytes(field.first ? fields_.find(field.first) : known, 0, known);
			if (field.last)
				check_bytes(fields_.find(field.last), made.last.type->fixed_bits, known);
			form.checksums.push_back(std::move(made));
		}
	}

	// Checks that the fields a magic refers to exist.
	void check_magic() const
	{
		if (!magic_)
			return;
		std::vector<std::string> names;
		for (const Placed &placed : fields_.placed())
			names.push_back(placed.item->name);
		for (const auto &[name, unit] : magic_->units)
			if (std::ranges::find(names, name.text) == names.end())
				throw ParseError(name.position,
						 "there is no field " + name.text + did_you_mean(name.text, names));
	}

	// The clock's tick is the finest unit used.
	void set_clock()
	{
		Clock &clock = made_->clock;
		clock.name = clock.name.empty() ? model_.name : clock.name;
		std::uint64_t finest = 1;
		for (const PendingTicks &pending : pending_ticks_)
			finest = std::max(finest, pending.per_second);
		if (!pending_ticks_.empty())
			clock.frequency_hz = finest;
		for (const PendingTicks &pending : pending_ticks_) {
			if (finest % pending.per_second != 0 || (pending.wraps && finest != pending.per_second))
				throw ParseError(pending.position,
						 "this unit does not fit the finest one, of " + std::to_string(finest) +
						     " per second: the finest must be a multiple of it, "
						     "or the same if the time wraps");
			*pending.ticks = finest / pending.per_second;
		}
		made_->clocks = {clock};
	}

	const Model &model_;
	const Magic *magic_;
	FieldCompiler fields_;
	std::shared_ptr<RecordLayout> layout_ = std::make_shared<RecordLayout>();
	std::shared_ptr<Description> made_ = std::make_shared<Description>();
	std::vector<PendingTicks> pending_ticks_;
};

} // namespace

Compiled compile(const Model &model, const Magic *magic, std::uint32_t first_index)
{
	return Compiler(model, magic, first_index).compile();
}

} // namespace monitor::trace::tdl
