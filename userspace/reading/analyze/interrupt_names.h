// SPDX-License-Identifier: MIT
// Numbered interrupts by the names of their handlers, as in the last column of /proc/interrupts: a timer's or a
// device's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace monitor::analyze {

enum class InterruptSource : std::uint8_t { unknown, timer, device };

class InterruptNames {
public:
	// `names`: by number; handlers that share an interrupt are separated by ", ".
	explicit InterruptNames(std::map<std::string, std::string> names);

	// For source(), unless the number has a name.
	void learn(std::uint32_t number, std::string_view handlers);
	// nullptr: it has no name, or only one that was learned.
	const std::string *find(std::uint32_t number) const;
	// Unknown: a timer and a device share it.
	InterruptSource source(std::uint32_t number, InterruptSource without_name) const;
	// Whether one is certainly of the timer that each CPU has.
	bool has_cpu_timers() const { return has_cpu_timers_; }

private:
	std::map<std::string, std::string> names_;
	std::map<std::uint32_t, InterruptSource> sources_;
	bool has_cpu_timers_ = false;
};

} // namespace monitor::analyze
