// SPDX-License-Identifier: MIT
#include "counted_periods.h"

#include <algorithm>

#include "base/own_cpu_time.h"
#include "recording/card/classes.h"
#include "recording/card/program_names.h"
#include "recording/rings/control_stream.h"

namespace monitor::record {
namespace {

std::uint64_t rounded_to_ms(std::uint64_t ns)
{
	constexpr std::uint64_t ms = 1'000'000;
	return (ns + ms / 2) / ms * ms;
}

} // namespace

void CountedPeriods::start(const std::string &directory, const Sync &begin, const PeriodFiles::Ages &ages)
{
	files_ = std::make_unique<PeriodFiles>(directory, options_.keep_ns, ages);
	for (const std::string &program : card_.attached())
		attached_.insert(card::class_of(program));
	since_ = edge_at(begin, begin.realtime_ns);
	before_ = since_.counts;
	first_due_ns_ = begin.monotonic_ns + options_.period_ns - begin.realtime_ns % options_.period_ns;
}

std::chrono::steady_clock::time_point CountedPeriods::due() const
{
	return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(first_due_ns_));
}

CountedPeriods::Edge CountedPeriods::edge_at(const Sync &at, std::uint64_t wall_ns)
{
	Edge edge{at, wall_ns, own_cpu_time_ns(), reader_.read()};
	reads_.max_width_ns = std::max(reads_.max_width_ns, read_clock_().monotonic_ns - at.monotonic_ns);
	return edge;
}

// Periods missed while the recorder did not run are merged into one.
void CountedPeriods::end_period(const Sync &now)
{
	const std::uint64_t late_ns = now.monotonic_ns - std::min(now.monotonic_ns, first_due_ns_),
			    passed_ns = late_ns - late_ns % options_.period_ns;
	reads_.max_late_ns = std::max(reads_.max_late_ns, late_ns - passed_ns);
	Edge edge = edge_at(now, rounded_to_ms(now.realtime_ns - (late_ns - passed_ns)));
	write(edge, nullptr);
	since_ = std::move(edge);
}

void CountedPeriods::finish()
{
	write(*end_, &reader_.read());
	files_->finish();
}

// `after`: for the last period, the counts after the probes stopped; else null.
void CountedPeriods::write(const Edge &until, const CountsByClass *after)
{
	PeriodFiles::Period period;
	period.begin_wall_ns = static_cast<std::int64_t>(since_.wall_ns);
	period.end_ns = static_cast<std::int64_t>(until.at.monotonic_ns);
	period.description = describe_();
	const auto keep = [&](const std::byte *block) {
		period.blocks.insert(period.blocks.end(), block, block + EDC_BLOCK_SIZE);
	};
	ControlStream stream(uuid_, keep, number_++);
	const auto post = [&](std::uint32_t id, std::uint64_t time, std::uint32_t argument,
			      std::initializer_list<std::uint64_t> words) {
		time += time_shift_;
		stream.repeat(edc_token(id, EDC_MODE_KERNEL, time, argument), {words.begin(), words.size()}, time);
	};
	// The first and the last period include losses outside of the periods.
	const std::uint64_t lost =
	    (after ? after->lost : until.counts.lost) - (std::exchange(has_before_, false) ? 0 : since_.counts.lost);
	post(EDC_ID_STATISTICS_PERIOD, since_.at.time, lost ? EDC_PERIOD_LOSSY : 0,
	     {until.at.time + time_shift_, lost, 0, until.recorder_ns - since_.recorder_ns});
	for (const card::ClassRow &row : card::kernel_classes()) {
		const unsigned slot = row.id - EDC_ID_KERNEL_FIRST;
		const std::uint64_t number = until.counts.number[slot] - since_.counts.number[slot];
		if (number || attached_.contains(row.name)) // write counts of 0, too
			post(EDC_ID_STATISTICS_EVENTS, until.at.time, row.id, {number});
		const std::uint64_t outside =
		    before_.number[slot] + (after ? after->number[slot] - until.counts.number[slot] : 0);
		if (outside)
			post(EDC_ID_STATISTICS_EVENTS, until.at.time, row.id | EDC_EVENTS_OUTSIDE, {outside});
	}
	before_ = {};
	stream.flush();
	files_->add(std::move(period));
}

} // namespace monitor::record
