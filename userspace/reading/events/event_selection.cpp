// SPDX-License-Identifier: MIT
#include "event_selection.h"

#include <algorithm>
#include <utility>

#include "threads.h"

namespace monitor::trace {

void SelectedThreads::add(std::uint32_t machine, std::int64_t tid, std::uint64_t since, bool is_selected)
{
	lives_[key(machine, tid)].push_back({since, is_selected});
}

bool SelectedThreads::includes(std::uint32_t machine, std::int64_t tid, std::uint64_t time) const
{
	const auto found = lives_.find(key(machine, tid));
	if (found == lives_.end())
		return false;
	const std::vector<Life> &lives = found->second;
	const auto began_until = [time](const Life &life) { return life.since <= time; };
	const auto last = std::find_if(lives.rbegin(), lives.rend(), began_until);
	return last == lives.rend() ? lives.front().is_selected : last->is_selected;
}

EventSelection::EventSelection(const Trace &trace, std::vector<std::uint32_t> cpus,
			       std::optional<SelectedThreads> threads)
    : cpus_(std::move(cpus)), threads_(std::move(threads)), fields_(trace.description().classes().size())
{
	for (const auto &cls : trace.description().classes())
		for (const Field &field : cls->fields)
			if (names_a_thread(field.name) && field.name != "vpid" && field.is_integer())
				fields_[cls->index].emplace_back(*cls, field);
}

bool EventSelection::is_on_cpus(const Event &event) const
{
	return event.has_cpu() && std::ranges::find(cpus_, event.cpu()) != cpus_.end();
}

bool EventSelection::concerns(const Event &event, std::int64_t running) const
{
	const auto is_selected = [&](std::int64_t tid) {
		return threads_->includes(event.stream->machine, tid, event.time);
	};
	return (running != Threads::unknown && is_selected(running)) ||
	       std::ranges::any_of(fields_[event.cls->index], [&](const FieldRef &field) {
		       return field.is_in(event) && is_selected(field.get<std::int64_t>(event));
	       });
}

} // namespace monitor::trace
