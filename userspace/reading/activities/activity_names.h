// SPDX-License-Identifier: MIT
// What the description of a trace says of the activities that programs mark: the names of activities and functions, and
// which event classes mark them. Activities are numbered in the order in which they became known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "finished.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::activities {

// What an event class means.
struct Role {
	std::uint32_t activity = no_activity;
	bool begins = false;
	bool is_function = false; // `activity` is unset: the event itself says which function, and the stack pointer
	trace::FieldRef argument, stack_pointer;
	trace::FieldKind kind = trace::FieldKind::unsigned_integer;
	std::uint8_t base = 10;
};

class ActivityNames {
public:
	// `counters` may be null.
	ActivityNames(const analyze::FoldInput &input, const analyze::CounterFold *counters);

	// Adds the classes that are new in the description.
	void add(const trace::Description &description);

	const std::vector<std::string> &all() const { return names_; } // by number
	std::string label(std::uint32_t number) const;
	// Its number in statistics: EDC_ACTIVITY_*, or EDC_NO_ACTIVITY.
	std::uint32_t id_of(std::uint32_t number) const;
	std::uint32_t number_with(std::uint32_t id) const;

	const Role &role_of(const trace::EventClass &cls) const { return roles_[cls.index]; }
	// Whether threads report their counters with events of this class, in boundary_fields().
	bool is_boundary(const trace::EventClass &cls) const { return cls.id == boundary_id_; }
	const std::vector<trace::FieldRef> &boundary_fields() const { return boundary_fields_; }

	bool has_functions() const { return !functions_.empty(); }
	std::uint32_t function(std::uint32_t number) const; // no_activity: the description does not have it
	// Whether the function is no longer recorded.
	bool is_left_out(std::uint32_t activity, std::uint64_t time) const;

private:
	void find_names(const trace::Description &description);
	std::uint32_t number_of(const std::string &name, std::uint32_t id);
	void find_functions(const trace::Description &description);
	void name_functions(const trace::Enumeration &labels);
	void find_boundaries(const trace::Description &description, const analyze::CountersInfo &info);

	std::set<std::string> partial_; // classes of which events were left out
	std::vector<std::string> names_;
	std::vector<std::uint32_t> ids_;               // by number, as names_
	std::map<std::string, std::uint32_t> numbers_; // of the activities that are not functions
	std::unordered_map<std::uint32_t, std::uint32_t> numbers_by_id_;
	std::vector<Role> roles_;                 // by class index
	std::uint32_t boundary_id_ = no_activity; // no class has it
	std::vector<trace::FieldRef> boundary_fields_;
	std::unordered_map<std::uint32_t, std::uint32_t> functions_; // by number: its name
	std::unordered_map<std::uint32_t, std::uint64_t> left_out_;  // by name: since when it is not recorded
};

} // namespace monitor::activities
