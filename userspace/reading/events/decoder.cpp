// SPDX-License-Identifier: MIT
// The decoder's slower paths: first any CTF layout, then records.
//
// decode_other() is called for every such event. The header of a CTF event is read by its flat form if it has one; the
// rest is skipped at once if the class is of fixed size, else walked. Of a record the kind and the length are read from
// their offsets, then its fields are skipped; each record is a separate view, from its first byte to its last.
#include "decoder.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"
#include "field_ref.h"
#include "reading/ctf/record_layout.h"

namespace monitor::trace {
namespace {

// The flat form is read with loads of 8 bytes; the last may start at the last byte that a part can begin in.
constexpr std::uint64_t flat_load_bits = FlatHeader::max_bits + 64;

std::uint64_t read_part(const std::byte *packet, std::uint64_t at_bits, FlatHeader::Part part)
{
	at_bits += part.at_bits;
	const std::uint64_t word = load<std::uint64_t>(packet + at_bits / 8) >> at_bits % 8;
	return word & (~std::uint64_t(0) >> (64 - part.size_bits));
}

const FlatHeader::Form *form_of(const FlatHeader &flat, const std::byte *packet, std::uint64_t at_bits)
{
	if (flat.selector.size_bits == 0)
		return flat.forms.data();
	const std::uint64_t value = read_part(packet, at_bits, flat.selector);
	for (const FlatHeader::Form &form : flat.forms)
		if (value - form.first <= form.last - form.first)
			return &form;
	return nullptr;
}

constexpr std::ptrdiff_t release_distance = 4 * (1 << 20); // pages are released after this many bytes
constexpr const char *cut_off = "a record is cut off by the end of the file or of its segment";

bool is_valid(const RecordChecksum &checksum, const Event &event)
{
	std::uint64_t at_bits = 0, begin_bits = 0, end_bits = 0;
	if (!locate(checksum.field, event, at_bits))
		return false;
	end_bits = at_bits;
	if (!checksum.is_of_all &&
	    (!locate(checksum.first, event, begin_bits) || !locate(checksum.last, event, end_bits) ||
	     !skip(*checksum.last.type, event.view(), end_bits)))
		return false;
	if (begin_bits % 8 != 0 || end_bits % 8 != 0 || begin_bits > end_bits)
		return false;
	const FieldClass &type = *checksum.field.type;
	const std::uint64_t stored = read_bits(event.packet, at_bits, type.size_bits, type.big_endian);
	return stored == checksum_of(checksum.method, event.packet + begin_bits / 8, (end_bits - begin_bits) / 8);
}

} // namespace

Decoder::Decoder(const Stream &stream, const Description &description)
    : description_(stream.description() ? stream.description() : &description),
      is_direct_(!stream.info().is_generic_ctf && !stream.maps_time()), stream_(&stream)
{
	event_.stream = &stream.info();
}

void Decoder::reset()
{
	position_ = end_ = nullptr;
	event_.time = ticks_ = 0;
}

bool Decoder::open(PacketHead &head, std::uint64_t end_time)
{
	packet_end_time_ = end_time;
	stream_class_ = head.stream;
	begin_ = head.begin;
	cpu_ = head.cpu;
	slots_.swap(head.slots);
	if (head.has_begin)
		ticks_ = head.begin;
	if (!stream_->info().is_generic_ctf)
		event_.time = stream_->time(ticks_);
	event_.packet = stream_->bytes() + head.offset_bytes;
	event_.end_bits = head.content_bits;
	event_.packet_cpu = cpu_;
	event_.slots = slots_.data();
	position_ = not_released_ = event_.packet + head.first_bits / 8;
	end_ = event_.packet + (head.content_bits + 7) / 8;
	at_bits_ = head.first_bits;
	record_ = 0;
	// Zeros, which replace what was cut off, are not a token, but may be the rest of one.
	if (!is_direct_ || stream_->was_in_file(event_.packet, end_))
		return true;
	end_ = std::clamp(stream_->bytes() + stream_->whole_bytes(), position_, end_);
	return false;
}

void Decoder::grow(const PacketHead &head)
{
	packet_end_time_ = head.end;
	event_.end_bits = head.content_bits;
	end_ = event_.packet + head.content_bits / 8;
}

// The time has the low bits of the clock: a lower value than before means that they wrapped. With 0 bits the time is
// unchanged. Returns an error, or nullptr.
inline const char *Decoder::set_time(std::uint64_t ticks, std::uint32_t size_bits)
{
	if (size_bits == 0) {
		ticks = ticks_;
	} else if (size_bits < 64) {
		const std::uint64_t mask = (std::uint64_t(1) << size_bits) - 1;
		const std::uint64_t wrap = ticks < (ticks_ & mask) ? mask + 1 : 0;
		ticks = (ticks_ & ~mask) + wrap + (ticks & mask);
	}
	const std::uint64_t time = stream_->time(ticks);
	if (time < event_.time)
		return "the event's time steps back";
	if (time > packet_end_time_)
		return "the event's time is after the start of the next packet";
	ticks_ = ticks;
	event_.time = time;
	return nullptr;
}

std::string Decoder::why_damaged() const
{
	if (stream_->info().is_generic_ctf)
		return why_;
	const auto token = load<std::uint64_t>(position_);
	const EventClass *cls = description_->by_id(token);
	if (edc_token_id(token) == 0)
		return "there is no event where one should begin";
	if (!cls)
		return "an event of the unknown class " + std::to_string(edc_token_id(token));
	if (cls->size_bytes > static_cast<std::size_t>(end_ - position_))
		return "an event of the class " + cls->name + " extends beyond the packet's content";
	return "the event's time steps back or is after the packet's end";
}

void Decoder::skip_damage()
{
	position_ = can_resume() ? resume_ : end_;
	resume_ = nullptr;
}

// Uses the flat form, if it exists and the content is long enough.
inline const char *Decoder::read_event_header(std::uint64_t &at_bits, const EventClass *&cls)
{
	const StreamClass &stream = *stream_class_;
	const View view = event_.view();
	if (stream.flat.forms.empty() || !view.has(at_bits, flat_load_bits))
		return walk_event_header(at_bits, cls);
	const FlatHeader::Form *form = form_of(stream.flat, view.packet, at_bits);
	if (!form)
		return "an event's header has a form that is not described";
	const std::uint64_t ticks = form->time.size_bits ? read_part(view.packet, at_bits, form->time) : 0;
	cls = stream.only;
	if (stream.event_id >= 0) {
		const std::uint64_t id = view.slots[stream.event_id] = read_part(view.packet, at_bits, form->id);
		cls = stream.find(id);
	}
	at_bits += form->size_bits;
	return set_time(ticks, form->time.size_bits);
}

// A cut-off file reads as zeros, which decode, too: checks that the bytes were in the file.
bool Decoder::decode_other()
{
	const std::byte *const begin = position_;
	const std::uint64_t ticks = ticks_, time = event_.time;
	if (!decode_any_layout())
		return false;
	const bool is_bits = stream_->info().is_generic_ctf && !description_->layout->records;
	const std::byte *const end = is_bits ? event_.packet + (at_bits_ + 7) / 8 : position_;
	if (stream_->was_in_file(begin, end)) [[likely]]
		return true;
	position_ = begin;
	ticks_ = ticks;
	event_.time = time;
	why_ = Stream::why_cut_off();
	return false;
}

bool Decoder::decode_any_layout()
{
	if (!stream_->info().is_generic_ctf)
		return decode_mapped_token();
	if (description_->layout->records)
		return decode_record();
	const std::uint64_t at_bits = aligned(at_bits_, stream_class_->event_header.align_bits);
	if (at_bits >= event_.end_bits) {
		position_ = end_;
		return false;
	}
	why_ = read_generic_ctf(at_bits);
	return !why_;
}

bool Decoder::decode_mapped_token()
{
	event_.time = ticks_;
	const bool good = decode_token();
	ticks_ = event_.time;
	event_.time = stream_->time(ticks_);
	return good;
}

// Adds the event's name to an error in its time.
const char *Decoder::with_event_name(const char *why, const EventClass *cls)
{
	constexpr std::string_view prefix = "the event's time";
	if (!cls || !std::string_view(why).starts_with(prefix))
		return why;
	text_ = "the time of the event " + readable(cls->name) + (why + prefix.size());
	return text_.c_str();
}

// Decodes the event at `at_bits` into event_: returns an error, or nullptr.
const char *Decoder::read_generic_ctf(std::uint64_t at_bits)
{
	const std::uint64_t begin_bits = at_bits;
	event_.slots[budget_slot] = event_budget;
	const EventClass *cls = nullptr;
	if (const char *why = read_event_header(at_bits, cls))
		return with_event_name(why, cls);
	if (!cls && stream_class_->event_id < 0)
		return "an event of a class that is not described";
	if (!cls) {
		const std::uint64_t id = event_.slots[stream_class_->event_id];
		text_ = fmt::format("an event of the class {} ({:#x}), which is not described", id, id);
		return text_.c_str();
	}
	at_bits = aligned(at_bits, cls->align_bits);
	event_.cls = cls;
	event_.at_bits = at_bits;
	event_.data = event_.packet + at_bits / 8;
	if (cls->is_fixed)
		at_bits += cls->fixed_bits;
	else if (!cls->plan.skip_fields(event_.view(), at_bits))
		return "an event extends beyond the packet's content, its variant has no such option, or an integer of "
		       "it has more than 64 bits";
	if (at_bits > event_.end_bits)
		return "an event extends beyond the packet's content";
	if (at_bits == begin_bits)
		return "an event takes no bits";
	at_bits_ = at_bits;
	position_ = at_bits >= event_.end_bits ? end_ : event_.packet + at_bits / 8;
	return nullptr;
}

const char *Decoder::walk_event_header(std::uint64_t &at_bits, const EventClass *&cls)
{
	const StreamClass &stream = *stream_class_;
	const View view = event_.view();
	if (stream.event_time >= 0)
		view.slots[stream.event_time + 1] = 0;
	if (!skip(stream.event_header, view, at_bits))
		return "an event's header extends beyond the packet's content, or has a form that is not described";
	cls = stream.event_id >= 0 ? stream.find(view.slots[stream.event_id]) : stream.only;
	if (stream.event_time < 0)
		return set_time(0, 0);
	return set_time(view.slots[stream.event_time], static_cast<std::uint32_t>(view.slots[stream.event_time + 1]));
}

bool Decoder::decode_record()
{
	if (position_ - not_released_ > release_distance)
		release_records();
	std::uint64_t size_bytes = 0;
	why_ = read_record(size_bytes);
	if (!why_) {
		position_ += size_bytes;
		++record_;
	} else {
		resume_ = position_ + size_bytes;
	}
	return !why_;
}

void Decoder::release_records()
{
	if (not_released_)
		stream_->release_bytes(not_released_, position_);
	not_released_ = position_;
}

const char *Decoder::check_constants(const RecordForm &form)
{
	for (const RecordConstant &constant : form.constants)
		if (event_.slots[constant.slot] != constant.value) {
			text_ = constant.mismatch("record", event_.slots[constant.slot]);
			return text_.c_str();
		}
	return nullptr;
}

// Sets the size of a damaged record, if known: the records after it can then be read.
const char *Decoder::read_record(std::uint64_t &size_bytes)
{
	const RecordLayout &layout = *description_->layout->records;
	const auto left_bits = static_cast<std::uint64_t>(end_ - position_) * 8;
	event_.packet = event_.data = position_;
	event_.at_bits = 0;
	event_.end_bits = left_bits;
	event_.slots[budget_slot] = event_budget;
	const RecordForm *form = layout.choose(event_.view());
	if (!form) {
		if (layout.is_cut_off(event_.view()))
			return cut_off;
		const RecordSize &size = layout.size;
		const bool is_known = size.is_known && (!size.has_part || size.part.is_in(left_bits));
		const std::uint64_t bits = is_known ? size.bits(event_.view()) : 0;
		if (bits > 0 && bits <= left_bits && (!size.has_part || size.part.is_in(bits)))
			size_bytes = bits / 8;
		return "a record of a kind that is not described";
	}
	event_.cls = form->cls;
	if (form->size.is_known) {
		if (form->size.has_part && !form->size.part.is_in(left_bits))
			return cut_off;
		event_.end_bits = form->size.bits(event_.view());
		if (event_.end_bits > left_bits)
			return cut_off;
		if (event_.end_bits == 0)
			return "a record has a length of 0";
	}
	std::uint64_t at_bits = form->cls->fixed_bits;
	if (!form->cls->is_fixed)
		at_bits = 0;
	if (form->cls->is_fixed ? at_bits > event_.end_bits
				: !form->cls->plan.skip_fields(event_.view(), at_bits) || at_bits > event_.end_bits) {
		if (!form->size.is_known)
			return cut_off;
		text_ = "the fields of a record " + form->cls->name + " do not fit into its length of " +
			std::to_string(event_.end_bits / 8) + " bytes";
		return text_.c_str();
	}
	if (!form->size.is_known)
		event_.end_bits = (at_bits + 7) / 8 * 8;
	if (event_.end_bits == 0)
		return "a record takes no bytes";
	if (const char *why = check_constants(*form))
		return why;
	size_bytes = event_.end_bits / 8;
	for (const RecordChecksum &checksum : form->checksums)
		if (!is_valid(checksum, event_)) {
			// Later records count from its time; it may be decoded twice before it is skipped.
			if (form->time.how == RecordTime::How::before && !resume_)
				set_record_time(*form);
			return "the checksum of a record is wrong";
		}
	const std::uint64_t cpu = form->has_cpu ? form->cpu.read(event_.view()) : cpu_;
	event_.packet_cpu = cpu < max_cpu_numbers ? static_cast<std::uint32_t>(cpu) : EDC_CPU_UNKNOWN;
	return set_record_time(*form);
}

const char *Decoder::set_record_time(const RecordForm &form)
{
	const RecordTime &time = form.time;
	constexpr const char *too_large = "the time of a record is before its origin or does not fit into 64 bits";
	std::uint64_t sum = 0;
	for (const RecordTime::Part &part : time.parts) {
		std::uint64_t value = part.part.read(event_.view());
		if (part.part.is_real) {
			const double ticks =
			    as_real(value, part.part.size_bits, true) * static_cast<double>(part.ticks);
			if (!(ticks >= 0 && ticks < 1.8e19))
				return too_large;
			value = static_cast<std::uint64_t>(ticks);
		} else if ((part.part.is_signed && static_cast<std::int64_t>(value) < 0) ||
			   __builtin_mul_overflow(value, part.ticks, &value)) {
			return too_large;
		}
		if (__builtin_add_overflow(sum, value, &sum))
			return too_large;
	}
	std::uint64_t base = 0;
	switch (time.how) {
	case RecordTime::How::none:
		return set_time(0, 0);
	case RecordTime::How::wrapped:
		return set_time(sum, time.parts.front().part.size_bits);
	case RecordTime::How::segment:
		base = begin_;
		break;
	case RecordTime::How::before:
		base = ticks_;
		break;
	case RecordTime::How::point:
		break;
	}
	if (__builtin_add_overflow(sum, base, &sum))
		return too_large;
	own_ticks_ = sum;
	return set_time(time.may_step_back ? std::max(sum, ticks_) : sum, 64);
}

} // namespace monitor::trace
