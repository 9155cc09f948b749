// SPDX-License-Identifier: MIT
// Any history of two CPUs, a program's own stream and a recorder, and any recording.json, through the fold, its
// observers (activities, counters, programs' activities), the checks and the tables. Four bytes are an event: kind, CPU
// and time step, two arguments. The input's first byte says how much of its end is recording.json, in pieces of eight
// bytes; none is replaced by one that a recording with counters could have written.
#include "../unit/samples.h"
#include "answers/check/check.h"
#include "answers/report/activities_table.h"
#include "answers/report/measurements_table.h"
#include "answers/report/summary.h"
#include "answers/report/usage_report.h"
#include "monitor/card.h"
#include "monitor/user_ring.h"
#include "reading/activities/totals.h"
#include "reading/analyze/counter_fold.h"
#include "reading/analyze/thread_fold.h"

using namespace monitor;

namespace {

struct Shape {
	const char *name, *fields;
	unsigned id = 0; // 0: the next one from 256 on
};

constexpr unsigned first_of_programs = 1024;

const Shape shapes[] = {
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
    {"counters", "u16_t reserved; u64_t a; u64_t b;", EDC_ID_COUNTERS},
    {"counters", "u16_t reserved; u64_t enabled; u64_t running; u64_t a; u64_t b;", EDC_ID_COUNTERS_SCALED},
    {"counters", "u16_t reserved; u64_t a;", EDC_ID_COUNTERS + 1},
    {"counters", "u16_t reserved; u64_t enabled; u64_t running; u64_t a;", EDC_ID_COUNTERS_SCALED + 1},
    {"thread", "u16_t arg; s32_t pid; s32_t tgid;", EDC_ID_WRITER_THREAD},
    {"a_begin", "u16_t arg;", first_of_programs},
    {"a_end", "u16_t arg; u64_t bytes;", first_of_programs + 1},
    {"b_begin", "range_t arg;", first_of_programs + 2},
    {"b_end", "u16_t arg;", first_of_programs + 3},
};

unsigned id_of(std::size_t kind)
{
	return shapes[kind].id ? shapes[kind].id : 256 + static_cast<unsigned>(kind);
}

std::unique_ptr<const trace::Description> describe()
{
	std::string text;
	for (std::size_t kind = 0; kind < std::size(shapes); ++kind)
		text += samples::event_block(id_of(kind), shapes[kind].name, shapes[kind].fields);
	return samples::description(text);
}

constexpr const char *plain_recording =
    R"({"version":1,"state":"complete","command_pid":3,"start":{"time":5},"end":{"time":4000000000},
	"programs":["sys_enter","sys_exit","page_fault_user","minor_fault","irq_handler_entry"],
	"kernel_counts":{"start":{"before":5,"after":6,"context_switches":1,"interrupts":1,"steal_ns":[0,1]},
	"end":{"before":900,"after":901,"context_switches":9,"interrupts":3,"steal_ns":[0]}},
	"classes":[{"id":256,"name":"sched_switch","family":"sched","seen":4,"refused":1,"too_deep":0,"filtered":0}],
	"counters":{"every_ns":1000,"notes":["a note"],"sets":[
	{"id":324,"scaled_id":332,"counters":[{"name":"a","unit":"","field":"a"},{"name":"b","unit":"ns","field":"b"}]},
	{"id":325,"scaled_id":333,"counters":[{"name":"a","unit":"","field":"a"}]}],
	"measurements":[
	{"name":"r","unit":"","per":"counters","numerator":[{"counter":0,"factor":2}],"denominator":[{"counter":1,"factor":1}]},
	{"name":"t","unit":"%","per":"time","numerator":[{"counter":1,"factor":1}]},
	{"name":"s","unit":"/s","per":"seconds","numerator":[{"counter":2,"factor":64}]},
	{"name":"o","unit":"","per":"occurrences","numerator":[{"counter":0,"factor":1},{"counter":2,"factor":1}]},
	{"name":"n","unit":"","per":"nothing","numerator":[{"counter":2,"factor":1}]},
	{"name":"m","unit":"","per":"nothing","missing":"no PMU"}],
	"readings":{"start":[{"cpu":0,"set":0,"time":6,"enabled_ns":10,"running_ns":10,"values":[1,2]},
	{"cpu":1,"set":1,"time":7,"enabled_ns":10,"running_ns":9,"values":[3]}],
	"end":[{"cpu":0,"set":0,"time":3000000000,"enabled_ns":90,"running_ns":80,"values":[5,9]},
	{"cpu":1,"set":1,"time":3000000001,"enabled_ns":99,"running_ns":50,"values":[7]}]}}})";

std::vector<samples::StreamWriter> write(const trace::Description &description, const unsigned char *data,
					 std::size_t size)
{
	std::vector<samples::StreamWriter> streams;
	streams.emplace_back(EDC_CPU_UNKNOWN, 0);
	streams.emplace_back(0, 0);
	streams.emplace_back(1, 0);
	streams.emplace_back(0, EDC_LEVEL_USER);
	std::uint64_t time = 0, discarded = 0;
	for (samples::StreamWriter &stream : streams)
		stream.open(0);
	for (; size >= 4; data += 4, size -= 4) {
		const unsigned kind = data[0] % std::size(shapes);
		const bool of_program = id_of(kind) >= first_of_programs || id_of(kind) == EDC_ID_THREAD;
		samples::StreamWriter &stream = streams[of_program ? 3 : data[1] % 3];
		time += std::uint64_t{data[1]} << data[1] % 24;
		const std::size_t bytes = description.by_id(id_of(kind))->size_bytes;
		if (data[0] > 250 || stream.room() < bytes)
			stream.open(time, discarded += data[0] > 250);
		stream.post(time, id_of(kind), data[2]);
		for (std::size_t word = 8; word < bytes; word += 8)
			stream.put_word((data[3] & 7u) | std::uint64_t{data[2]} << (word == 8 ? 32 : data[3] >> 2));
	}
	return streams;
}

// What threads, idle and unknown have is what the CPUs have, counter by counter.
void require_balance(const analyze::CounterFold &fold)
{
	for (const auto &[number, part] : fold.parts()) {
		analyze::CounterSums sum = part.unknown, of_cpus = fold.none();
		for (const auto &[thread, cgroups] : part.threads)
			sum += part.of(*thread);
		for (const auto &[number, cpu] : part.cpus)
			of_cpus += cpu;
		if (sum.counts != of_cpus.counts || sum.ticks != of_cpus.ticks || sum.missed_ns != of_cpus.missed_ns)
			std::abort();
	}
}

void read(trace::Trace &trace, const analyze::RecordingInfo &info, unsigned flags)
{
	analyze::ThreadFold fold(trace, info);
	analyze::CounterFold counters(trace.description(), info.counters.value_or(analyze::CountersInfo{}),
				      fold.window_begin(), flags & 8 ? 1ull << 32 : 0);
	fold.add(counters);
	using activities::Label;
	constexpr Label labels[] = {Label::process, Label::thread, Label::argument};
	const Label by = labels[flags % 3];
	activities::Tracker tracker(analyze::input_of(trace, info), fold, {by == Label::argument, &counters});
	activities::Totals calls({activities::ActivitySource::system_call, {Label::process, Label::call}}, fold,
				 tracker);
	activities::Totals sleeps({activities::ActivitySource::blocked, {Label::thread, Label::call, Label::waker}},
				  fold, tracker);
	activities::Totals programs({activities::ActivitySource::program, {Label::activity, by}}, fold, tracker,
				    &counters);
	for (activities::Totals *totals : {&calls, &sleeps, &programs})
		tracker.add(*totals);
	fold.add(tracker);
	feed(trace, fold);
	tracker.finish();
	counters.finish(fold);
	require_balance(counters);
	for (const analyze::Cpu &cpu : fold.cpus())
		if (fold.window_end() >= fold.window_begin() &&
		    cpu.usage.cpu() + cpu.idle != fold.window_end() - fold.window_begin())
			std::abort(); // a CPU's times are its window
	const trace::Clock &clock = trace.description().clock;
	report::UsageOptions options;
	options.grouping.by = static_cast<report::GroupBy>(flags % 5);
	options.grouping.filtering = info.filtering();
	report::to_text(report::usage_table(fold, clock, options));
	report::to_json(report::cpu_table(fold, clock, info, options.recorded));
	const report::KnownShares known = report::known_shares(info);
	report::to_csv(report::activities_table(calls, calls.rows(), clock, known));
	report::to_text(report::activities_table(sleeps, sleeps.rows(), clock, known));
	report::to_csv(report::activities_table(programs, programs.rows(), clock, known, &counters.info()));
	report::unpaired_text(programs);
	const report::Table ratios =
	    report::measurements_table(counters, fold, clock, {options.grouping, flags & 8 ? 1ull << 32 : 0});
	report::provenance_text(counters.info(), ratios);
	report::provenance_json(counters.info(), ratios);
	report::to_json(ratios);
	report::to_text(report::without_exact(ratios));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	if (size < 1)
		return 0;
	const std::size_t json_bytes = std::min<std::size_t>(data[0] * 8u, size - 1);
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
	check::judge(again, info);
	report::summary_text(report::summarize(again, info));
	return 0;
}
