// SPDX-License-Identifier: MIT
#include "lttng.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_map>

#include "answers/collection/packet_writer.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/grow.h"
#include "lttng_events.h"
#include "reading/events/merge.h"

namespace monitor::exporting {
namespace {

namespace fs = std::filesystem;
using collection::PacketWriter;
using lttng::FieldType;
using lttng::Type;

constexpr std::int32_t unknown_prio = -1;
// Values of lttng_statedump_process_state.
constexpr std::int32_t mode_unknown = 5, submode_unknown = 1;
constexpr std::int32_t status_unknown = 0, status_ready = 2, status_waits = 5, status_runs = 6, status_dead = 7;

const FieldType switch_fields[] = {{"prev_comm", Type::text}, {"prev_tid", Type::s32},   {"prev_prio", Type::s32},
				   {"prev_state", Type::s64}, {"next_comm", Type::text}, {"next_tid", Type::s32},
				   {"next_prio", Type::s32}};
const FieldType waking_fields[] = {
    {"comm", Type::text}, {"tid", Type::s32}, {"prio", Type::s32}, {"target_cpu", Type::s32}};
const FieldType fork_fields[] = {{"parent_comm", Type::text}, {"parent_tid", Type::s32}, {"parent_pid", Type::s32},
				 {"child_comm", Type::text},  {"child_tid", Type::s32},  {"child_pid", Type::s32}};
const FieldType exec_fields[] = {{"filename", Type::text}, {"tid", Type::s32}, {"old_tid", Type::s32}};
const FieldType exit_fields[] = {{"comm", Type::text}, {"tid", Type::s32}, {"prio", Type::s32}};
const FieldType rename_fields[] = {{"tid", Type::s32}, {"oldcomm", Type::text}, {"newcomm", Type::text}};
const FieldType irq_entry_fields[] = {{"irq", Type::s32}, {"name", Type::text}};
const FieldType irq_exit_fields[] = {{"irq", Type::s32}, {"ret", Type::s32}};
const FieldType vector_fields[] = {{"vector", Type::s32}};
const std::string vector_prefix = "x86_irq_vectors_";
const FieldType softirq_fields[] = {{"vec", Type::u32}};
const FieldType result_fields[] = {{"ret", Type::s64}};
const FieldType unknown_call_fields[] = {{"id", Type::s32}};
const FieldType unknown_result_fields[] = {{"id", Type::s32}, {"ret", Type::s64}};
const FieldType state_fields[] = {{"tid", Type::s32},     {"vtid", Type::s32},   {"pid", Type::s32},
				  {"vpid", Type::s32},    {"ppid", Type::s32},   {"vppid", Type::s32},
				  {"name", Type::text},   {"type", Type::s32},   {"mode", Type::s32},
				  {"submode", Type::s32}, {"status", Type::s32}, {"ns_level", Type::s32}};

collection::TsdlText::Env environment(const analyze::RecordingInfo &info)
{
	return {{"hostname", info.host},
		{"domain", "kernel"},
		{"sysname", "Linux"},
		{"kernel_release", info.kernel},
		{"kernel_version", ""},
		{"tracer_name", "lttng-modules"}, // the tracer of these events
		{"tracer_major", "2"},
		{"tracer_minor", "13"},
		{"tracer_patchlevel", "0"},
		{"converted_by", "monitor"},
		{"command", info.command.empty() ? "" : info.short_command()},
		{"note", info.note}};
}

std::int32_t status_of(const analyze::Thread &thread)
{
	switch (thread.state) {
	case analyze::State::running:
		return status_runs;
	case analyze::State::runnable:
	case analyze::State::throttled:
		return status_ready;
	case analyze::State::blocked:
		return status_waits;
	case analyze::State::dead:
		return status_dead;
	case analyze::State::unknown:
		break;
	}
	return status_unknown;
}

// Names of a system call, and its class ids.
struct Call {
	std::uint32_t entry = 0, exit = 0;
	std::span<const FieldType> fields;
	bool is_named = false;
};

class LttngWriter : public KernelTarget {
public:
	LttngWriter(const trace::Trace &trace, const analyze::ThreadFold &fold, const analyze::RecordingInfo &info,
		    std::string directory)
	    : fold_(fold), directory_(std::move(directory)), uuid_(random_uuid()),
	      text_(trace.description().clock, uuid_, environment(info), true), classes_(text_),
	      other_ids_(trace.description().classes().size())
	{
		for (const auto &cls : trace.description().classes()) {
			has_list_ |= cls->name == "lttng_statedump_process_state";
			has_wakeups_ |= cls->name == "sched_wakeup";
			has_forks_ |= cls->name == "sched_process_fork";
		}
		if (fold.kinds().has_local_timer()) // readers shall know that, also if there was no such interrupt
			for (const char *name : {"local_timer_entry", "local_timer_exit"})
				classes_.id(vector_prefix + name, vector_fields);
	}

	void thread(std::uint64_t time, const analyze::Thread &thread) override
	{
		if (has_list_) // the list itself is copied
			return;
		fields_.number(thread.tid).number(thread.tid).number(thread.tgid).number(thread.tgid);
		fields_.number(thread.parent).number(thread.parent).text(thread.name);
		fields_.number(std::int32_t(thread.is_kernel)).number(mode_unknown).number(submode_unknown);
		fields_.number(status_of(thread)).number(std::int32_t(0));
		add(time, 0, classes_.id("lttng_statedump_process_state", state_fields));
	}
	// At the start, after a loss, and after a hidden thread. A stream's times cannot step back to when the thread
	// got the CPU.
	void runs(const EventContext &at, std::uint64_t) override
	{
		EventContext from = at;
		from.task = at.cpu < running_.size() ? Task{running_[at.cpu].tid, running_[at.cpu].name} : Task{0, ""};
		sched_switch(from, 0, at.task);
	}
	void unknown(std::uint64_t, std::uint32_t) override {} // LTTng cannot express it
	void lost(std::uint32_t cpu, const trace::Gap &gap) override { stream(cpu).add_gap(gap); }
	void sched_switch(const EventContext &at, std::int64_t state, const Task &next) override
	{
		fields_.text(at.task.name).number(at.task.tid).number(unknown_prio).number(state);
		fields_.text(next.tid == Task::unknown ? "[unknown]" : next.name).number(next.tid);
		fields_.number(unknown_prio);
		add(at, switch_id_);
		grow_to(running_, at.cpu) = {next.tid,
					     next.tid == Task::unknown ? "[unknown]" : std::string(next.name)};
	}
	// Adds a sched_wakeup at once, for readers that use only this; not if the trace has its own.
	void sched_waking(const EventContext &at, const Task &woken, std::int32_t prio,
			  std::uint32_t target_cpu) override
	{
		for (const std::uint32_t id : {waking_id_, wakeup_id_}) {
			if (id == wakeup_id_ && has_wakeups_)
				break;
			fields_.text(woken.name).number(woken.tid).number(prio).number(target_cpu);
			add(at, id);
		}
	}
	void created(const EventContext &at, const NewThread &thread) override
	{
		if (!has_forks_) {
			const analyze::Thread *parent = fold_.thread(thread.parent_tid);
			fields_.text(parent ? parent->name : "").number(thread.parent_tid);
			fields_.number(parent ? parent->tgid : thread.parent_tid);
			fields_.text(thread.task.name).number(thread.task.tid).number(thread.tgid);
			add(at, classes_.id("sched_process_fork", fork_fields));
		}
		fields_.text(thread.task.name).number(thread.task.tid).number(thread.prio).number(thread.target_cpu);
		add(at, classes_.id("sched_wakeup_new", waking_fields));
	}
	void executed(const EventContext &at, const Task &task, std::int32_t old_tid) override
	{
		fields_.text(task.name).number(task.tid).number(old_tid);
		add(at, classes_.id("sched_process_exec", exec_fields));
	}
	void exited(const EventContext &at, const Task &task, std::int32_t) override
	{
		fields_.text(task.name).number(task.tid).number(unknown_prio);
		add(at, classes_.id("sched_process_exit", exit_fields));
	}
	void renamed(const EventContext &at, const Task &task, std::string_view old_name) override
	{
		fields_.number(task.tid).text(old_name).text(task.name);
		add(at, classes_.id("task_rename", rename_fields));
	}
	void softirq(const EventContext &at, bool is_entry, std::uint32_t number) override
	{
		fields_.number(number);
		add(at, classes_.id(is_entry ? "softirq_entry" : "softirq_exit", softirq_fields));
	}
	void irq(const EventContext &at, bool is_entry, const std::string &name, std::uint32_t number) override
	{
		fields_.number(number);
		if (name != "irq_handler") {
			add(at, classes_.id(vector_prefix + name + (is_entry ? "_entry" : "_exit"), vector_fields));
			return;
		}
		const std::string *handlers = fold_.kinds().interrupt_handlers(number);
		if (is_entry)
			fields_.text(handlers ? *handlers : "irq " + std::to_string(number));
		else
			fields_.number(std::int32_t(1)); // handled
		add(at, is_entry ? classes_.id("irq_handler_entry", irq_entry_fields)
				 : classes_.id("irq_handler_exit", irq_exit_fields));
	}
	void sys_enter(const EventContext &at, std::uint32_t number) override
	{
		const Call &call = call_of(number);
		if (!call.is_named) {
			fields_.number(analyze::kernel_number(number));
			return add(at, call.entry);
		}
		for (const FieldType &field : call.fields)
			if (field.type == Type::text)
				fields_.text("");
			else
				fields_.number(std::int64_t(-1));
		add(at, call.entry);
	}
	void sys_exit(const EventContext &at, std::uint32_t number, std::int64_t result) override
	{
		const Call &call = call_of(number);
		if (!call.is_named)
			fields_.number(analyze::kernel_number(number));
		fields_.number(result);
		add(at, call.exit);
	}
	bool other(const EventContext &at, const trace::Event &event) override;
	void clocks(std::uint64_t, std::optional<std::uint64_t>, std::uint64_t) override {}

	void finish(std::uint64_t end_time)
	{
		for (const std::unique_ptr<PacketWriter> &stream : streams_)
			if (stream)
				stream->finish(end_time);
		replace_file(directory_ + "/metadata", text_.text(), 0644);
	}

private:
	PacketWriter &stream(std::uint32_t cpu)
	{
		std::unique_ptr<PacketWriter> &stream = grow_to(streams_, cpu);
		if (!stream)
			stream = std::make_unique<PacketWriter>(directory_ + "/channel0_" + std::to_string(cpu), uuid_,
								true, fold_.window_begin());
		return *stream;
	}
	void add(std::uint64_t time, std::uint32_t cpu, std::uint32_t id)
	{
		stream(cpu).add(id, time, cpu, fields_.bytes(), 0);
		fields_.clear();
	}
	void add(const EventContext &at, std::uint32_t id) { add(at.time, at.cpu, id); }

	// LTTng has one class for all calls without a name.
	const Call &call_of(std::uint32_t number)
	{
		const auto [found, is_new] = calls_.try_emplace(number);
		Call &call = found->second;
		if (is_new) {
			const std::string *name = fold_.kinds().syscall_name(number);
			const std::string prefix = analyze::is_compat(number) ? "compat_" : "";
			call.is_named = name;
			call.fields = name ? lttng::Classes::call_fields(*name) : std::span(unknown_call_fields);
			call.entry = classes_.id(prefix + "syscall_entry_" + (name ? *name : "unknown"), call.fields);
			const auto results = name ? std::span<const FieldType>(result_fields) : unknown_result_fields;
			call.exit = classes_.id(prefix + "syscall_exit_" + (name ? *name : "unknown"), results);
		}
		return call;
	}

	const analyze::ThreadFold &fold_;
	std::string directory_;
	bool has_list_ = false, has_wakeups_ = false, has_forks_ = false; // whether the trace has its own
	Uuid uuid_;
	collection::TsdlText text_;
	lttng::Classes classes_;
	std::uint32_t switch_id_ = classes_.id("sched_switch", switch_fields);
	std::uint32_t waking_id_ = classes_.id("sched_waking", waking_fields);
	std::uint32_t wakeup_id_ = classes_.id("sched_wakeup", waking_fields);
	std::unordered_map<std::uint32_t, Call> calls_;       // by analyze::call_of()
	std::vector<std::optional<std::uint32_t>> other_ids_; // by class index
	lttng::Fields fields_;                                // of the current event
	std::vector<std::unique_ptr<PacketWriter>> streams_;  // by CPU
	struct Running {
		std::int32_t tid = 0;
		std::string name;
	};
	std::vector<Running> running_; // by CPU
};

// Under its own name with its own fields, unless LTTng has another name. Block requests are left out, as LTTng's have
// fields that were not recorded; so are events with lists.
bool LttngWriter::other(const EventContext &at, const trace::Event &event)
{
	const trace::EventClass &cls = *event.cls;
	const auto is_list = [](const trace::Field &field) { return field.kind == trace::FieldKind::list; };
	if (cls.name.starts_with("block_") || std::ranges::any_of(cls.fields, is_list))
		return false;
	std::optional<std::uint32_t> &id = other_ids_[cls.index];
	std::vector<FieldType> types;
	for (const trace::Field &field : cls.fields) {
		const bool is_signed = field.kind == trace::FieldKind::signed_integer;
		const bool is_text = field.kind == trace::FieldKind::text,
			   is_real = field.kind == trace::FieldKind::real;
		const std::string name = cls.name == "sched_migrate_task" && field.name == "pid" ? "tid" : field.name;
		if (!id)
			types.push_back({name, is_text     ? Type::text
					       : is_real   ? Type::real
					       : is_signed ? Type::s64
							   : Type::u64});
		const trace::FieldRef ref(cls, field);
		if (is_text)
			fields_.text(ref.get<std::string_view>(event));
		else if (is_real)
			fields_.number(ref.get<double>(event));
		else
			fields_.number(ref.get(event));
	}
	if (cls.name == "sched_migrate_task" && !cls.find("comm")) { // lttng-analyses requires a name
		const analyze::Thread *thread = fold_.thread(trace::FieldRef(cls, "pid").get<std::int32_t>(event));
		types.push_back({"comm", Type::text});
		fields_.text(thread ? thread->name : "");
	}
	if (!id)
		id = classes_.add(cls.name.starts_with("cpu_") ? "power_" + cls.name : cls.name, types);
	add(at, *id);
	return true;
}

void convert_all(trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::Scope &scope,
		 const std::string &directory, Converted &converted)
{
	analyze::ThreadFold fold(trace, info, scope);
	LttngWriter writer(trace, fold, info, directory);
	KernelFeed feed(trace, fold, writer);
	std::vector<std::uint64_t> program_events(trace.description().classes().size());
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    feed.event(event);
		    program_events[event.cls->index] += event.cls->domain == trace::Domain::user && !event.is_control();
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    feed.gap(stream, from, to, lost);
	    });
	feed.finish(info.complete() || !info.present);
	fold.finish();
	writer.finish(fold.window_end());
	std::uint64_t size_bytes = 0;
	for (const fs::directory_entry &file : fs::directory_iterator(directory))
		size_bytes += file.file_size();
	converted = {feed.events(), feed.outside(), size_bytes, feed.left_out(), feed.losses()};
	if (feed.readings())
		converted.left_out["counters"] = feed.readings();
	for (const auto &cls : trace.description().classes())
		if (program_events[cls->index])
			converted.left_out[cls->name] += program_events[cls->index];
}

} // namespace

Converted write_lttng(trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::Scope &scope,
		      const std::string &directory)
{
	std::error_code error;
	const bool existed = fs::exists(directory, error);
	if (existed && (!fs::is_directory(directory, error) || !fs::is_empty(directory, error)))
		throw Error(directory + " exists and is not an empty directory; name another one with -o");
	const std::string kernel = directory + "/kernel"; // readers look for this name
	Converted converted;
	fs::create_directories(kernel, error);
	if (error)
		throw Error(error.value(), "cannot create " + directory);
	try {
		convert_all(trace, info, scope, kernel, converted);
	} catch (...) {
		fs::remove_all(kernel, error);
		if (!existed)
			fs::remove(directory, error);
		throw;
	}
	return converted;
}

} // namespace monitor::exporting
