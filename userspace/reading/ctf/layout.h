// SPDX-License-Identifier: MIT
// The bit layout of a generic CTF trace: packet header, packet context, and for each event its header, contexts and
// payload.
//
// Made by the interpretation (interpret.cpp), used by the packets (reading/events/generic_packets.cpp) and the decoder
// (reading/events/decoder.h). Immutable once read: any number of threads may decode with it, each with separate slots.
// Invariant: every slot named here is below `slots`.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "clock.h"
#include "field_class.h"

namespace monitor::trace {

struct EventClass;
struct RecordLayout;

// A header with fixed offsets that depend only on its first integer, as in nearly all traces.
struct FlatHeader {
	struct Part {
		std::uint32_t at_bits = 0, size_bits = 0; // size 0: absent
	};
	struct Form {
		std::uint64_t first = 0, last = ~std::uint64_t(0); // of the selector
		Part id, time;
		std::uint32_t size_bits = 0;
	};

	Part selector;           // size 0: there is one form
	std::vector<Form> forms; // empty: the header is not flat
	static constexpr std::uint32_t max_bits = 128;
};

struct StreamClass {
	std::uint64_t id = 0;
	TextPosition position;  // in the description
	std::int8_t clock = -1; // in the description; -1: its events have no time
	// Empty structures if absent.
	FieldClass packet_context, event_header, event_context;
	FlatHeader flat;

	// Slots of fields that the reader needs; -1: not in the trace. A time's slot is followed by one for its size.
	struct {
		std::int32_t begin = -1, end = -1, content = -1, packet = -1, discarded = -1, sequence = -1, cpu = -1;
	} context;
	std::int32_t event_id = -1, event_time = -1;
	const EventClass *only = nullptr; // if events carry no id
	std::uint32_t discarded_bits = 64, sequence_bits = 64;

	const EventClass *find(std::uint64_t event) const
	{
		if (event < small_.size())
			return small_[event];
		const auto found = large_.find(event);
		return found == large_.end() ? nullptr : found->second;
	}
	// False: the id is in use.
	bool add(const EventClass &added);

private:
	static constexpr std::size_t small_limit = 4096;
	std::vector<const EventClass *> small_; // by id
	std::unordered_map<std::uint64_t, const EventClass *> large_;
};

struct Layout {
	FieldClass packet_header;
	std::int32_t magic = -1, stream = -1, instance = -1; // slots
	std::vector<std::uint32_t> uuid_path;                // path of the uuid in the packet header; empty: none
	std::vector<std::unique_ptr<StreamClass>> streams;
	std::int32_t slots = budget_slot + 1;
	std::shared_ptr<const RecordLayout> records; // of a trace in TDL, which has no event headers

	// The stream class with this id, or nullptr.
	const StreamClass *find(std::uint64_t id) const;
	StreamClass *find(std::uint64_t id);
};

// Makes `flat` from the event header, if possible.
FlatHeader flatten(const FieldClass &header, std::int32_t id_slot, std::int32_t time_slot);

} // namespace monitor::trace
