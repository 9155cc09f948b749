// SPDX-License-Identifier: MIT
// How a cursor decodes a record of a file described in TDL.
//
// Called for every such event. The record's kind and length are read from their offsets, then its fields are skipped;
// each record is a separate view, from its first byte to its last.
#include <algorithm>

#include "field_ref.h"
#include "record_layout.h"
#include "stream.h"

namespace monitor::trace {
namespace {

constexpr std::ptrdiff_t drop_distance = 4 * (1 << 20); // pages are released after this many bytes
constexpr const char *cut_off = "a record is cut off by the end of the file or of its segment";

bool is_right(const RecordChecksum &checksum, const Event &event)
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
	const std::uint64_t said = read_bits(event.packet, at_bits, type.size_bits, type.big_endian);
	return said == checksum_of(checksum.method, event.packet + begin_bits / 8, (end_bits - begin_bits) / 8);
}

} // namespace

bool Cursor::decode_record()
{
	if (position_ - kept_from_ > drop_distance)
		drop_records();
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

void Cursor::drop_records()
{
	if (kept_from_)
		stream_->drop_bytes(kept_from_, position_);
	kept_from_ = position_;
}

const char *Cursor::wrong_constant(const RecordForm &form)
{
	for (const RecordConstant &constant : form.constants)
		if (event_.slots[constant.slot] != constant.value) {
			text_ = constant.wrong("record", event_.slots[constant.slot]);
			return text_.c_str();
		}
	return nullptr;
}

// For a damaged record, sets the size if it is known: what follows can then be read.
const char *Cursor::read_record(std::uint64_t &size_bytes)
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
		const std::uint64_t bits = is_known ? size.of(event_.view()) : 0;
		if (bits > 0 && bits <= left_bits && (!size.has_part || size.part.is_in(bits)))
			size_bytes = bits / 8;
		return "a record of a kind that is not described";
	}
	event_.cls = form->cls;
	if (form->size.is_known) {
		if (form->size.has_part && !form->size.part.is_in(left_bits))
			return cut_off;
		event_.end_bits = form->size.of(event_.view());
		if (event_.end_bits > left_bits)
			return cut_off;
		if (event_.end_bits == 0)
			return "a record has a length of 0";
	}
	std::uint64_t at_bits = form->cls->fixed_bits;
	if (!form->cls->is_fixed)
		at_bits = 0;
	if (form->cls->is_fixed ? at_bits > event_.end_bits
				: !form->cls->plan.pass(event_.view(), at_bits) || at_bits > event_.end_bits) {
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
	if (const char *why = wrong_constant(*form))
		return why;
	size_bytes = event_.end_bits / 8;
	for (const RecordChecksum &checksum : form->checksums)
		if (!is_right(checksum, event_)) {
			// later records count from its time; it may be tried twice before it is skipped
			if (form->time.how == RecordTime::How::before && !resume_)
				take_record_time(*form);
			return "the checksum of a record is wrong";
		}
	const std::uint64_t cpu = form->has_cpu ? form->cpu.read(event_.view()) : head_.cpu;
	event_.packet_cpu = static_cast<std::uint32_t>(std::min<std::uint64_t>(cpu, EDC_CPU_UNKNOWN));
	return take_record_time(*form);
}

const char *Cursor::take_record_time(const RecordForm &form)
{
	const RecordTime &time = form.time;
	constexpr const char *too_large = "the time of a record is before its origin or does not fit into 64 bits";
	std::uint64_t sum = 0;
	for (const RecordTime::Part &part : time.parts) {
		std::uint64_t value = part.part.read(event_.view());
		if (part.part.is_real) {
			const double ticks = as_real(value, part.part.size_bits) * static_cast<double>(part.ticks);
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
		return take_time(0, 0);
	case RecordTime::How::wrapped:
		return take_time(sum, time.parts.front().part.size_bits);
	case RecordTime::How::segment:
		base = head_.begin;
		break;
	case RecordTime::How::before:
		base = ticks_;
		break;
	case RecordTime::How::point:
		break;
	}
	if (__builtin_add_overflow(sum, base, &sum))
		return too_large;
	return take_time(time.may_step_back ? std::max(sum, ticks_) : sum, 64);
}

} // namespace monitor::trace
