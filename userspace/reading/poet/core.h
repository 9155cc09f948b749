// SPDX-License-Identifier: MIT
// What the handles of the public headers (include/poet) hold: one opened trace, and what is looked up in it.
//
// Made by poet::Trace; shared by its cursors, visits, filters and fields, in any number of threads. All of it is const
// once made, except the problems found and the field handles, which a mutex guards, and the index of events, which is
// made once. Invariant: no public header names anything of events/ or filter/, and no monitor::Error leaves the
// library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "index.h"
#include "poet/error.hpp"
#include "poet/event.hpp"
#include "reading/events/field_ref.h"
#include "reading/events/gap.h"
#include "reading/events/trace.h"

namespace poet::detail {

struct Ref {
	monitor::trace::FieldRef ref;
	const monitor::trace::Field *field = nullptr;
	const Core *core = nullptr;
};

struct FieldTable {
	std::string name;
	std::vector<Place> places; // by class
	std::shared_ptr<const Core> core;
};

class Core : public Tables, public std::enable_shared_from_this<Core> {
public:
	explicit Core(monitor::trace::Trace &&opened);

	const monitor::trace::Trace &trace() const { return trace_; }
	const std::vector<EventClass> &class_list() const { return classes_; }
	const std::vector<Stream> &stream_list() const { return streams_; }
	const Clock &clock() const { return clock_; }
	const monitor::trace::EventClass &internal(std::uint32_t cls) const { return *trace_classes_[cls]; }

	// nullptr: no class has a field of this name.
	std::shared_ptr<const FieldTable> field(std::string_view name) const;
	// A field of a class by number, or by name (nullptr if there is none).
	const Ref *ref(std::uint32_t cls, std::size_t number) const { return &refs_[cls][number]; }
	const Ref *ref(std::uint32_t cls, std::string_view name) const;

	// Number of saved values that an event of this stream refers to; 0 for tokens.
	std::size_t slots(std::uint32_t stream) const { return slots_[stream]; }
	std::size_t max_slots() const { return max_slots_; }

	// The index of all events; the first call makes it by reading the trace.
	const Index &index() const;

	void add_problems(const monitor::trace::Problems &found) const;
	template <class Use> auto use_problems(Use &&use) const
	{
		const std::lock_guard guard(mutex_);
		return use(static_cast<const monitor::trace::Problems &>(problems_));
	}

private:
	void list_classes();
	void list_streams();

	monitor::trace::Trace trace_;
	std::vector<const monitor::trace::EventClass *> trace_classes_;
	std::vector<EventClass> classes_;
	std::vector<Stream> streams_;
	std::vector<std::vector<Ref>> refs_; // by class, then by field
	std::vector<std::size_t> slots_;     // by stream
	std::size_t max_slots_ = 0;
	Clock clock_;

	mutable std::mutex mutex_;
	mutable monitor::trace::Problems problems_;
	mutable std::map<std::string, std::weak_ptr<const FieldTable>, std::less<>> fields_;
	mutable std::once_flag index_made_;
	mutable Index index_;
};

// Converts events between the public and the internal form.
struct Access {
	// `place`: the packet, or the GenericCtf of an event that is not a token.
	static void fill(Event &event, const monitor::trace::Event &from, const Tables &tables, const void *place)
	{
		event.time_ = from.time;
		event.data_ = from.data;
		event.place_ = place;
		event.tables_ = &tables;
		event.class_ = from.cls->index;
		event.stream_ = from.stream->index;
	}
	static GenericCtf generic_ctf(const monitor::trace::Event &from, std::uint64_t *slots)
	{
		return {from.packet, from.at_bits, from.end_bits, slots, from.packet_cpu};
	}
	static const Core &core(const Event &event) { return static_cast<const Core &>(*event.tables_); }
	static monitor::trace::Event internal(const Event &event);
	static Field field(std::shared_ptr<const FieldTable> table) { return Field(std::move(table)); }
	// Whether both are the same event, given that they are of one stream.
	static bool is_same(const Event &a, const Event &b)
	{
		return a.data_ == b.data_ && a.time_ == b.time_ &&
		       (!a.stream().is_generic_ctf || static_cast<const GenericCtf *>(a.place_)->at_bits ==
							  static_cast<const GenericCtf *>(b.place_)->at_bits);
	}
};

inline Gap gap_of(const monitor::trace::Gap &gap, const Stream &stream)
{
	const bool is_counted = gap.lost != monitor::trace::unknown_count;
	return {&stream, gap.from_time, gap.to_time, is_counted ? std::optional(gap.lost) : std::nullopt};
}

// Turns a monitor::Error into a poet::Error.
template <class Call> auto guarded(Call &&call)
{
	try {
		return call();
	} catch (const monitor::Error &error) {
		throw Error(error.what());
	}
}

} // namespace poet::detail
