// SPDX-License-Identifier: MIT
#include "figures.h"

namespace monitor::metrics {

RowFigures &RowFigures::operator+=(const RowFigures &other)
{
	for (std::size_t i = 0; i < cpu.size(); ++i)
		cpu[i] += other.cpu[i];
	waiting += other.waiting;
	throttled += other.throttled;
	blocked += other.blocked;
	voluntary += other.voluntary;
	involuntary += other.involuntary;
	migrations += other.migrations;
	calls += other.calls;
	minor_faults += other.minor_faults;
	major_faults += other.major_faults;
	run_queue += other.run_queue;
	return *this;
}

void MachineFigures::add(const live::MachineTotals &totals, double seconds_per_tick)
{
	for (std::size_t i = 0; i < analyze::modes; ++i)
		cpu[i] += static_cast<double>(totals.usage.ticks[i]) * seconds_per_tick;
	idle += static_cast<double>(totals.idle) * seconds_per_tick;
	switches += totals.switches;
	wakings += totals.wakings;
	migrations += totals.migrations;
	calls += totals.calls;
	minor_faults += totals.minor_faults;
	major_faults += totals.major_faults;
	events += totals.events;
	for (const auto &[name, count] : totals.interrupts_by_class)
		interrupts[name] += count;
}

} // namespace monitor::metrics
