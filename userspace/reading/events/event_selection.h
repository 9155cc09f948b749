// SPDX-License-Identifier: MIT
// The events that some CPUs and threads select, for list and stat. Made by the subcommands (tools/monitor/selection.h).
// An event concerns the thread that ran where it was posted, and the threads that its fields name. One thread reads;
// const, so any number of threads may share it. Invariant: a number means the thread that had it at the time of the
// event, not an earlier or later one.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "event.h"
#include "field_ref.h"
#include "trace.h"

namespace monitor::trace {

// Selected thread numbers, each of which may have belonged to several threads in turn.
class SelectedThreads {
public:
	// Called for one number in the order of time: from `since` on its thread is selected or not; the first call
	// applies from the trace's start.
	void add(std::uint32_t machine, std::int64_t tid, std::uint64_t since, bool is_selected);
	bool includes(std::uint32_t machine, std::int64_t tid, std::uint64_t time) const;

private:
	struct Life {
		std::uint64_t since = 0;
		bool is_selected = false;
	};
	static std::uint64_t key(std::uint32_t machine, std::int64_t tid)
	{
		return static_cast<std::uint64_t>(machine) << 32 | static_cast<std::uint32_t>(tid);
	}

	std::unordered_map<std::uint64_t, std::vector<Life>> lives_;
};

class EventSelection {
public:
	EventSelection() = default; // selects all events
	// No CPUs: all of them.
	EventSelection(const Trace &trace, std::vector<std::uint32_t> cpus, std::optional<SelectedThreads> threads);

	bool is_all() const { return cpus_.empty() && !threads_; }
	bool needs_threads() const { return threads_.has_value(); }
	// `running`: the thread that was running there, or Threads::unknown.
	bool includes(const Event &event, std::int64_t running) const
	{
		return is_all() || ((cpus_.empty() || is_on_cpus(event)) && (!threads_ || concerns(event, running)));
	}
	// The same, but only the thread `whose` counts, if it is known.
	bool includes(const Event &event, std::int64_t running, std::optional<std::int64_t> whose) const
	{
		if (!whose || !threads_)
			return includes(event, running);
		return (cpus_.empty() || is_on_cpus(event)) &&
		       threads_->includes(event.stream->machine, *whose, event.time);
	}

private:
	bool is_on_cpus(const Event &event) const;
	bool concerns(const Event &event, std::int64_t running) const;

	std::vector<std::uint32_t> cpus_;
	std::optional<SelectedThreads> threads_;
	std::vector<std::vector<FieldRef>> fields_; // by class index: those that name a thread
};

} // namespace monitor::trace
