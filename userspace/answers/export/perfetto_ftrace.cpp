// SPDX-License-Identifier: MIT
#include "perfetto_ftrace.h"

#include "base/error.h"
#include "base/grow.h"
#include "perfetto_tracks.h"

namespace monitor::exporting::perfetto {
namespace {

constexpr std::size_t max_events = 2000, max_bytes = 1u << 18; // of a bundle
constexpr std::uint32_t max_cpus = 1024;                       // Perfetto refuses more
constexpr std::int32_t unknown_tid = analyze::largest_tid + 1;
constexpr std::string_view unknown_name = "[unknown]";
constexpr std::int64_t unknown_state = 0x1000; // shown by Perfetto as `?`
constexpr std::int32_t unknown_prio = -1;

// Field numbers of ftrace's events.
constexpr Tag event_time = 1, event_tid = 2, event_switch = 4, event_idle = 13, event_frequency = 11, event_waking = 20,
	      event_softirq_entry = 24, event_softirq_exit = 25, event_irq_entry = 36, event_irq_exit = 37,
	      event_newtask = 235, event_rename = 236, event_exec = 237, event_exit = 238, event_generic = 327,
	      event_sys_enter = 329, event_sys_exit = 330;
constexpr std::uint64_t clone_thread = 0x10000; // CLONE_THREAD
constexpr std::uint32_t flag_hardirq = 0x08, flag_softirq = 0x10;

// Field numbers of a bundle.
constexpr Tag bundle_cpu = 1, bundle_event = 2, bundle_lost = 3, bundle_compact = 4, bundle_clock = 5;
constexpr std::uint32_t clock_mono_raw = 4;

Task shown_task(const Task &task)
{
	return task.tid == Task::unknown ? Task{unknown_tid, unknown_name} : task;
}

} // namespace

FtraceBundles::CpuState &FtraceBundles::state_of(std::uint32_t cpu)
{
	if (cpu >= max_cpus)
		throw Error("Perfetto reads at most 1024 CPUs, and this trace has a CPU " + std::to_string(cpu) +
			    "; select some with --cpu");
	return grow_to(cpus_, cpu);
}

template <class Fill>
void FtraceBundles::add(std::uint64_t time, std::uint32_t cpu, const Task &task, Tag tag, Fill &&fill)
{
	pbf_writer bundle(state_of(cpu).bundle.events);
	{
		pbf_writer event(bundle, bundle_event);
		event.add_uint64(event_time, packets_.ns(time));
		event.add_uint32(event_tid, static_cast<std::uint32_t>(shown_task(task).tid));
		pbf_writer fields(event, tag);
		fill(fields);
	}
	count(cpu);
}

void FtraceBundles::count(std::uint32_t cpu)
{
	const Bundle &bundle = state_of(cpu).bundle;
	if (++state_of(cpu).bundle.count >= max_events || bundle.events.size() >= max_bytes)
		flush(cpu);
}

void FtraceBundles::thread(std::uint64_t time, const analyze::Thread &thread)
{
	const Listed &listed = listed_[thread.tid] = {thread.tgid, thread.parent};
	list(time, {thread.tid, thread.name}, listed);
}

void FtraceBundles::list(std::uint64_t time, const Task &task, const Listed &listed)
{
	packets_.packet_at(time, Sequence::ftrace, [&](pbf_writer &body) {
		pbf_writer tree(body, packet_process_tree);
		if (task.tid == listed.tgid) {
			pbf_writer process(tree, 1);
			process.add_int32(1, task.tid);
			process.add_int32(2, listed.parent);
			process.add_string(3, utf8(task.name));
			process.add_bool(9, true); // it is a comm
		}
		pbf_writer entry(tree, 2);
		entry.add_int32(1, task.tid);
		entry.add_string(2, utf8(task.name));
		entry.add_int32(3, listed.tgid);
	});
}

// Perfetto prefers names from a list over those of events, so a listed thread with a new name is listed again.
void FtraceBundles::list_again(std::uint64_t time, const Task &task)
{
	if (const auto listed = listed_.find(task.tid); listed != listed_.end())
		list(time, task, listed->second);
}

void FtraceBundles::add_switch(std::uint64_t time, std::uint32_t cpu, const Task &prev, std::int64_t state,
			       const Task &next)
{
	add(time, cpu, prev, event_switch, [&](pbf_writer &fields) {
		fields.add_string(1, utf8(prev.name));
		fields.add_int32(2, prev.tid);
		fields.add_int32(3, unknown_prio);
		fields.add_int64(4, state);
		fields.add_string(5, utf8(next.name));
		fields.add_int32(6, next.tid);
		fields.add_int32(7, unknown_prio);
	});
}

void FtraceBundles::runs(const EventContext &at, std::uint64_t since)
{
	CpuState &cpu = state_of(at.cpu);
	const bool was_known = cpu.runs != Task::unknown;
	add_switch(since, at.cpu, shown_task({cpu.runs, cpu.name}), was_known ? unknown_state : 0, at.task);
	state_of(at.cpu).run(at.task, false); // a switch may have the same time
}

void FtraceBundles::unknown(std::uint64_t time, std::uint32_t cpu)
{
	CpuState &known = state_of(cpu);
	add_switch(time, cpu, shown_task({known.runs, known.name}), unknown_state, shown_task({}));
	state_of(cpu).runs = Task::unknown;
	state_of(cpu).is_compact = false;
}

void FtraceBundles::lost(std::uint32_t cpu, const trace::Gap &gap)
{
	flush(cpu); // the bundle after the loss reports it
	CpuState &known = state_of(cpu);
	known.bundle.has_loss = true;

	known.lost += gap.lost != trace::unknown_count ? gap.lost : 0;
}

std::uint32_t FtraceBundles::name_in(Bundle &bundle, const Task &task)
{
	const auto [found, is_new] =
	    bundle.name_of.try_emplace(task.tid, static_cast<std::uint32_t>(bundle.names.size()));
	if (!is_new && bundle.names[found->second] == task.name)
		return found->second;
	found->second = static_cast<std::uint32_t>(bundle.names.size());
	bundle.names.emplace_back(task.name);
	return found->second;
}

void FtraceBundles::sched_switch(const EventContext &at, std::int64_t state, const Task &to)
{
	const Task next = shown_task(to);
	CpuState &cpu = state_of(at.cpu);
	if (flows_ && to.tid > 0)
		flows_->runs(at.time, next.tid);
	if (!cpu.is_compact) {
		add_switch(at.time, at.cpu, at.task, state, next);
	} else {
		Switches &all = cpu.bundle.switches;
		all.add(packets_.ns(at.time), next.tid, unknown_prio, name_in(cpu.bundle, next));
		all.states.push_back(state);
		count(at.cpu);
	}
	state_of(at.cpu).run(to, true);
}

void FtraceBundles::sched_waking(const EventContext &at, const Task &woken, std::int32_t prio, std::uint32_t target_cpu)
{
	CpuState &cpu = state_of(at.cpu);
	if (!cpu.is_compact) {
		add(at.time, at.cpu, at.task, event_waking, [&](pbf_writer &fields) {
			fields.add_string(1, utf8(woken.name));
			fields.add_int32(2, woken.tid);
			fields.add_int32(3, prio);
			fields.add_int32(5, static_cast<std::int32_t>(target_cpu));
		});
		return;
	}
	Wakings &all = cpu.bundle.wakings;
	all.add(packets_.ns(at.time), woken.tid, prio, name_in(cpu.bundle, woken));
	all.cpus.push_back(static_cast<std::int32_t>(target_cpu));
	all.flags.push_back((at.in_irq ? flag_hardirq : 0) | (at.in_softirq ? flag_softirq : 0));
	count(at.cpu);
}

void FtraceBundles::created(const EventContext &at, const NewThread &thread)
{
	listed_.erase(thread.task.tid);
	add(at.time, at.cpu, Task{thread.parent_tid, ""}, event_newtask, [&](pbf_writer &fields) {
		fields.add_int32(1, thread.task.tid);
		fields.add_string(2, utf8(thread.task.name));
		fields.add_uint64(3, thread.task.tid == thread.tgid ? 0 : clone_thread);
	});
}

void FtraceBundles::executed(const EventContext &at, const Task &task, std::int32_t old_tid)
{
	add(at.time, at.cpu, task, event_exec, [&](pbf_writer &fields) {
		fields.add_string(1, utf8(task.name));
		fields.add_int32(2, task.tid);
		fields.add_int32(3, old_tid);
	});
	list_again(at.time, task);
}

void FtraceBundles::exited(const EventContext &at, const Task &task, std::int32_t tgid)
{
	add(at.time, at.cpu, task, event_exit, [&](pbf_writer &fields) {
		fields.add_string(1, utf8(task.name));
		fields.add_int32(2, task.tid);
		fields.add_int32(3, tgid);
	});
}

void FtraceBundles::renamed(const EventContext &at, const Task &task, std::string_view old_name)
{
	add(at.time, at.cpu, at.task, event_rename, [&](pbf_writer &fields) {
		fields.add_int32(1, task.tid);
		fields.add_string(2, utf8(old_name));
		fields.add_string(3, utf8(task.name));
	});
	list_again(at.time, task);
}

void FtraceBundles::softirq(const EventContext &at, bool is_entry, std::uint32_t number)
{
	add(at.time, at.cpu, at.task, is_entry ? event_softirq_entry : event_softirq_exit,
	    [&](pbf_writer &fields) { fields.add_uint32(1, number); });
}

void FtraceBundles::irq(const EventContext &at, bool is_entry, const std::string &name, std::uint32_t number)
{
	add(at.time, at.cpu, at.task, is_entry ? event_irq_entry : event_irq_exit, [&](pbf_writer &fields) {
		fields.add_int32(1, static_cast<std::int32_t>(number));
		if (is_entry)
			fields.add_string(2, name == "irq_handler" ? "irq " + std::to_string(number) : name);
		else
			fields.add_int32(2, 1); // handled
	});
}

// Perfetto knows the native ABI's calls by number: compat calls are events under another name.
void FtraceBundles::sys_enter(const EventContext &at, std::uint32_t call)
{
	if (analyze::is_compat(call))
		return add_generic(at, "sys_enter_compat", {{"id", analyze::kernel_number(call)}});
	add(at.time, at.cpu, at.task, event_sys_enter,
	    [&](pbf_writer &fields) { fields.add_int64(1, analyze::kernel_number(call)); });
}

void FtraceBundles::sys_exit(const EventContext &at, std::uint32_t call, std::int64_t result)
{
	if (analyze::is_compat(call))
		return add_generic(at, "sys_exit_compat", {{"id", analyze::kernel_number(call)}, {"ret", result}});
	add(at.time, at.cpu, at.task, event_sys_exit, [&](pbf_writer &fields) {
		fields.add_int64(1, analyze::kernel_number(call));
		fields.add_int64(2, result);
	});
}

void FtraceBundles::add_generic(const EventContext &at, const char *name,
				std::initializer_list<std::pair<const char *, std::int64_t>> values)
{
	add(at.time, at.cpu, at.task, event_generic, [&](pbf_writer &fields) {
		fields.add_string(1, name);
		for (const auto &[field, value] : values) {
			pbf_writer entry(fields, 2);
			entry.add_string(1, field);
			entry.add_int64(4, value);
		}
	});
}

// Events without a message in Perfetto are written with their names and fields.
bool FtraceBundles::other(const EventContext &at, const trace::Event &event)
{
	const trace::EventClass &cls = *event.cls;
	const auto value = [&](const char *field) { return trace::FieldRef(cls, field).get(event); };
	if (cls.name == "cpu_idle") {
		add(at.time, at.cpu, at.task, event_idle, [&](pbf_writer &fields) {
			fields.add_uint32(1, static_cast<std::uint32_t>(value("state")));
			fields.add_uint32(2, at.cpu);
		});
		return true;
	}
	if (cls.name == "cpu_frequency") {
		add(at.time, at.cpu, at.task, event_frequency, [&](pbf_writer &fields) {
			fields.add_uint32(1, static_cast<std::uint32_t>(value("state")));
			fields.add_uint32(2, static_cast<std::uint32_t>(value("cpu_id")));
		});
		return true;
	}
	add(at.time, at.cpu, at.task, event_generic, [&](pbf_writer &fields) {
		fields.add_string(1, utf8(cls.name));
		for (const trace::Field &field : cls.fields) {
			const trace::FieldRef ref(cls, field);
			pbf_writer entry(fields, 2);
			entry.add_string(1, utf8(field.name));
			if (field.kind == trace::FieldKind::text)
				entry.add_string(3, utf8(ref.get<std::string_view>(event)));
			else if (field.kind == trace::FieldKind::signed_integer)
				entry.add_int64(4, ref.get<std::int64_t>(event));
			else
				entry.add_uint64(5, ref.get(event));
		}
	});
	return true;
}

void FtraceBundles::clocks(std::uint64_t time, std::optional<std::uint64_t> monotonic_ns, std::uint64_t realtime_ns)
{
	packets_.packet(Sequence::ftrace, [&](pbf_writer &body) {
		pbf_writer snapshot(body, packet_clocks);
		const auto add_clock = [&](ClockId id, std::uint64_t value) {
			pbf_writer clock(snapshot, 1);
			clock.add_uint32(1, static_cast<std::uint32_t>(id));
			clock.add_uint64(2, value);
		};
		add_clock(ClockId::monotonic_raw, packets_.ns(time));
		if (monotonic_ns)
			add_clock(ClockId::monotonic, *monotonic_ns);
		add_clock(ClockId::realtime, realtime_ns);
		snapshot.add_uint32(2, static_cast<std::uint32_t>(ClockId::monotonic_raw)); // of the trace
	});
}

void FtraceBundles::flush(std::uint32_t cpu)
{
	Bundle &bundle = state_of(cpu).bundle;
	if (bundle.count == 0 && !bundle.has_loss)
		return;
	packets_.packet(Sequence::ftrace, [&](pbf_writer &body) {
		pbf_writer message(body, packet_ftrace);
		message.add_uint32(bundle_cpu, cpu);
		message.add_uint32(bundle_clock, clock_mono_raw);
		if (bundle.has_loss)
			message.add_bool(bundle_lost, true);
		packets_.append(bundle.events);
		pbf_writer compact(message, bundle_compact);
		const Switches &switches = bundle.switches;
		compact.add_packed_uint64(1, switches.times.begin(), switches.times.end());
		compact.add_packed_int64(2, switches.states.begin(), switches.states.end());
		compact.add_packed_int32(3, switches.tids.begin(), switches.tids.end());
		compact.add_packed_int32(4, switches.prios.begin(), switches.prios.end());
		for (const std::string &name : bundle.names)
			compact.add_string(5, utf8(name));
		compact.add_packed_uint32(6, switches.names.begin(), switches.names.end());
		const Wakings &wakings = bundle.wakings;
		compact.add_packed_uint64(7, wakings.times.begin(), wakings.times.end());
		compact.add_packed_int32(8, wakings.tids.begin(), wakings.tids.end());
		compact.add_packed_int32(9, wakings.cpus.begin(), wakings.cpus.end());
		compact.add_packed_int32(10, wakings.prios.begin(), wakings.prios.end());
		compact.add_packed_uint32(11, wakings.names.begin(), wakings.names.end());
		compact.add_packed_uint32(12, wakings.flags.begin(), wakings.flags.end());
	});
	bundle = {};
}

// Perfetto computes losses as the difference of two readings of ftrace's own counts.
void FtraceBundles::write_stats(unsigned phase)
{
	constexpr unsigned at_end = 2;
	packets_.packet(Sequence::ftrace, [&](pbf_writer &body) {
		pbf_writer stats(body, packet_ftrace_stats);
		stats.add_uint32(1, phase);
		for (std::uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) {
			pbf_writer of_cpu(stats, 2);
			of_cpu.add_uint64(1, cpu);
			of_cpu.add_uint64(3, phase == at_end ? cpus_[cpu].lost : 0); // overrun
		}
	});
}

void FtraceBundles::finish()
{
	for (std::uint32_t cpu = 0; cpu < cpus_.size(); ++cpu)
		flush(cpu);
	for (const unsigned phase : {1u, 2u})
		write_stats(phase);
}

} // namespace monitor::exporting::perfetto
