// SPDX-License-Identifier: MIT
#include "arrivals.h"

#include <algorithm>
#include <map>
#include <optional>

#include "monitor/card.h"
#include "reading/analyze/scheduling.h"
#include "reading/events/merge.h"
#include "reading/events/threads.h"
#include "unanswerable.h"

namespace monitor::plan {
namespace {

constexpr Nanoseconds min_idle = 2000; // shorter stays in the idle thread are part of a switch
constexpr std::size_t max_latencies = 20'000;
constexpr std::uint32_t max_cpus = 64; // bits of a CPU mask of the simulation

// A block of a ring was closed.
struct ClosedBlock {
	Nanoseconds time = 0;
	std::uint32_t ring = 0, words = 0;
};

// Converts from ticks to ns since the trace began.
class TraceTime {
public:
	explicit TraceTime(const trace::Trace &trace) : clock_(trace.description().clock), begin_(trace.first_time()) {}
	Nanoseconds operator()(std::uint64_t ticks) const
	{
		return ticks < begin_ ? 0 : static_cast<Nanoseconds>(clock_.to_ns(ticks - begin_));
	}

private:
	const trace::Clock &clock_;
	std::uint64_t begin_;
};

// The name without the CPU: user_4711 or user_4711_card2 is one program, user_merged and user_shared are several.
std::string program_of(const std::string &stream)
{
	const std::size_t end = stream.rfind("_cpu");
	return end == std::string::npos ? stream : stream.substr(0, end);
}

void check_recording(const trace::Trace &trace, const analyze::RecordingInfo &info)
{
	const bool is_lossy = info.lost() || (info.user_card && (info.user_card->discarded || info.user_card->early));
	if (trace.is_generic_ctf() || !info.present)
		throw Unanswerable("this is not a recording of monitor's: nothing is known of its rings");
	if (!info.complete())
		throw Unanswerable("this recording did not end by itself: what was in its rings then is not known");
	if (is_lossy)
		throw Unanswerable("Events were lost in this recording: its arrivals are not known.");
	if (info.flight || info.statistics)
		throw Unanswerable("a recording by --flight or --statistics does not pass through rings to files: "
				   "record without it");
	if (info.phase_marks() || info.paused())
		throw Unanswerable(
		    "while this was recorded, events were left out for some time (--calibrate, or a trigger "
		    "that stops): what would have arrived then is not known");
}

// Finds the rings of the trace's streams, and when each block was closed, by CPU.
class RingReader {
public:
	RingReader(const trace::Trace &trace, const TraceTime &time, Arrivals &arrivals)
	    : time_(time), arrivals_(arrivals), by_cpu_(max_cpus)
	{
		for (const bool is_user : {false, true}) // a drain pass looks at the kernel's rings first
			for (const auto &stream : trace.streams())
				if (!stream->is_foreign() && !stream->info().is_recorder() &&
				    stream->info().is_user() == is_user)
					read(*stream);
		for (auto &closes : by_cpu_)
			std::ranges::stable_sort(closes, {}, &ClosedBlock::time);
		std::ranges::sort(arrivals.program_closes);
	}

	const std::vector<ClosedBlock> &closed_on(std::uint32_t cpu) const { return by_cpu_[cpu]; }

private:
	void read(const trace::Stream &stream)
	{
		const trace::StreamInfo &info = stream.info();
		if (!info.has_cpu() || info.name.starts_with("user_merged"))
			throw Unanswerable(
			    "events of several rings are in one stream of this recording ({}): when each ring "
			    "was filled is not known",
			    info.name);
		if (info.cpu >= max_cpus || (!info.is_user() && info.level >= EDC_CARD_RINGS))
			throw Unanswerable(
			    "stream {} of this recording is of CPU {} and level {}, of which nothing is known",
			    info.name, info.cpu, info.level);
		const auto number = static_cast<std::uint32_t>(arrivals_.rings.size());
		RecordedRing ring{info.cpu, info.level, info.is_user() ? program_of(info.name) : "", 0, 0};
		arrivals_.has_slots |= ring.is_kernel() && ring.level >= EDC_CARD_LEVELS;
		trace::PacketHead head;
		for (std::uint64_t i = 0; i < stream.packets(); ++i) {
			if (stream.read_head(i, head))
				continue; // merge() reports it
			const Nanoseconds end = time_(stream.time(head.end));
			if (i == 0)
				ring.begin = time_(stream.time(head.begin));
			ring.end = end;
			const std::uint64_t bits = head.content_bits - std::min(head.first_bits, head.content_bits);
			if (!ring.is_kernel())
				arrivals_.program_closes.push_back(end);
			by_cpu_[info.cpu].push_back({end, number, static_cast<std::uint32_t>(bits / 64)});
		}
		arrivals_.rings.push_back(std::move(ring));
	}

	const TraceTime &time_;
	Arrivals &arrivals_;
	std::vector<std::vector<ClosedBlock>> by_cpu_;
};

// Makes steps of what ran on a CPU, in the order of time.
class CpuLoad {
public:
	CpuLoad(const std::vector<ClosedBlock> &closes, std::vector<Step> &steps) : closes_(closes), steps_(steps) {}

	enum class Ran { idle, recorder, load };

	void ran(Ran what, Nanoseconds from, Nanoseconds to)
	{
		if (what != Ran::load) {
			is_idle_ |= what == Ran::idle && to - from > min_idle;
			for (; next_ < closes_.size() && closes_[next_].time <= to; ++next_)
				close_without_work(what == Ran::idle);
			return;
		}
		if (is_idle_) {
			flush();
			release_ = from;
			is_idle_ = false;
		}
		for (; next_ < closes_.size() && closes_[next_].time <= to; ++next_) {
			const Nanoseconds until = std::max(from, closes_[next_].time);
			work_ += until - from;
			from = until;
			close();
		}
		work_ += to - from;
	}
	void end()
	{
		for (; next_ < closes_.size(); ++next_)
			close();
		flush();
	}

private:
	// The block was closed by an interrupt of the idle CPU, or while the recorder ran.
	void close_without_work(bool is_idle)
	{
		if (is_idle) {
			flush();
			release_ = closes_[next_].time;
		}
		close();
	}
	void close()
	{
		steps_.push_back({release_, work_, closes_[next_].ring, closes_[next_].words});
		work_ = release_ = 0;
	}
	void flush()
	{
		if (work_ > 0)
			steps_.push_back({release_, work_, Step::no_ring, 0});
		work_ = release_ = 0;
	}

	const std::vector<ClosedBlock> &closes_;
	std::vector<Step> &steps_;
	std::size_t next_ = 0;
	Nanoseconds release_ = 0, work_ = 0;
	bool is_idle_ = true;
};

// Tracks which thread runs on each CPU, and when those of the recorder are woken.
class Switches {
public:
	Switches(const trace::Trace &trace, const analyze::RecordingInfo &info, const RingReader &rings,
		 const TraceTime &time, Arrivals &arrivals)
	    : threads_(trace), recorder_(info.recorder.pid), time_(time), arrivals_(arrivals),
	      running_(arrivals.steps.size())
	{
		for (const auto &cls : trace.description().classes())
			if (cls->name == "sched_switch") {
				switch_ = cls.get();
				prev_ = trace::FieldRef(*cls, "prev_pid");
				next_ = trace::FieldRef(*cls, "next_pid");
			} else if (cls->name == "sched_waking") {
				waking_ = cls.get();
				woken_ = trace::FieldRef(*cls, "pid");
			}
		for (std::uint32_t cpu = 0; cpu < arrivals.steps.size(); ++cpu)
			loads_.emplace_back(rings.closed_on(cpu), arrivals.steps[cpu]);
	}

	void event(const trace::Event &event)
	{
		threads_.before(event);
		if (event.cls == switch_)
			switched(event.stream->cpu, time_(event.time), prev_.get<std::int32_t>(event),
				 next_.get<std::int32_t>(event));
		else if (event.cls == waking_ && is_recorder(woken_.get<std::int32_t>(event)))
			woken_at_[woken_.get<std::int32_t>(event)] = time_(event.time);
		threads_.after(event);
	}
	void end(Nanoseconds time)
	{
		for (std::uint32_t cpu = 0; cpu < loads_.size(); ++cpu) {
			switched(cpu, time, 0, 0);
			loads_[cpu].end();
		}
	}

private:
	struct Running {
		Nanoseconds since = 0;
		std::optional<std::int32_t> tid; // none: before the first switch
	};

	bool is_recorder(std::int32_t tid) const { return threads_.process(tid, 0) == recorder_; }
	void switched(std::uint32_t cpu, Nanoseconds time, std::int32_t prev, std::int32_t next)
	{
		if (cpu >= running_.size())
			return;
		Running &running = running_[cpu];
		const std::int32_t ran = running.tid.value_or(prev);
		const auto what = ran == 0           ? CpuLoad::Ran::idle
				  : is_recorder(ran) ? CpuLoad::Ran::recorder
						     : CpuLoad::Ran::load;
		loads_[cpu].ran(what, running.since, time);
		if (what == CpuLoad::Ran::recorder)
			arrivals_.recorder_time[cpu] += time - running.since;
		woken_at_.erase(ran); // woken while it ran: no latency
		running = {time, next};
		const auto woken = woken_at_.find(next);
		if (woken == woken_at_.end())
			return;
		if (arrivals_.latencies.size() < max_latencies)
			arrivals_.latencies.push_back(time - woken->second);
		woken_at_.erase(woken);
	}

	trace::Threads threads_;
	std::int64_t recorder_;
	const TraceTime &time_;
	Arrivals &arrivals_;
	const trace::EventClass *switch_ = nullptr, *waking_ = nullptr;
	trace::FieldRef prev_, next_, woken_;
	std::vector<CpuLoad> loads_;
	std::vector<Running> running_;
	std::map<std::int32_t, Nanoseconds> woken_at_; // threads of the recorder that have not run since
};

} // namespace

Arrivals read_arrivals(trace::Trace &trace, const analyze::RecordingInfo &info)
{
	check_recording(trace, info);
	analyze::expect_scheduling(trace, info, "this recording");
	analyze::expect_window(trace.first_time(), trace.end_time());
	if (info.cpus > max_cpus)
		throw Unanswerable("a machine of more than {} CPUs is not simulated", max_cpus);
	const TraceTime time(trace);
	Arrivals arrivals;
	const RingReader rings(trace, time, arrivals);
	std::uint64_t cpus = info.cpus;
	for (const RecordedRing &ring : arrivals.rings)
		cpus = std::max<std::uint64_t>(cpus, ring.cpu + 1);
	arrivals.steps.resize(std::clamp<std::uint64_t>(cpus, 1, max_cpus));
	arrivals.recorder_time.resize(arrivals.steps.size());
	arrivals.duration = time(trace.end_time());
	Switches switches(trace, info, rings, time, arrivals);
	bool is_lossy = false;
	trace::merge(
	    trace, {}, [&](const trace::Event &event) { switches.event(event); },
	    [&](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) { is_lossy = true; });
	if (is_lossy)
		throw Unanswerable("Events were lost in this recording: its arrivals are not known.");
	switches.end(arrivals.duration);
	// Without the longest: these include the wait for a busy CPU, which is simulated.
	std::ranges::sort(arrivals.latencies);
	arrivals.latencies.resize(arrivals.latencies.size() * 9 / 10);
	return arrivals;
}

} // namespace monitor::plan
