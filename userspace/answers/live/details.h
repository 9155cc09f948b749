// SPDX-License-Identifier: MIT
// What some threads did in a window: system calls and activities of programs that ended in it, and what ended their
// sleeps. Filled from LiveFold's fold and tracker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "answers/report/table.h"
#include "reading/activities/totals.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::live {

class Details final : public analyze::Observer, public activities::Observer {
public:
	// `tracker`: null if no activities of programs are recorded. Adds itself to it.
	Details(const analyze::ThreadFold &fold, activities::Tracker *tracker);

	// From here on: of this process, or only of this thread of it; 0: of none.
	void follow(std::int32_t process, std::int32_t thread);
	std::int32_t process() const { return process_; }
	std::int32_t thread() const { return thread_; }
	// By descending total time.
	report::Table calls(const trace::Clock &clock) const;
	// By call and by waker.
	report::Table sleeps(const trace::Clock &clock) const;
	// nullopt: no activities of programs are recorded.
	std::optional<report::Table> activities(const trace::Clock &clock) const;
	void clear();

private:
	// Further rows are summed up in one.
	static constexpr std::size_t max_rows = 4096;

	struct Total {
		std::uint64_t count = 0, failed = 0;
		std::uint64_t timed = 0, ticks = 0, longest = 0; // timed: number with a known start
	};
	using Totals = std::map<std::pair<std::string, std::string>, Total>;

	static Total &total_of(Totals &totals, std::pair<std::string, std::string> key);
	static void add_time(Total &total, std::uint64_t ticks);
	bool is_followed(const analyze::Thread &thread) const;
	std::string call_name(std::uint32_t call) const;
	std::string waker_name(const analyze::Waker &waker) const;

	void system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			 std::int64_t result) override;
	void refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t end,
			  std::int64_t result) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;

	void finished(const activities::Finished &activity) override;

	const analyze::ThreadFold &fold_;
	const activities::Tracker *tracker_;
	std::optional<activities::Totals> totals_; // of activities
	std::int32_t process_ = 0, thread_ = 0;
	Totals calls_, sleeps_;
};

} // namespace monitor::live
