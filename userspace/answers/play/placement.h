// SPDX-License-Identifier: MIT
// Which CPU's run queue a runnable thread is in: that of the last token about the thread that names a CPU. Fed by
// player.cpp with each event, as the fold (reading/analyze/thread_fold.h) only tracks running threads.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "reading/analyze/tid_table.h"
#include "reading/events/field_ref.h"

namespace monitor::play {

class Placement {
public:
	explicit Placement(const trace::Description &description);

	void event(const trace::Event &event);
	// See ThreadFold::exchange_numbers().
	void exchange(std::int32_t one, std::int32_t other) { std::swap(cpus_[one], cpus_[other]); }

	// nullopt: no token has named one.
	std::optional<std::uint32_t> cpu_of(std::int32_t tid) const;
	std::size_t bytes() const { return cpus_.bytes(); }
	// Whether the event names this thread.
	bool is_about(const trace::Event &event, std::int32_t tid) const;

private:
	struct Fields {
		bool is_switch = false;
		trace::FieldRef tid, other, cpu; // other: the second thread of a switch
	};
	static constexpr std::uint32_t cpu_limit = 0xffff;

	std::vector<Fields> fields_;            // by class index
	analyze::TidTable<std::uint16_t> cpus_; // CPU + 1; 0: none
};

} // namespace monitor::play
