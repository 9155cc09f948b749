// SPDX-License-Identifier: MIT
#include "folded.h"

#include "module.h"
#include "reading/analyze/measure.h"
#include "reading/analyze/recorded.h"
#include "reading/events/merge.h"

namespace monitor::query {
namespace {

using analyze::Mode;

Value count(std::uint64_t value)
{
	return static_cast<std::int64_t>(value);
}

Value if_recorded(bool recorded, std::uint64_t value)
{
	return recorded ? count(value) : Value();
}

// A measurement's value, unit, provenance, share of time and upper bound.
void add_measured(std::vector<Value> &row, const analyze::Measurement &measurement, const analyze::Measured &measured)
{
	const double scale = measurement.unit == "%" ? 100 : 1;
	const char *provenance = !measured.value && !measured.below ? "n/a"
				 : measurement.ratio                ? "ratio"
				 : measured.counting < 1            ? "scaled"
								    : "counted";
	row.push_back(measured.value ? Value(*measured.value * scale) : Value());
	row.push_back(text_or_null(measurement.unit));
	row.emplace_back(std::string(provenance));
	row.push_back(measured.value ? Value(measured.counting * 100) : Value());
	row.push_back(measured.below ? Value(*measured.below * scale) : Value());
}

} // namespace

// Reads the whole trace.
template <class OnEvent, class OnGap> void Folded::read(OnEvent on_event, OnGap on_gap)
{
	constexpr std::uint64_t check_interval = 4096;
	std::uint64_t read = 0;
	trace::merge(
	    context_.trace, {},
	    [&](const trace::Event &event) -> bool {
		    on_event(event);
		    return ++read % check_interval != 0 || !context_.interrupted;
	    },
	    on_gap);
	context_.events_decoded += read;
	if (context_.interrupted)
		throw Interrupted();
}

const std::vector<std::uint64_t> &Folded::counts()
{
	if (!counts_) {
		std::vector<std::uint64_t> counted(context_.trace.description().classes().size());
		read([&](const trace::Event &event) { ++counted[event.cls->index]; },
		     [](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t) {});
		counts_ = std::move(counted);
	}
	return *counts_;
}

const char *Folded::thread_columns()
{
	return "tid INTEGER, tgid INTEGER, name TEXT, process TEXT, parent INTEGER, is_kernel INTEGER, is_recorded "
	       "INTEGER, is_hidden INTEGER, born_ns INTEGER, cpu_ns INTEGER, user_ns INTEGER, kernel_ns INTEGER, "
	       "irq_ns INTEGER, softirq_ns INTEGER, unattributed_ns INTEGER, unknown_ns INTEGER, waiting_ns INTEGER, "
	       "blocked_ns INTEGER, voluntary INTEGER, involuntary INTEGER, migrations INTEGER, syscalls INTEGER, "
	       "minor_faults INTEGER, major_faults INTEGER, throttled_ns INTEGER";
}

std::vector<Value> Folded::row_of(const analyze::ThreadFold &thread_fold, const analyze::Thread &thread) const
{
	const trace::Clock &clock = context_.trace.description().clock;
	const auto ns = [&](std::uint64_t ticks) { return thread.hidden ? Value() : count(clock.to_ns(ticks)); };
	const analyze::Recorded recorded = analyze::recorded(context_.trace, context_.info, thread_fold.kinds());
	const analyze::Usage &usage = thread.usage;
	const auto mode_time = [&](Mode mode) { return recorded.knows(usage, mode) ? ns(usage[mode]) : Value(); };
	const bool is_fully_known = !thread.filtered && !thread.hidden;
	return {std::int64_t(thread.tid),
		std::int64_t(thread.tgid),
		text_or_null(thread.name),
		text_or_null(thread_fold.leader(thread).name),
		std::int64_t(thread.parent),
		std::int64_t(thread.is_kernel),
		std::int64_t(thread.in_tree),
		std::int64_t(thread.hidden),
		thread.born ? Value(context_.time_ns(thread.born)) : Value(),
		ns(usage.cpu()),
		mode_time(Mode::user),
		mode_time(Mode::kernel),
		mode_time(Mode::irq),
		mode_time(Mode::softirq),
		ns(usage[Mode::unattributed]),
		ns(usage[Mode::unknown]),
		recorded.wakings && is_fully_known ? ns(usage.waiting) : Value(),
		recorded.wakings && is_fully_known ? ns(usage.blocked) : Value(),
		if_recorded(!thread.hidden, usage.voluntary),
		if_recorded(!thread.hidden, usage.involuntary),
		if_recorded(recorded.migrations && is_fully_known, usage.migrations),
		if_recorded(recorded.calls && is_fully_known, usage.syscalls),
		if_recorded(recorded.faults && is_fully_known, usage.minor_faults),
		if_recorded(recorded.faults && is_fully_known, usage.major_faults),
		recorded.throttled && is_fully_known ? ns(usage.throttled) : Value()};
}

const char *Folded::ratio_columns()
{
	return "name TEXT, tid INTEGER, tgid INTEGER, thread TEXT, value REAL, unit TEXT, provenance TEXT, "
	       "counting_percent REAL, below REAL";
}

void Folded::add_ratios(Rows &rows, const analyze::ThreadFold &thread_fold, const analyze::CounterFold &fold) const
{
	analyze::CounterSums idle = fold.none();
	const auto add = [&](std::vector<Value> who, const analyze::CounterSums &sums) {
		for (const analyze::Measurement &measurement : fold.info().measurements) {
			std::vector<Value> row = {measurement.name};
			row.insert(row.end(), who.begin(), who.end());
			add_measured(
			    row, measurement,
			    analyze::measure(measurement, sums, fold.info(), context_.trace.description().clock));
			rows.push_back(std::move(row));
		}
	};
	for (const auto &[number, part] : fold.parts()) {
		for (const analyze::Thread &thread : thread_fold.threads())
			if (part.threads.contains(&thread)) {
				if (thread.tid == 0)
					idle += part.of(thread);
				else
					add({std::int64_t(thread.tid), std::int64_t(thread.tgid),
					     text_or_null(thread.name)},
					    part.of(thread));
			}
		add({std::int64_t(0), std::int64_t(0), std::string("idle")}, idle);
		add({Value(), Value(), Value()}, part.unknown);
	}
}

// Makes both tables at once, as the fold takes most of the time.
void Folded::fold()
{
	analyze::ThreadFold thread_fold(context_.trace, context_.info);
	std::optional<analyze::CounterFold> counters;
	if (context_.info.counters) {
		counters.emplace(context_.trace.description(), *context_.info.counters, thread_fold.window_begin());
		thread_fold.add(*counters);
	}
	read([&](const trace::Event &event) { thread_fold.event(event); },
	     [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		     thread_fold.gap(stream, from, to);
	     });
	thread_fold.finish();
	auto threads = std::make_shared<Rows>(), ratios = std::make_shared<Rows>();
	for (const analyze::Thread &thread : thread_fold.threads())
		if (thread.tid != 0)
			threads->push_back(row_of(thread_fold, thread));
	if (counters) {
		counters->finish(thread_fold);
		add_ratios(*ratios, thread_fold, *counters);
	}
	threads_ = threads;
	ratios_ = ratios;
}

std::shared_ptr<const Rows> Folded::threads()
{
	if (!threads_)
		fold();
	return threads_;
}

std::shared_ptr<const Rows> Folded::ratios()
{
	if (!ratios_)
		fold();
	return ratios_;
}

} // namespace monitor::query
