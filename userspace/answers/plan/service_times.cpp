// SPDX-License-Identifier: MIT
#include "service_times.h"

#include <algorithm>
#include <vector>

#include "fit.h"
#include "reading/events/field_ref.h"
#include "reading/events/merge.h"
#include "unanswerable.h"

namespace monitor::plan {
namespace {

struct Pass {
	Nanoseconds start = 0;
	std::uint64_t cpu_ns = 0, blocks = 0, free_blocks = 0, empty_passes = 0, empty_cpu_ns = 0;
};
struct Write {
	std::uint64_t wall_ns = 0, cpu_ns = 0, blocks = 0;
};

// The recorder's own events of one class.
class Tokens {
public:
	Tokens(const trace::Trace &trace, const char *name) : trace_(trace)
	{
		for (const auto &cls : trace.description().classes())
			if (cls->name == name)
				cls_ = cls.get();
	}
	bool includes(const trace::Event &event) const { return event.cls == cls_; }
	std::uint64_t value(const trace::Event &event, const char *field) const
	{
		return trace::FieldRef(*cls_, field).get(event);
	}
	Nanoseconds time(const trace::Event &event, const char *field) const
	{
		const std::uint64_t ticks = value(event, field), begin = trace_.first_time();
		return ticks < begin ? 0 : static_cast<Nanoseconds>(trace_.description().clock.to_ns(ticks - begin));
	}

private:
	const trace::Trace &trace_;
	const trace::EventClass *cls_ = nullptr;
};

struct Work {
	std::vector<Pass> passes;
	std::vector<Write> writes;
};

Work read_work(trace::Trace &trace)
{
	const Tokens passes(trace, "drain_pass"), writes(trace, "block_write");
	Work work;
	trace::merge(trace, {}, [&](const trace::Event &event) {
		if (passes.includes(event))
			work.passes.push_back({passes.time(event, "start"), passes.value(event, "cpu_ns"),
					       passes.value(event, "blocks"), passes.value(event, "free_blocks"),
					       passes.value(event, "empty_passes"),
					       passes.value(event, "empty_cpu_ns")});
		else if (writes.includes(event))
			work.writes.push_back({writes.value(event, "wall_ns"), writes.value(event, "cpu_ns"),
					       writes.value(event, "blocks")});
	});
	return work;
}

void fit_passes(const std::vector<Pass> &passes, const Arrivals &arrivals, ServiceTimes &times)
{
	std::vector<Row> rows;
	double empty = 0, empty_ns = 0;
	std::uint64_t min_free = passes.front().free_blocks + passes.front().blocks;
	auto closed = arrivals.program_closes.begin(); // the first block that was not closed before the pass
	for (const Pass &pass : passes) {
		const auto until = std::upper_bound(closed, arrivals.program_closes.end(), pass.start);
		const double of_programs =
		    std::min<double>(static_cast<double>(until - closed), static_cast<double>(pass.blocks));
		closed = until;
		const std::uint64_t fresh = min_free - std::min(pass.free_blocks, min_free);
		min_free -= fresh;
		rows.push_back({1, static_cast<double>(pass.blocks) - of_programs, of_programs,
				static_cast<double>(fresh), static_cast<double>(pass.cpu_ns)});
		empty += static_cast<double>(pass.empty_passes);
		empty_ns += static_cast<double>(pass.empty_cpu_ns);
	}
	const auto factor = fit(rows);
	times.pass = factor[0];
	times.kernel_block = factor[1];
	times.user_block = factor[2];
	times.fresh_block = factor[3];
	times.empty_pass = empty > 0 ? empty_ns / empty : times.pass;
}

void fit_writes(const std::vector<Write> &writes, ServiceTimes &times)
{
	std::vector<Row> cpu, waiting;
	for (const Write &write : writes) {
		const auto blocks = static_cast<double>(write.blocks);
		cpu.push_back({1, blocks, 0, 0, static_cast<double>(write.cpu_ns)});
		waiting.push_back(
		    {1, blocks, 0, 0, static_cast<double>(write.wall_ns - std::min(write.cpu_ns, write.wall_ns))});
	}
	const auto cpu_factor = fit(cpu), waiting_factor = fit(waiting);
	times.write = cpu_factor[0];
	times.written_block = cpu_factor[1];
	times.waiting = waiting_factor[0];
	times.waiting_block = waiting_factor[1];
}

// Of one event, in ns; negative: it costs more than a stored one.
double saved_by_discarding(const recording_file::Calibration &calibration)
{
	constexpr double max_ns = 10'000; // the file is untrusted
	const auto &costs = calibration.start.empty() && calibration.end ? *calibration.end : calibration.start;
	const auto stored = costs.find("syscall"), discarded = costs.find("discarded");
	if (stored == costs.end() || discarded == costs.end() || !stored->second.rounds || !discarded->second.rounds)
		return 0;
	return std::clamp(stored->second.median - discarded->second.median, -max_ns, max_ns);
}

} // namespace

double saved_by_lost_word(const analyze::RecordingInfo &info, const Arrivals &arrivals)
{
	double tokens = 0, words = 0;
	for (const auto &counts : info.classes)
		tokens += static_cast<double>(counts.written());
	for (const auto &of_cpu : arrivals.steps)
		for (const Step &step : of_cpu)
			if (step.ring != Step::no_ring && arrivals.rings[step.ring].is_kernel())
				words += step.words;
	if (words <= 0 || !info.calibration)
		return 0;
	return saved_by_discarding(*info.calibration) * std::min(tokens / words, 1.);
}

ServiceTimes read_service_times(trace::Trace &trace, const analyze::RecordingInfo &info, const Arrivals &arrivals)
{
	const Work work = read_work(trace);
	if (work.passes.empty() || work.writes.empty())
		throw Unanswerable(
		    "this recording does not say how long its recorder's passes and writes took "
		    "(drain_pass, block_write): record it again, with this version and for a second at least");
	ServiceTimes times;
	fit_passes(work.passes, arrivals, times);
	fit_writes(work.writes, times);
	std::uint64_t known = 0;
	for (const Pass &pass : work.passes)
		known += pass.cpu_ns + pass.empty_cpu_ns;
	for (const Write &write : work.writes)
		known += write.cpu_ns;
	times.other_cpu = static_cast<Nanoseconds>(info.recorder.cpu_ns - std::min(known, info.recorder.cpu_ns));
	times.saved_by_lost_word = saved_by_lost_word(info, arrivals);
	return times;
}

} // namespace monitor::plan
