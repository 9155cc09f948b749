// SPDX-License-Identifier: MIT
// How a cursor decodes an event of any layout, and a token whose time is of another clock.
//
// Called for every such event: the header is read by its flat form if it has one; the rest is skipped at once if the
// class is of fixed size, else walked.
#include "stream.h"

namespace monitor::trace {
namespace {

// The flat form is read with loads of 8 bytes; the last one starts at the last byte that a part may begin in.
constexpr std::uint64_t flat_room_bits = FlatHeader::max_bits + 64;

std::uint64_t part_of(const std::byte *packet, std::uint64_t at_bits, FlatHeader::Part part)
{
	at_bits += part.at_bits;
	const std::uint64_t word = load<std::uint64_t>(packet + at_bits / 8) >> at_bits % 8;
	return word & (~std::uint64_t(0) >> (64 - part.size_bits));
}

const FlatHeader::Form *form_of(const FlatHeader &flat, const std::byte *packet, std::uint64_t at_bits)
{
	if (flat.selector.size_bits == 0)
		return flat.forms.data();
	const std::uint64_t value = part_of(packet, at_bits, flat.selector);
	for (const FlatHeader::Form &form : flat.forms)
		if (value - form.first <= form.last - form.first)
			return &form;
	return nullptr;
}

} // namespace

// Uses the flat form, if there is one and the content is long enough.
inline const char *Cursor::read_event_header(std::uint64_t &at_bits, const EventClass *&cls)
{
	const StreamClass &stream = *head_.stream;
	const View view = event_.view();
	if (stream.flat.forms.empty() || !view.has(at_bits, flat_room_bits))
		return walk_event_header(at_bits, cls);
	const FlatHeader::Form *form = form_of(stream.flat, view.packet, at_bits);
	if (!form)
		return "an event's header has a form that is not described";
	const std::uint64_t ticks = form->time.size_bits ? part_of(view.packet, at_bits, form->time) : 0;
	cls = stream.only;
	if (stream.event_id >= 0) {
		const std::uint64_t id = view.slots[stream.event_id] = part_of(view.packet, at_bits, form->id);
		cls = stream.find(id);
	}
	at_bits += form->size_bits;
	return take_time(ticks, form->time.size_bits);
}

// Zeros in place of what was cut off decode too: checks that the bytes were in the file.
bool Cursor::decode_other()
{
	const std::byte *const begin = position_;
	const std::uint64_t ticks = ticks_, time = event_.time;
	if (!decode_any_layout())
		return false;
	const bool is_bits = stream_->info().is_generic_ctf && !description_->layout->records;
	const std::byte *const end = is_bits ? event_.packet + (at_bits_ + 7) / 8 : position_;
	if (stream_->was_there(begin, end)) [[likely]]
		return true;
	position_ = begin;
	ticks_ = ticks;
	event_.time = time;
	why_ = Stream::why_cut_off();
	return false;
}

bool Cursor::decode_any_layout()
{
	if (!stream_->info().is_generic_ctf)
		return decode_mapped_token();
	if (description_->layout->records)
		return decode_record();
	const std::uint64_t at_bits = aligned(at_bits_, head_.stream->event_header.align_bits);
	if (at_bits >= event_.end_bits) {
		position_ = end_;
		return false;
	}
	why_ = decode_generic_ctf(at_bits);
	return !why_;
}

bool Cursor::decode_mapped_token()
{
	event_.time = ticks_;
	const bool good = decode_token();
	ticks_ = event_.time;
	event_.time = stream_->time(ticks_);
	return good;
}

// Decodes the event at `at_bits` into event_: returns nullptr, or what is wrong with it.
const char *Cursor::decode_generic_ctf(std::uint64_t at_bits)
{
	const std::uint64_t begin_bits = at_bits;
	event_.slots[budget_slot] = event_budget;
	const EventClass *cls = nullptr;
	if (const char *why = read_event_header(at_bits, cls))
		return why;
	if (!cls)
		return "an event of a class that is not described";
	at_bits = aligned(at_bits, cls->align_bits);
	event_.cls = cls;
	event_.at_bits = at_bits;
	event_.data = event_.packet + at_bits / 8;
	if (cls->is_fixed)
		at_bits += cls->fixed_bits;
	else if (!cls->plan.pass(event_.view(), at_bits))
		return "an event extends beyond the packet's content, or its variant has no such option";
	if (at_bits > event_.end_bits)
		return "an event extends beyond the packet's content";
	if (at_bits == begin_bits)
		return "an event takes no bits";
	at_bits_ = at_bits;
	position_ = at_bits >= event_.end_bits ? end_ : event_.packet + at_bits / 8;
	return nullptr;
}

const char *Cursor::walk_event_header(std::uint64_t &at_bits, const EventClass *&cls)
{
	const StreamClass &stream = *head_.stream;
	const View view = event_.view();
	if (stream.event_time >= 0)
		view.slots[stream.event_time + 1] = 0;
	if (!skip(stream.event_header, view, at_bits))
		return "an event's header extends beyond the packet's content, or has a form that is not described";
	cls = stream.event_id >= 0 ? stream.find(view.slots[stream.event_id]) : stream.only;
	if (stream.event_time < 0)
		return take_time(0, 0);
	return take_time(view.slots[stream.event_time], static_cast<std::uint32_t>(view.slots[stream.event_time + 1]));
}

} // namespace monitor::trace
