// SPDX-License-Identifier: MIT
// Maps the names in a description to what the fold does with an event: one table, looked up once per class when a trace
// is opened. An event that a trace lacks never occurs, and a missing field reads as 0. The table has the names of
// LTTng's and perf's kernel traces, too (Documentation/reading-traces.md).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "interrupt_names.h"
#include "reading/ctf/description.h"
#include "reading/events/event.h"
#include "reading/events/field_ref.h"

namespace monitor::analyze {

inline constexpr std::int32_t largest_tid = 4194304; // PID_MAX_LIMIT of the kernel

enum class EventMeaning : std::uint8_t {
	other,
	sched_switch,
	sched_waking,
	sched_migrate_task,
	sched_wakeup_new,   // monitor's form: also says who created the thread
	sched_process_fork, // the fork of other tracers,
	new_thread_woken,   // whose sched_wakeup_new only says that the thread may run
	sched_process_exec,
	sched_process_exit,
	task_rename,
	thread_counts,
	thread_state,
	process_state, // LTTng's list of threads
	thread_runs,
	cgroup_attach_task,
	interrupt_entry,
	interrupt_exit,
	softirq_raise,
	timer_entry, // of the local timer: an interrupt_entry that gives the interrupted mode
	sys_enter,
	sys_exit,
	block_io_start,
	block_rq_issue,
	block_rq_complete,
	page_fault_user,
	page_fault_kernel,
	minor_fault,
	major_fault,
	counters,
	sample,
	stack_sample,
	stack_frames,
	stack_end,
	mapping,
	function_entry,
	function_exit,
	sync,
	cpu_offline,
	user_thread, // in a user stream: the thread that writes the events that follow
	statistics_period,
	statistics_events,
	statistics_cpu,
	statistics_thread,
	statistics_usage,
	statistics_counts,
	statistics_throttled,
	statistics_calls,
	statistics_sleeps,
	statistics_buckets,
	statistics_activities,
	statistics_inclusive,
	statistics_open,
	statistics_transfers,
};

struct EventKind {
	EventMeaning kind = EventMeaning::other;
	std::uint8_t interrupt = 0; // which kind of interrupt, for interrupt_entry and _exit
	// For sys_enter and sys_exit: the call if the class has only one, as LTTng's do; EDC_NO_SYSCALL: each event has
	// its own number.
	std::uint32_t call = EDC_NO_SYSCALL;
	std::array<trace::FieldRef, 9> field;
};

// A system call: its number and ABI as in the argument of sys_enter, so that calls of two ABIs are never one; or
// EDC_NO_SUCH_CALL. Other tracers' x32 numbers have the ABI in them. Where a trace has only names, the numbers are made
// up (EventKinds).
std::uint32_t call_of(const trace::FieldRef &number, const trace::FieldRef &abi, const trace::Event &event);
// The call of a sys_enter or sys_exit event; nullopt: an exit that does not say which call it ends.
std::optional<std::uint32_t> call_of(const EventKind &kind, const trace::Event &event);
inline bool is_of_one_call(const EventKind &kind)
{
	return (kind.call & EDC_NO_SYSCALL) != EDC_NO_SYSCALL;
}

bool is_compat(std::uint32_t call);
// The number as the program passed it to the kernel, for x32 with its bit; -1 if there is no such call.
std::int32_t kernel_number(std::uint32_t call);

class EventKinds {
public:
	// `partial`: classes of which some events were left out: nothing can be derived from these.
	// `interrupt_names`: of hardware interrupts, by number; `disk_names`: by MAJOR:MINOR. `local_timer_attached`:
	// false: the events of x86's timer are described but were not recorded.
	explicit EventKinds(const trace::Description &description, const std::set<std::string> &partial = {},
			    std::map<std::string, std::string> interrupt_names = {},
			    std::map<std::string, std::string> disk_names = {}, bool local_timer_attached = true);

	// Adds classes of programs that the description did not have before.
	void add_new(const trace::Description &description) { index_.resize(description.classes().size()); }

	const EventKind &operator[](const trace::EventClass &cls) const { return kinds_[index_[cls.index]]; }
	// Whether some class is of this kind.
	bool has(EventMeaning kind) const;
	bool has_interrupts(bool soft) const;
	// The interrupts of the CPUs' timers have events of their own (x86).
	bool has_local_timer() const { return has_local_timer_; }
	// Interrupts of the CPUs' timers can be told from those of devices.
	bool has_cpu_timers() const { return has_local_timer_ || interrupt_names_.has_cpu_timers(); }
	bool has_calls() const { return has(EventMeaning::sys_enter) && has(EventMeaning::sys_exit); }
	// Whether a call may have this name: any name, if the trace has none.
	bool may_be_call(const std::string &name) const;
	// "irq_handler", "softirq", "local_timer" ...
	const std::string &interrupt_name(std::uint32_t interrupt) const { return interrupt_kind_names_[interrupt]; }
	static bool is_interrupt_kind(std::uint32_t interrupt) { return interrupt < interrupt_kinds; }
	static bool is_softirq(std::uint32_t interrupt) { return interrupt == softirq; }
	// From another tracer's event: the handler of a numbered interrupt, unless one is known already.
	void learn_interrupt(std::uint32_t number, std::string_view handler)
	{
		interrupt_names_.learn(number, handler);
	}
	// The names of a numbered interrupt's handlers in recording.json; nullptr: there are none.
	const std::string *interrupt_handlers(std::uint32_t number) const { return interrupt_names_.find(number); }
	// What raised a hardware interrupt. A numbered one without a name counts as a device's where the CPUs' timers
	// have events of their own.
	InterruptSource interrupt_source(std::uint32_t interrupt, std::uint32_t number) const;
	// "irq:24", "irq:24 (virtio0-req.0)", "irq:local_timer", "softirq:NET_RX"
	std::string interrupt_label(std::uint32_t interrupt, std::uint32_t number) const;
	// "disk vda (254:0)", "disk 254:0", of the kernel's dev_t.
	std::string disk_label(std::uint32_t device) const;
	// The label of a softirq, or its number if the description has none.
	std::string softirq_label(std::uint32_t number) const;
	// The label of a call_of() value: "getpid"; "999" without a label; "20 (compat)", as labels are those of the
	// native ABI; "no such call"; "stopped" and "traced" for stopped_call and traced_call.
	std::string syscall_label(std::uint32_t call) const;
	// Null: it has only a number.
	const std::string *syscall_name(std::uint32_t call) const;

private:
	static constexpr std::uint32_t interrupt_kinds = 7, softirq = 1; // the number of kinds, and the softirqs' index

	bool fill_call(std::string_view name, const trace::EventClass &cls, EventKind &kind);
	bool fill_interrupt(std::string_view name, const trace::EventClass &cls, EventKind &kind);
	void leave_out_unpaired(const trace::Description &description);

	std::vector<EventKind> kinds_;
	std::vector<std::uint16_t> index_; // by class index
	std::vector<std::string> interrupt_kind_names_;
	InterruptNames interrupt_names_;
	std::map<std::string, std::string> disk_names_;
	bool has_local_timer_ = false;
	std::shared_ptr<const trace::Enumeration> softirqs_, syscalls_;
	std::map<std::uint32_t, std::string> named_calls_; // calls with made-up numbers, from the largest downwards
};

} // namespace monitor::analyze
