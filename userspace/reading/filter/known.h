// SPDX-License-Identifier: MIT
// Names that the caller defines, which a condition may use besides the event's, such as the state of a CPU.
// The names are given when the filter is made, the values (Knowledge) whenever an event is matched. They take
// precedence over a property or a field of the same name; event.NAME is always the field. Invariant: a condition that
// needed an unknown value makes take_asked_unknown() true, so that its result is not relied upon.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "number.h"
#include "reading/ctf/enumeration.h"

namespace monitor::filter {

struct KnownName {
	std::string name;
	bool is_text = false; // else a number from 0 to `max`
	Integer max = std::numeric_limits<std::uint32_t>::max();
	std::shared_ptr<const trace::Enumeration> labels = nullptr; // of numbers
	std::string lacking;                                        // why this trace never has it; "": it may have it
};
using KnownNames = std::vector<KnownName>;

// Values by the index of their names.
class Knowledge {
public:
	enum class Answer : std::uint8_t { known, absent, unknown };

	virtual ~Knowledge() = default;

	bool number(std::uint32_t index, std::uint64_t &value) { return note_unknown(find_number(index, value)); }
	bool text(std::uint32_t index, std::string_view &value) { return note_unknown(find_text(index, value)); }
	// Whether an unknown value was needed since the last call.
	bool take_asked_unknown() { return std::exchange(needed_unknown_, false); }

protected:
	virtual Answer find_number(std::uint32_t index, std::uint64_t &value) = 0;
	virtual Answer find_text(std::uint32_t index, std::string_view &value) = 0;

private:
	bool note_unknown(Answer answer)
	{
		needed_unknown_ = needed_unknown_ || answer == Answer::unknown;
		return answer == Answer::known;
	}

	bool needed_unknown_ = false;
};

} // namespace monitor::filter
