// SPDX-License-Identifier: MIT
// What a trace in TDL has that CTF cannot say: how records are told apart, how long they are, what their time is made
// of, what must stand in them.
//
// Made by the compiler of TDL (tdl/compile.h) beside the Layout (layout.h), whose slots it uses; the packets
// (record_packets.cpp) read headers with it, the cursor (record_events.cpp) records. Immutable once made, so any number
// of threads may decode with it. Everything it reads is untrusted.
// Invariants: a part that is not in a slot and is needed to find the record's end is tested to be there (is_in()), any
// other lies within the fixed fields of its class; sizes are whole bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "description.h"

namespace monitor::trace {

// An integer or a real of a record, wherever it is.
struct RecordPart {
	std::int32_t slot = -1; // it was saved here; -1: it is read from its place
	std::uint32_t at_bits = 0, size_bits = 0;
	bool is_signed = false, is_real = false, big_endian = false;

	// Whether it can be read: what is before `end_bits` is there.
	bool is_in(std::uint64_t end_bits) const { return slot >= 0 || std::uint64_t(at_bits) + size_bits <= end_bits; }
	std::uint64_t read(const View &view) const
	{
		if (slot >= 0)
			return view.slots[slot];
		const std::uint64_t value = read_bits(view.packet, at_bits, size_bits, big_endian);
		return is_signed ? sign_extended(value, size_bits) : value;
	}
};

// A size in bits: part * times + plus, rounded up.
struct RecordSize {
	bool is_known = false;
	bool has_part = false;
	RecordPart part;
	std::uint64_t times = 0;
	std::int64_t plus = 0;
	std::uint64_t multiple = 8;

	// More than any file has if it does not fit into 64 bits.
	std::uint64_t of(const View &view) const;
};

struct RecordTest {
	RecordPart part;
	ValueTest test;
};

struct RecordTime {
	enum class How : std::uint8_t {
		none,    // it has the time of the record before
		point,   // since the origin of the clock
		wrapped, // the low bits of that
		segment, // since the begin of the segment
		before,  // since the record before
	};
	struct Part {
		RecordPart part;
		std::uint64_t ticks = 1; // each
	};

	How how = How::none;
	bool may_step_back = false; // then it counts as the latest time so far
	std::vector<Part> parts;    // their sum
};

// An integer that always is the same: of a header, or of a record that has been walked.
struct RecordConstant {
	std::string name; // "": a filler
	std::int32_t slot = -1;
	std::uint64_t value = 0;
	bool is_signed = false;
	std::uint8_t base = 10;

	// "the BLOCK's NAME is FOUND, where always VALUE stands"
	std::string wrong(const char *block, std::uint64_t found) const;
};

enum class ChecksumMethod : std::uint8_t { sum8, sum16, sum32, xor8, crc32 };

std::uint64_t checksum_of(ChecksumMethod method, const std::byte *bytes, std::uint64_t size_bytes);

struct RecordChecksum {
	ChecksumMethod method = ChecksumMethod::crc32;
	Field field;
	bool is_of_all = true; // that is before it
	Field first, last;     // else from the begin of this one to the end of that one
};

// A kind of record: an event class.
struct RecordForm {
	const EventClass *cls = nullptr;
	std::vector<RecordTest> tests; // all hold
	RecordSize size;
	RecordTime time;
	bool has_cpu = false;
	RecordPart cpu;
	std::vector<RecordConstant> constants;
	std::vector<RecordChecksum> checksums;

	// Whether all that it takes the other one would, too. False: it is not known.
	bool is_within(const RecordForm &other) const;
};

// What the file, or each of its segments, begins with.
struct RecordHeader {
	bool is_there = false;
	FieldClass fields; // a structure
	RecordSize size;   // of the file's header with what follows it; of a segment with its records
	RecordSize content;
	std::vector<RecordConstant> constants;
	std::int32_t begin = -1, end = -1, lost = -1, number = -1, cpu = -1; // slots
	std::uint64_t begin_ticks = 1, end_ticks = 1;                        // of each
	std::uint32_t lost_bits = 64, number_bits = 64;
};

struct RecordLayout {
	RecordHeader file, segment;
	std::vector<RecordForm> forms; // the first one whose tests hold
	RecordSize size;               // of a record of no form
	// Of values of the part that the first test of every form is of: the first form it can be.
	RecordPart selector;
	std::vector<std::uint32_t> first_form; // empty: it is form 0

	// Called when the forms are complete.
	void index();
	// nullptr: none.
	const RecordForm *choose(const View &view) const
	{
		std::size_t i = 0;
		if (!first_form.empty() && selector.is_in(view.end_bits)) {
			const std::uint64_t value = selector.read(view);
			i = first_form[value < first_form.size() ? value : first_form.size() - 1];
		}
		for (; i < forms.size(); ++i)
			if (holds(forms[i], view))
				return &forms[i];
		return nullptr;
	}

	// None was chosen: would one be, if what is tested of it and is not there were?
	bool is_cut_off(const View &view) const
	{
		for (const RecordForm &form : forms)
			if (holds(form, view, true))
				return true;
		return false;
	}

private:
	static bool holds(const RecordForm &form, const View &view, bool if_cut_off = false)
	{
		for (const RecordTest &test : form.tests)
			if (test.part.is_in(view.end_bits) ? !test.test.takes(test.part.read(view)) : !if_cut_off)
				return false;
		return true;
	}
};

} // namespace monitor::trace
