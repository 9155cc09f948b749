// SPDX-License-Identifier: MIT
// Expression x event class -> Program. Compiled once for every class of a description.
//
// What depends only on the class is evaluated here: its name, which fields it has and of which type, which values have
// the requested labels. A comparison with a field that the class lacks, or that has another type, is false.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "expression.h"
#include "known.h"
#include "program.h"
#include "reading/ctf/description.h"

namespace monitor::filter {

// Shared by all classes of a description.
struct Common {
	const trace::Clock *clock = nullptr;
	std::uint64_t begin_time = 0;                     // `time` counts from here
	const KnownNames *known = nullptr;                // additional names; never null
	const trace::Description *derives_from = nullptr; // see resolve()
	// Values by label, per condition and enumeration: many classes may share an enumeration.
	std::map<std::pair<const Expression *, const trace::Enumeration *>, Ranges> labelled;
};

// The expression, the class and the clock must outlive the program.
Program compile(const Expression &condition, const trace::EventClass &cls, Common &common);

} // namespace monitor::filter
