// SPDX-License-Identifier: MIT
// Any history of two CPUs and a recorder, and any recording.json, through the fold, its observers, the checks and the
// tables. Four bytes are an event: kind, CPU and time step, two arguments. The input's first byte says how much of its
// end is recording.json; an empty one is replaced by one that a recording could have written.
#include "../unit/samples.h"
#include "analyze/activities.h"
#include "analyze/check.h"
#include "analyze/machine.h"
#include "report/summary.h"
#include "report/usage_report.h"

using namespace monitor;

namespace {

const char *const shapes[][2] = {
    {"sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;"},
    {"sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;"},
    {"sched_migrate_task", "u16_t dest_cpu; s32_t pid; u16_t orig_cpu; u16_t prio;"},
    {"sched_wakeup_new", "u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];"},
    {"sched_process_exec", "u16_t compat; s32_t pid; s32_t old_pid; text_t comm[16];"},
    {"thread_counts", "u16_t when; s32_t pid; s32_t tgid; u64_t nvcsw; u64_t nivcsw; u64_t sum_exec_runtime; u64_t "
		      "min_flt; u64_t maj_flt;"},
    {"thread_state", "u16_t state; s32_t pid; s32_t tgid; s32_t ppid; u16_t cpu; u16_t syscall; text_t comm[16]; u64_t "
		     "cgroup; u32_t flags; "
		     "s32_t prio;"},
    {"softirq_entry", "u16_t vec;"},
    {"softirq_exit", "u16_t vec;"},
    {"irq_handler_entry", "u16_t irq;"},
    {"irq_handler_exit", "u16_t irq;"},
    {"sys_enter", "u12_t id; abi_t abi;"},
    {"sys_exit", "s16_t ret;"},
    {"page_fault_user", "x16_t error_code; x64_t address;"},
    {"minor_fault", "u16_t user;"},
    {"sync", "u16_t cpu; u64_t monotonic; u64_t realtime; u64_t tai; u64_t width;"},
    {"clock_set", "u16_t set; u64_t from_ns; u64_t base; u32_t whole; u32_t frac;"},
};

std::unique_ptr<const trace::Description> describe()
{
	std::string text;
	unsigned id = 256;
	for (const auto &shape : shapes)
		text += samples::event_block(id++, shape[0], shape[1]);
	return samples::description(text);
}

constexpr const char *plain_recording =
    R"({"version":1,"state":"complete","command_pid":3,"start":{"time":5},"end":{"time":4000000000},
	"programs":["sys_enter","sys_exit","page_fault_user","minor_fault","irq_handler_entry"],
	"kernel_counts":{"start":{"before":5,"after":6,"context_switches":1,"interrupts":1,"steal_ns":[0,1]},
	"end":{"before":900,"after":901,"context_switches":9,"interrupts":3,"steal_ns":[0]}},
	"classes":[{"id":256,"name":"sched_switch","family":"sched","seen":4,"refused":1,"too_deep":0,"filtered":0}]})";

std::vector<samples::StreamWriter> write(const trace::Description &description, const unsigned char *data,
					 std::size_t size)
{
	std::vector<samples::StreamWriter> streams;
	streams.emplace_back(trace::recorder_cpu, 0);
	streams.emplace_back(0, 0);
	streams.emplace_back(1, 0);
	std::uint64_t time = 0, discarded = 0;
	for (samples::StreamWriter &stream : streams)
		stream.open(0);
	for (; size >= 4; data += 4, size -= 4) {
		samples::StreamWriter &stream = streams[data[1] % 3];
		time += std::uint64_t{data[1]} << data[1] % 24;
		const unsigned kind = data[0] % std::size(shapes);
		const std::size_t bytes = description.by_id(256 + kind)->size_bytes;
		if (data[0] > 250 || stream.room() < bytes)
			stream.open(time, discarded += data[0] > 250);
		stream.post(time, 256 + kind, data[2]);
		for (std::size_t word = 8; word < bytes; word += 8)
			stream.put_word((data[3] & 7u) | std::uint64_t{data[2]} << (word == 8 ? 32 : data[3] >> 2));
	}
	return streams;
}

void read(trace::Trace &trace, const analyze::RecordingInfo &info, unsigned flags)
{
	analyze::Machine machine(trace, info);
	analyze::ActivityFold calls(
	    {"calls", "", analyze::Activity::system_call, {analyze::Label::process, analyze::Label::call}}, machine);
	analyze::ActivityFold sleeps({"sleeps",
				      "",
				      analyze::Activity::blocked,
				      {analyze::Label::thread, analyze::Label::call, analyze::Label::waker}},
				     machine);
	machine.add(calls);
	machine.add(sleeps);
	fold(trace, machine);
	for (const analyze::Cpu &cpu : machine.cpus())
		if (machine.window_end() >= machine.window_begin() &&
		    cpu.usage.cpu() + cpu.idle != machine.window_end() - machine.window_begin())
			std::abort(); // a CPU's times are its window
	const trace::Clock &clock = trace.description().clock;
	report::UsageOptions options;
	options.by = static_cast<report::GroupBy>(flags % 5);
	options.filtering = info.filtering();
	report::to_text(report::usage_table(machine, clock, options));
	report::to_json(report::cpu_table(machine, clock, info));
	report::to_csv(report::activity_table(calls, clock));
	report::to_text(report::activity_table(sleeps, clock));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	if (size < 1)
		return 0;
	const std::size_t json_bytes = std::min<std::size_t>(data[0], size - 1);
	const std::string json(reinterpret_cast<const char *>(data) + size - json_bytes, json_bytes);
	const analyze::RecordingInfo info = analyze::parse_recording(json_bytes ? json : plain_recording);
	static const std::shared_ptr<const trace::Description> description = describe();
	std::vector<samples::StreamWriter> writers = write(*description, data + 1, size - 1 - json_bytes);
	const auto make = [&] {
		std::vector<std::unique_ptr<trace::Stream>> streams;
		for (samples::StreamWriter &writer : writers)
			streams.push_back(samples::stream("s", writer.bytes()));
		return trace::Trace(description, std::move(streams));
	};
	trace::Trace trace = make(), again = make();
	read(trace, info, data[0]);
	analyze::check(again, info);
	report::summary_text(report::summarize(again, info));
	return 0;
}
