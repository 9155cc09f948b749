// SPDX-License-Identifier: MIT
#include "core.h"

#include <algorithm>

namespace poet::detail {
namespace {

using namespace monitor;

Kind kind_of(trace::FieldKind kind)
{
	switch (kind) {
	case trace::FieldKind::unsigned_integer:
		return Kind::unsigned_integer;
	case trace::FieldKind::signed_integer:
		return Kind::signed_integer;
	case trace::FieldKind::real:
		return Kind::real;
	case trace::FieldKind::text:
		return Kind::text;
	case trace::FieldKind::list:
		break;
	}
	return Kind::list;
}

FieldInfo info_of(const trace::Field &field)
{
	FieldInfo made{field.name, kind_of(field.kind), field.base, field.is_optional, field.size_bits, {}};
	if (field.labels)
		for (const auto &label : field.labels->labels())
			made.labels.push_back({label.first, label.last, label.text});
	return made;
}

Domain domain_of(trace::Domain domain)
{
	return domain == trace::Domain::recording ? Domain::recording
	       : domain == trace::Domain::kernel  ? Domain::kernel
						  : Domain::user;
}

Clock clock_of(const trace::Trace &trace)
{
	const trace::Clock &clock = trace.description().clock;
	return {clock.name, clock.frequency_hz, clock.offset_s, clock.offset, trace.begin_time(), trace.end_time()};
}

} // namespace

Core::Core(trace::Trace &&opened) : trace_(std::move(opened)), clock_(clock_of(trace_)), problems_(trace_.problems())
{
	list_classes();
	list_streams();
	Tables::classes = classes_.data();
	Tables::streams = streams_.data();
}

void Core::list_classes()
{
	const auto &all = trace_.description().classes();
	trace_classes_.resize(all.size());
	classes_.resize(all.size());
	refs_.resize(all.size());
	for (const auto &cls : all) {
		trace_classes_[cls->index] = cls.get();
		EventClass &made = classes_[cls->index];
		made.index = cls->index;
		made.name = cls->name;
		made.domain = domain_of(cls->domain);
		for (const trace::Field &field : cls->fields) {
			made.fields.push_back(info_of(field));
			refs_[cls->index].push_back({trace::FieldRef(*cls, field), &field, this});
		}
	}
}

void Core::list_streams()
{
	for (const auto &stream : trace_.streams()) {
		const trace::StreamInfo &info = stream->info();
		streams_.push_back({info.index, info.name, info.has_cpu() ? std::optional(info.cpu) : std::nullopt,
				    info.level, stream->offset(stream->packets()), info.is_generic_ctf});
		slots_.push_back(info.is_generic_ctf ? static_cast<std::size_t>(stream->description()->layout->slots)
						     : 0);
		max_slots_ = std::max(max_slots_, slots_.back());
	}
}

const Ref *Core::ref(std::uint32_t cls, std::string_view name) const
{
	for (const Ref &ref : refs_[cls])
		if (ref.field->name == name)
			return &ref;
	return nullptr;
}

std::shared_ptr<const FieldTable> Core::field(std::string_view name) const
{
	const std::lock_guard guard(mutex_);
	const auto known = fields_.find(name);
	if (known != fields_.end())
		if (auto table = known->second.lock())
			return table;
	auto made = std::make_shared<FieldTable>();
	made->name = name;
	made->core = shared_from_this();
	made->places.resize(classes_.size());
	bool is_any = false;
	for (const EventClass &cls : classes_) {
		Place &place = made->places[cls.index];
		place.ref = ref(cls.index, name);
		if (!place.ref)
			continue;
		is_any = true;
		place.how = Place::How::other;
		place.is_signed = place.ref->field->kind == trace::FieldKind::signed_integer;
		const auto shifts = place.ref->ref.shifts();
		if (shifts && place.ref->field->is_integer()) {
			place.how = Place::How::shifted;
			place.byte = shifts->byte;
			place.left = shifts->left;
			place.right = shifts->right;
		}
	}
	if (!is_any)
		return nullptr;
	fields_[made->name] = made;
	return made;
}

const Index &Core::index() const
{
	std::call_once(index_made_, [this] {
		trace::Problems found;
		index_.make(trace_, found);
		add_problems(found);
	});
	return index_;
}

void Core::add_problems(const trace::Problems &found) const
{
	const std::lock_guard guard(mutex_);
	problems_.merge(found);
}

} // namespace poet::detail
