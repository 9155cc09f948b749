// SPDX-License-Identifier: MIT
#include "event_kinds.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/escape.h"
#include "monitor/syscall_arg.h"
#include "thread.h"

namespace monitor::analyze {
namespace {

struct MeaningRow {
	const char *event;
	EventMeaning kind;
	// ThreadFold reads the fields in this order; the names that other tracers use follow after |.
	std::initializer_list<const char *> fields;
};

const MeaningRow rows[] = {
    {"sched_switch",
     EventMeaning::sched_switch,
     {"prev_state", "prev_pid|prev_tid", "next_pid|next_tid", "|next_comm", "|prev_comm", "|perf_pid|pid",
      "|prev_flags"}},
    {"sched_waking", EventMeaning::sched_waking, {"pid|tid", "|target_cpu"}},
    {"sched_migrate_task", EventMeaning::sched_migrate_task, {"pid|tid", "|dest_cpu", "|orig_cpu"}},
    {"sched_wakeup_new", EventMeaning::sched_wakeup_new, {"pid", "tgid", "parent_pid", "comm", "|target_cpu"}},
    {"sched_wakeup_new", EventMeaning::new_thread_woken, {"pid|tid", "|target_cpu"}},
    // LTTng's child_pid is the process, the kernel's the thread: LTTng's new thread counts as its own process.
    {"sched_process_fork",
     EventMeaning::sched_process_fork,
     {"child_tid|child_pid", "child_pid", "parent_tid|parent_pid", "child_comm"}},
    {"sched_process_exec", EventMeaning::sched_process_exec, {"pid|tid", "old_pid|old_tid", "comm|filename"}},
    {"sched_process_exit", EventMeaning::sched_process_exit, {"pid|tid", "|tgid", "|comm"}},
    {"task_rename", EventMeaning::task_rename, {"pid|tid", "newcomm"}},
    {"perf_comm", EventMeaning::task_rename, {"tid", "comm", "pid"}},
    {"lttng_statedump_process_state", EventMeaning::process_state, {"tid", "pid", "ppid", "name", "type"}},
    {"thread_counts",
     EventMeaning::thread_counts,
     {"when", "pid", "nvcsw", "nivcsw", "sum_exec_runtime", "min_flt", "maj_flt", "nr_migrations"}},
    {"thread_state",
     EventMeaning::thread_state,
     {"state", "pid", "tgid", "ppid", "cpu", "syscall", "comm", "cgroup", "flags"}},
    {"thread_runs", EventMeaning::thread_runs, {"pid", "tgid"}},
    {"cgroup_attach_task", EventMeaning::cgroup_attach_task, {"pid", "dst_id", "threadgroup", "|dst_root"}},
    {"thread", EventMeaning::user_thread, {"pid", "tgid"}},
    {"counters", EventMeaning::counters, {}},
    {"ratios", EventMeaning::counters, {}},
    {"counters_reset", EventMeaning::counters, {}},
    {"sample", EventMeaning::sample, {"doing", "pid", "number"}},
    {"stack_sample", EventMeaning::stack_sample, {"at", "pid", "address", "kernel_stack", "user_stack"}},
    {"stack_frames",
     EventMeaning::stack_frames,
     {"first", "count", "stack", "frame0", "frame1", "frame2", "frame3", "frame4", "frame5"}},
    {"stack_end", EventMeaning::stack_end, {"frames", "ended", "stack"}},
    {"mapping", EventMeaning::mapping, {"change", "tgid", "file", "time", "start", "end", "offset", "parent"}},
    {"function_entry", EventMeaning::function_entry, {"function", "stack_pointer"}},
    {"function_exit", EventMeaning::function_exit, {"function", "stack_pointer"}},
    {"sync", EventMeaning::sync, {"monotonic"}},
    {"cpu_offline", EventMeaning::cpu_offline, {"cpu"}},
    {"statistics_period", EventMeaning::statistics_period, {"flags", "end", "lost", "late", "recorder_ns"}},
    {"statistics_events", EventMeaning::statistics_events, {"event_id", "number"}},
    {"statistics_cpu",
     EventMeaning::statistics_cpu,
     {"cpu", "user", "kernel", "irq", "softirq", "unattributed", "unknown", "thread_unknown"}},
    {"statistics_thread",
     EventMeaning::statistics_thread,
     {"flags", "pid", "tgid", "comm", "started", "cgroup", "waiting", "blocked"}},
    {"statistics_usage",
     EventMeaning::statistics_usage,
     {"user", "kernel", "irq", "softirq", "unattributed", "unknown"}},
    {"statistics_counts",
     EventMeaning::statistics_counts,
     {"voluntary", "involuntary", "migrations", "syscalls", "minor_faults", "major_faults"}},
    {"statistics_throttled", EventMeaning::statistics_throttled, {"throttled"}},
    {"statistics_calls",
     EventMeaning::statistics_calls,
     {"id", "thread_row", "number", "failed", "total", "longest", "abi"}},
    {"statistics_sleeps",
     EventMeaning::statistics_sleeps,
     {"id", "thread_row", "waker_row", "waker_irq", "number", "total", "longest", "abi"}},
    {"statistics_buckets", EventMeaning::statistics_buckets, {"first", "number0", "number1", "number2", "number3"}},
    {"statistics_activities",
     EventMeaning::statistics_activities,
     {"activity", "thread_row", "caller", "number", "left", "total", "exclusive", "longest"}},
    {"statistics_inclusive", EventMeaning::statistics_inclusive, {"inclusive", "cpu", "waiting", "blocked"}},
    {"statistics_open", EventMeaning::statistics_open, {"number", "begins", "ends"}},
    {"statistics_transfers", EventMeaning::statistics_transfers, {"number", "total", "longest"}},
    {"sys_enter", EventMeaning::sys_enter, {"id", "|abi"}},
    {"sys_exit", EventMeaning::sys_exit, {"ret", "id", "|abi"}},
    {"softirq_raise", EventMeaning::softirq_raise, {"vec"}},
    {"block_io_start", EventMeaning::block_io_start, {"dev", "sector", "|nr_bytes"}},
    {"block_rq_issue", EventMeaning::block_rq_issue, {"dev", "sector"}},
    {"block_rq_complete", EventMeaning::block_rq_complete, {"dev", "sector"}},
    {"page_fault_user", EventMeaning::page_fault_user, {}},
    {"page_fault_kernel", EventMeaning::page_fault_kernel, {}},
    {"minor_fault", EventMeaning::minor_fault, {"|user"}},
    {"major_fault", EventMeaning::major_fault, {"|user"}},
};

constexpr std::string_view interrupt_names[] = {
    "irq_handler", "softirq", "local_timer", "reschedule", "call_function", "call_function_single", "irq_work"};

// perf puts the group before the name: sched:sched_switch. LTTng has its own: x86_irq_vectors_local_timer_entry.
std::string_view plain_name(const trace::EventClass &cls)
{
	std::string_view name = cls.name;
	if (cls.size_bytes != 0)
		return name;
	name.remove_prefix(name.find(':') + 1); // without a colon, npos + 1 is 0
	constexpr std::string_view vectors = "x86_irq_vectors_", softirqs = "irq_";
	if (name.starts_with(vectors))
		name.remove_prefix(vectors.size());
	else if (name.starts_with("irq_softirq_"))
		name.remove_prefix(softirqs.size());
	return name;
}

// LTTng, perf: a class of events for each system call.
struct CallPrefix {
	std::string_view text;
	EventMeaning kind;
	std::uint32_t abi;
};
constexpr CallPrefix call_prefixes[] = {{"syscall_entry_", EventMeaning::sys_enter, EDC_ABI_NATIVE},
					{"syscall_exit_", EventMeaning::sys_exit, EDC_ABI_NATIVE},
					{"compat_syscall_entry_", EventMeaning::sys_enter, EDC_ABI_COMPAT},
					{"compat_syscall_exit_", EventMeaning::sys_exit, EDC_ABI_COMPAT},
					{"sys_enter_", EventMeaning::sys_enter, EDC_ABI_NATIVE},
					{"sys_exit_", EventMeaning::sys_exit, EDC_ABI_NATIVE}};
constexpr std::size_t max_named_calls = 2048; // numbers from here on stand for calls that have only a name

// Uses the first of the names that the class has.
trace::FieldRef find_field(const trace::EventClass &cls, std::string_view names)
{
	for (std::size_t bar; !names.empty(); names.remove_prefix(std::min(bar, names.size() - 1) + 1)) {
		bar = names.find('|');
		if (trace::FieldRef field(cls, names.substr(0, bar)); field && bar != 0)
			return field;
	}
	return {};
}

// Another tracer's event is taken for ours only if it has all the fields that ours has.
bool find_fields(const MeaningRow &row, const trace::EventClass &cls, EventKind &kind)
{
	std::size_t i = 0;
	kind = {row.kind};
	for (const char *names : row.fields) {
		const bool is_optional = *names == '|';
		kind.field[i] = find_field(cls, names);
		if (!kind.field[i++] && cls.size_bytes == 0 && !is_optional)
			return false;
	}
	return true;
}

} // namespace

EventKinds::EventKinds(const trace::Description &description, const std::set<std::string> &partial,
		       std::map<std::string, std::string> names, std::map<std::string, std::string> disk_names,
		       bool local_timer_attached)
    : kinds_(1), index_(description.classes().size()),
      interrupt_kind_names_(std::begin(interrupt_names), std::end(interrupt_names)), interrupt_names_(std::move(names)),
      disk_names_(std::move(disk_names))
{
	static_assert(std::size(interrupt_names) == interrupt_kinds && interrupt_names[softirq] == "softirq");
	for (const auto &cls : description.classes()) {
		if (cls->domain == trace::Domain::user || partial.contains(cls->name))
			continue; // programs may name their events like the kernel's
		EventKind kind;
		const std::string_view name = plain_name(*cls);
		const bool is_listed = std::ranges::any_of(
		    rows, [&](const MeaningRow &row) { return name == row.event && find_fields(row, *cls, kind); });
		if (!is_listed && !fill_call(name, *cls, kind) && !fill_interrupt(name, *cls, kind))
			continue;
		if (const trace::Field *id = cls->find("id"); id && kind.kind == EventMeaning::sys_enter && id->labels)
			syscalls_ = id->labels;
		index_[cls->index] = static_cast<std::uint16_t>(kinds_.size());
		kinds_.push_back(kind);
	}
	leave_out_unpaired(description);
	has_local_timer_ = local_timer_attached && std::ranges::any_of(kinds_, [&](const EventKind &each) {
				   const bool is_entry = each.kind == EventMeaning::interrupt_entry ||
							 each.kind == EventMeaning::timer_entry;
				   return is_entry && interrupt_name(each.interrupt) == "local_timer";
			   });
}

bool EventKinds::fill_interrupt(std::string_view name, const trace::EventClass &cls, EventKind &kind)
{
	const bool entry = name.ends_with("_entry");
	if (!entry && !name.ends_with("_exit"))
		return false;
	const auto found = std::ranges::find(interrupt_kind_names_, name.substr(0, name.size() - (entry ? 6 : 5)));
	if (found == interrupt_kind_names_.end())
		return false;
	kind = {entry ? EventMeaning::interrupt_entry : EventMeaning::interrupt_exit};
	kind.interrupt = static_cast<std::uint8_t>(found - interrupt_kind_names_.begin());
	if (entry && *found == "local_timer" && cls.find("user")) {
		kind.kind = EventMeaning::timer_entry;
		kind.field[1] = trace::FieldRef(cls, "user");
	}
	if (entry && *found == "irq_handler")
		kind.field[1] = trace::FieldRef(cls, "name"); // other tracers'
	for (const char *field : {"irq", "vec"})
		if (cls.find(field))
			kind.field[0] = trace::FieldRef(cls, field);
	if (const trace::Field *vec = cls.find("vec"))
		softirqs_ = vec->labels || !cls.find("name") ? vec->labels : cls.find("name")->labels;
	return true;
}

bool EventKinds::fill_call(std::string_view name, const trace::EventClass &cls, EventKind &kind)
{
	const auto prefix = std::ranges::find_if(
	    call_prefixes, [&](const CallPrefix &each) { return cls.size_bytes == 0 && name.starts_with(each.text); });
	if (prefix == std::end(call_prefixes))
		return false;
	const std::string call(name.substr(prefix->text.size()));
	const std::uint32_t abi = prefix->abi << EDC_ABI_SHIFT;
	const bool is_exit = prefix->kind == EventMeaning::sys_exit;
	kind = {prefix->kind};
	kind.call = abi | EDC_NO_SYSCALL;
	if (is_exit && !cls.find("ret"))
		return false;
	if (is_exit)
		kind.field[0] = trace::FieldRef(cls, "ret");
	if (call == "unknown") { // LTTng has no name for it
		kind.field[is_exit ? 1 : 0] = trace::FieldRef(cls, "id");
		return cls.find("id") != nullptr;
	}
	const auto known = std::ranges::find_if(named_calls_, [&](const auto &each) {
		return each.second == call && is_compat(each.first) == (prefix->abi == EDC_ABI_COMPAT);
	});
	if (known == named_calls_.end() && named_calls_.size() == max_named_calls)
		return false;
	kind.call = known != named_calls_.end()
			? known->first
			: abi | static_cast<std::uint32_t>(EDC_NO_SYSCALL - 1 - named_calls_.size());
	named_calls_.try_emplace(kind.call, call);
	return true;
}

// Another tracer may have recorded only starts, or only ends, which form no intervals; or each call twice, by number
// and by name.
void EventKinds::leave_out_unpaired(const trace::Description &description)
{
	const auto other_end = [](EventMeaning kind) {
		switch (kind) {
		case EventMeaning::sys_enter:
			return EventMeaning::sys_exit;
		case EventMeaning::sys_exit:
			return EventMeaning::sys_enter;
		case EventMeaning::interrupt_entry:
			return EventMeaning::interrupt_exit;
		case EventMeaning::interrupt_exit:
			return EventMeaning::interrupt_entry;
		default:
			return EventMeaning::other;
		}
	};
	const auto has_class = [&](std::string_view name, EventMeaning kind) {
		return std::ranges::any_of(description.classes(), [&](const auto &cls) {
			return plain_name(*cls) == name && (*this)[*cls].kind == kind;
		});
	};
	if (has_class("sys_enter", EventMeaning::sys_enter) && has_class("sys_exit", EventMeaning::sys_exit)) {
		named_calls_.clear();
		for (EventKind &kind : kinds_)
			if (is_of_one_call(kind))
				kind = {};
	}
	const std::vector<EventKind> all = kinds_;
	for (const auto &cls : description.classes()) {
		EventKind &kind = kinds_[index_[cls->index]];
		const auto ends_it = [&](const EventKind &end) {
			return end.kind == other_end(kind.kind) && end.interrupt == kind.interrupt &&
			       end.call == kind.call;
		};
		if (cls->size_bytes == 0 && other_end(kind.kind) != EventMeaning::other &&
		    std::ranges::none_of(all, ends_it))
			kind = {};
	}
}

std::uint32_t call_of(const trace::FieldRef &number_field, const trace::FieldRef &abi_field, const trace::Event &event)
{
	auto number = number_field.get<std::int64_t>(event);
	auto abi = abi_field.get<std::uint32_t>(event);
	if (number >= EDC_X32_BIT) {
		number -= EDC_X32_BIT;
		abi = EDC_ABI_X32;
	}
	const bool exists = number >= 0 && number < EDC_NO_SYSCALL;
	return exists ? static_cast<std::uint32_t>(number) | abi << EDC_ABI_SHIFT : EDC_NO_SUCH_CALL;
}

std::optional<std::uint32_t> call_of(const EventKind &kind, const trace::Event &event)
{
	if (is_of_one_call(kind))
		return kind.call;
	const std::size_t number = kind.kind == EventMeaning::sys_exit ? 1 : 0;
	if (number == 1 && !kind.field[number].is_in(event))
		return {};
	const std::uint32_t abi = kind.call & ~std::uint32_t(EDC_NO_SYSCALL);
	const std::uint32_t call = call_of(kind.field[number], kind.field[number + 1], event);
	return call == EDC_NO_SUCH_CALL ? call : call | abi;
}

bool is_compat(std::uint32_t call)
{
	return call >> EDC_ABI_SHIFT == EDC_ABI_COMPAT;
}

std::int32_t kernel_number(std::uint32_t call)
{
	if (call == EDC_NO_SUCH_CALL)
		return -1;
	const std::uint32_t abi_bit = call >> EDC_ABI_SHIFT == EDC_ABI_X32 ? EDC_X32_BIT : 0;
	return static_cast<std::int32_t>((call & EDC_NO_SYSCALL) | abi_bit);
}

bool EventKinds::has(EventMeaning kind) const
{
	return std::ranges::any_of(kinds_, [kind](const EventKind &each) { return each.kind == kind; });
}

bool EventKinds::has_interrupts(bool soft) const
{
	return std::ranges::any_of(kinds_, [&](const EventKind &each) {
		return (each.kind == EventMeaning::interrupt_entry || each.kind == EventMeaning::timer_entry) &&
		       is_softirq(each.interrupt) == soft;
	});
}

InterruptSource EventKinds::interrupt_source(std::uint32_t interrupt, std::uint32_t number) const
{
	const std::string &name = interrupt_name(interrupt);
	if (name == "local_timer")
		return InterruptSource::timer;
	if (name != "irq_handler")
		return InterruptSource::unknown;
	return interrupt_names_.source(number, has_local_timer_ ? InterruptSource::device : InterruptSource::unknown);
}

bool EventKinds::may_be_call(const std::string &name) const
{
	if (!named_calls_.empty())
		return std::ranges::any_of(named_calls_, [&](const auto &each) { return each.second == name; });
	return !syscalls_ ||
	       std::ranges::any_of(syscalls_->labels(), [&](const auto &each) { return each.text == name; });
}

std::string EventKinds::interrupt_label(std::uint32_t interrupt, std::uint32_t number) const
{
	if (is_softirq(interrupt))
		return "softirq:" + softirq_label(number);
	const std::string &name = interrupt_name(interrupt);
	if (name != "irq_handler")
		return "irq:" + name;
	const std::string *named = interrupt_names_.find(number);
	return "irq:" + std::to_string(number) + (named ? " (" + printable(*named) + ")" : "");
}

std::string EventKinds::disk_label(std::uint32_t device) const
{
	const std::string number = std::to_string(device >> 20) + ":" + std::to_string(device & 0xfffff);
	const auto named = disk_names_.find(number);
	return "disk " + (named == disk_names_.end() ? number : printable(named->second) + " (" + number + ")");
}

std::string EventKinds::softirq_label(std::uint32_t number) const
{
	const std::string *label = softirqs_ ? softirqs_->find(number) : nullptr;
	return label ? *label : std::to_string(number);
}

std::string EventKinds::syscall_label(std::uint32_t call) const
{
	if (call == EDC_NO_SUCH_CALL)
		return "no such call";
	if (is_stop(call))
		return call == stopped_call ? "stopped" : "traced";
	const std::uint32_t abi = call >> EDC_ABI_SHIFT;
	const std::string *name = syscall_name(call);
	return (name ? *name : std::to_string(call & EDC_NO_SYSCALL)) + (abi == EDC_ABI_COMPAT ? " (compat)"
									 : abi == EDC_ABI_X32  ? " (x32)"
											       : "");
}

const std::string *EventKinds::syscall_name(std::uint32_t call) const
{
	if (const auto named = named_calls_.find(call); named != named_calls_.end())
		return &named->second;
	const bool is_native = call >> EDC_ABI_SHIFT == EDC_ABI_NATIVE;
	return is_native && syscalls_ ? syscalls_->find(call) : nullptr;
}

} // namespace monitor::analyze
