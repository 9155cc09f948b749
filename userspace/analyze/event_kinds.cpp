// SPDX-License-Identifier: MIT
#include "event_kinds.h"

#include <algorithm>
#include <initializer_list>

namespace monitor::analyze {
namespace {

struct Row {
	const char *event;
	Kind kind;
	std::initializer_list<const char *> fields; // Machine reads them by this order
};

const Row rows[] = {
    {"sched_switch", Kind::sched_switch, {"prev_state", "prev_pid", "next_pid"}},
    {"sched_waking", Kind::sched_waking, {"pid"}},
    {"sched_migrate_task", Kind::sched_migrate_task, {"pid"}},
    {"sched_wakeup_new", Kind::sched_wakeup_new, {"pid", "tgid", "parent_pid", "comm"}},
    {"sched_process_exec", Kind::sched_process_exec, {"pid", "old_pid", "comm"}},
    {"sched_process_exit", Kind::sched_process_exit, {"pid"}},
    {"task_rename", Kind::task_rename, {"pid", "newcomm"}},
    {"thread_counts",
     Kind::thread_counts,
     {"when", "pid", "nvcsw", "nivcsw", "sum_exec_runtime", "min_flt", "maj_flt"}},
    {"thread_state", Kind::thread_state, {"state", "pid", "tgid", "ppid", "cpu", "syscall", "comm", "cgroup", "flags"}},
    {"cgroup_attach_task", Kind::cgroup_attach_task, {"pid", "dst_id", "threadgroup"}},
    {"thread", Kind::user_thread, {"pid", "tgid"}},
    {"counters", Kind::counters, {}},
    {"ratios", Kind::counters, {}},
    {"counters_reset", Kind::counters, {}},
    {"sys_enter", Kind::sys_enter, {"id"}},
    {"sys_exit", Kind::sys_exit, {"ret", "id"}},
    {"page_fault_user", Kind::page_fault_user, {}},
    {"page_fault_kernel", Kind::page_fault_kernel, {}},
    {"minor_fault", Kind::minor_fault, {}},
    {"major_fault", Kind::major_fault, {}},
};

const char *const interrupt_names[] = {"irq_handler",          "softirq", "local_timer", "reschedule", "call_function",
				       "call_function_single", "irq_work"};

} // namespace

EventKinds::EventKinds(const trace::Description &description)
    : kinds_(1), index_(trace::Description::max_classes),
      interrupts_(std::begin(interrupt_names), std::end(interrupt_names))
{
	for (const auto &cls : description.classes()) {
		if (cls->id >= EDC_ID_USER_FIRST)
			continue; // programs may call their events what they like
		EventKind kind;
		const std::string &name = cls->name;
		const auto row = std::ranges::find_if(rows, [&](const Row &r) { return name == r.event; });
		if (row != std::end(rows)) {
			kind.kind = row->kind;
			std::size_t i = 0;
			for (const char *field : row->fields)
				kind.field[i++] = trace::FieldRef(*cls, field);
		} else if (name.ends_with("_entry") || name.ends_with("_exit")) {
			const bool entry = name.ends_with("_entry");
			const auto found =
			    std::ranges::find(interrupts_, name.substr(0, name.size() - (entry ? 6 : 5)));
			if (found == interrupts_.end())
				continue;
			kind.kind = entry ? Kind::interrupt_entry : Kind::interrupt_exit;
			kind.interrupt = static_cast<std::uint8_t>(found - interrupts_.begin());
			if (entry && *found == "local_timer" && cls->find("user")) {
				kind.kind = Kind::timer_entry;
				kind.field[1] = trace::FieldRef(*cls, "user");
			}
			for (const char *field : {"irq", "vec"})
				if (cls->find(field))
					kind.field[0] = trace::FieldRef(*cls, field);
			if (const trace::Field *vec = cls->find("vec"))
				softirqs_ = vec->labels;
		} else {
			continue;
		}
		if (const trace::Field *id = cls->find("id"); id && kind.kind == Kind::sys_enter && id->labels)
			syscalls_ = id->labels;
		index_[cls->id] = static_cast<std::uint16_t>(kinds_.size());
		kinds_.push_back(kind);
	}
}

std::string EventKinds::softirq_label(std::uint32_t number) const
{
	const std::string *label = softirqs_ ? softirqs_->find(number) : nullptr;
	return label ? *label : std::to_string(number);
}

std::string EventKinds::syscall_label(std::uint32_t number) const
{
	const std::string *label = syscalls_ ? syscalls_->find(number) : nullptr;
	return label ? *label : "syscall_" + std::to_string(number);
}

} // namespace monitor::analyze
