// SPDX-License-Identifier: MIT
#include "priorities.h"

#include <algorithm>
#include <iterator>

namespace monitor::explain {

Priorities::Priorities(const trace::Description &description, const analyze::ThreadFold &fold) : fold_(fold)
{
	fields_.resize(description.classes().size());
	for (const auto &cls : description.classes()) {
		using enum analyze::EventMeaning;
		const analyze::EventKind &kind = fold.kinds()[*cls];
		if (kind.kind != sched_waking && kind.kind != sched_wakeup_new && kind.kind != thread_state)
			continue;
		Fields &fields = fields_[cls->index];
		fields = {kind.field[0], trace::FieldRef(*cls, "prio")};
		if (kind.kind == thread_state)
			fields.pid = trace::FieldRef(*cls, "pid");
		are_recorded_ |= kind.kind == sched_waking && fields.priority;
	}
}

void Priorities::after(const trace::Event &event)
{
	if (event.cls->index >= fields_.size() || !fields_[event.cls->index].priority)
		return;
	const Fields &fields = fields_[event.cls->index];
	const analyze::Thread *thread = fold_.thread(fields.pid.get<std::int32_t>(event));
	if (!thread || thread->tid == 0)
		return;
	const auto priority = fields.priority.get<std::int32_t>(event);
	std::vector<Since> &all = by_thread_[thread];
	if (!all.empty() && all.back().priority == priority)
		return;
	all.push_back({event.time, priority});
	lowest_ = std::min(lowest_, priority);
	highest_ = std::max(highest_, priority);
}

std::optional<std::int32_t> Priorities::at(const analyze::Thread &thread, std::uint64_t time) const
{
	const auto found = by_thread_.find(&thread);
	if (found == by_thread_.end())
		return std::nullopt;
	const std::vector<Since> &all = found->second;
	const auto after = std::ranges::upper_bound(all, time, {}, &Since::time);
	return after == all.begin() ? all.front().priority : std::prev(after)->priority;
}

} // namespace monitor::explain
