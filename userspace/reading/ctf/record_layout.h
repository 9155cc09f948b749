// SPDX-License-Identifier: MIT
// What TDL can describe and CTF cannot: how records are told apart, how long they are, how their time is computed, and
// which values they must contain.
//
// Made by the TDL compiler (reading/tdl/compile.h) together with the Layout (layout.h), whose slots it uses; the
// packets (reading/events/record_packets.cpp) read headers with it, the decoder (reading/events/decoder.cpp) records.
// Immutable once made, so any number of threads may decode with it. Everything it reads is untrusted.
// Invariants: a part that is not in a slot and is needed to find the record's end is checked with is_in(), any other is
// within the fixed fields of its class; sizes are whole bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "description.h"

namespace monitor::trace {

// An integer or a real of a record, wherever it is.
struct RecordPart {
	std::int32_t slot = -1; // where it was saved; -1: it is read from its offset
	std::uint32_t at_bits = 0, size_bits = 0;
	bool is_signed = false, is_real = false, big_endian = false;

	// Whether it is inside data that ends at `end_bits`.
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

	// The size; the maximum if it does not fit into 64 bits.
	std::uint64_t bits(const View &view) const;
};

struct RecordTest {
	RecordPart part;
	ValueTest test;
};

struct RecordTime {
	enum class How : std::uint8_t {
		none,    // it has the time of the previous record
		point,   // since the origin of the clock
		wrapped, // the low bits of that
		segment, // since the start of the segment
		before,  // since the previous record
	};
	struct Part {
		RecordPart part;
		std::uint64_t ticks = 1; // ticks per unit
	};

	How how = How::none;
	bool may_step_back = false; // an earlier time than the latest one so far is replaced by that
	std::vector<Part> parts;    // their sum is the time
};

// An integer with a constant value, in a header or in a record that has been walked.
struct RecordConstant {
	std::string name; // "": padding
	std::int32_t slot = -1;
	std::uint64_t value = 0;
	bool is_signed = false;
	std::uint8_t base = 10;

	// "the BLOCK's NAME is FOUND, but must always be VALUE"
	std::string mismatch(const char *block, std::uint64_t found) const;
};

enum class ChecksumMethod : std::uint8_t { sum8, sum16, sum32, xor8, crc32 };

std::uint64_t checksum_of(ChecksumMethod method, const std::byte *bytes, std::uint64_t size_bytes);

struct RecordChecksum {
	ChecksumMethod method = ChecksumMethod::crc32;
	Field field;
	bool is_of_all = true; // covers everything before it
	Field first, last;     // else from the start of `first` to the end of `last`
};

// A kind of record: an event class.
struct RecordForm {
	const EventClass *cls = nullptr;
	std::vector<RecordTest> tests; // all must hold
	RecordSize size;
	RecordTime time;
	bool has_cpu = false;
	RecordPart cpu;
	std::vector<RecordConstant> constants;
	std::vector<RecordChecksum> checksums;

	// Whether `other` accepts all records that this form accepts. False: unknown.
	bool is_within(const RecordForm &other) const;
};

// The header of the file, or of each of its segments.
struct RecordHeader {
	bool has_value = false;
	FieldClass fields; // a structure
	RecordSize size;   // the file's header includes what follows it; a segment's, its records
	RecordSize content;
	std::vector<RecordConstant> constants;
	std::int32_t begin = -1, end = -1, lost = -1, number = -1, cpu = -1; // slots
	std::uint64_t begin_ticks = 1, end_ticks = 1;                        // per unit
	std::uint32_t lost_bits = 64, number_bits = 64;
};

struct RecordLayout {
	RecordHeader file, segment;
	std::vector<RecordForm> forms; // the first one that matches
	RecordSize size;               // of a record that no form matches
	// The field that the first test of every form reads; its value gives the first form that can match.
	RecordPart selector;
	std::vector<std::uint32_t> first_form; // empty: always form 0

	// Called when the forms are complete.
	void index();
	// nullptr: no form matches.
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

	// Called if no form matched: would one match if the tested fields were not cut off?
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
			if (test.part.is_in(view.end_bits) ? !test.test.accepts(test.part.read(view)) : !if_cut_off)
				return false;
		return true;
	}
};

} // namespace monitor::trace
