// SPDX-License-Identifier: MIT
#include "placement.h"

#include <string_view>

namespace monitor::play {

Placement::Placement(const trace::Description &description) : fields_(description.classes().size())
{
	struct PlacingEvent {
		const char *event, *tid, *other, *cpu;
	};
	constexpr PlacingEvent rows[] = {{"sched_switch", "prev_pid", "next_pid", ""},
					 {"sched_switch", "prev_tid", "next_tid", ""}, // as LTTng calls them
					 {"sched_waking", "pid", "", "target_cpu"},
					 {"sched_waking", "tid", "", "target_cpu"},
					 {"sched_wakeup_new", "pid", "", "target_cpu"},
					 {"sched_migrate_task", "pid", "", "dest_cpu"},
					 {"sched_migrate_task", "tid", "", "dest_cpu"},
					 {"thread_state", "pid", "", "cpu"}};
	for (const auto &cls : description.classes())
		for (const PlacingEvent &row : rows)
			if (cls->domain != trace::Domain::user && cls->name == row.event && cls->find(row.tid))
				fields_[cls->index] = {std::string_view(row.event) == "sched_switch",
						       {*cls, row.tid},
						       {*cls, row.other},
						       {*cls, row.cpu}};
}

void Placement::event(const trace::Event &event)
{
	const Fields &fields = fields_[event.cls->index];
	if (!fields.tid)
		return;
	const std::uint32_t cpu = fields.cpu ? fields.cpu.get<std::uint32_t>(event) : event.cpu();
	if (cpu >= cpu_limit)
		return;
	cpus_[fields.tid.get<std::int32_t>(event)] = static_cast<std::uint16_t>(cpu + 1);
	if (fields.is_switch)
		cpus_[fields.other.get<std::int32_t>(event)] = static_cast<std::uint16_t>(cpu + 1);
}

std::optional<std::uint32_t> Placement::cpu_of(std::int32_t tid) const
{
	const std::uint32_t cpu = cpus_.find(tid);
	return cpu ? std::optional(cpu - 1) : std::nullopt;
}

bool Placement::is_about(const trace::Event &event, std::int32_t tid) const
{
	const Fields &fields = fields_[event.cls->index];
	return (fields.tid && fields.tid.get<std::int32_t>(event) == tid) ||
	       (fields.is_switch && fields.other.get<std::int32_t>(event) == tid);
}

} // namespace monitor::play
