// SPDX-License-Identifier: MIT
#include "families.h"

#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace monitor::metrics {
namespace {

using Type = Exposition::Type;

constexpr const char *mode_names[analyze::modes] = {"user", "kernel", "irq", "softirq", "unattributed", "unknown"};

// A row as written. Unknown figures are left out.
struct ShownRow {
	Labels labels;
	const RowFigures &figures;
	double created_s;
	bool has_only_cpu = false; // and switches; other figures are unknown
};

class Families {
public:
	Families(const Figures &figures, Format format) : figures_(figures), out_(format) {}

	void about(const RecorderFigures &recorder);
	void machine();
	void rows();
	void calls();
	void retired();
	void cost(const RecorderFigures &recorder);
	std::string text() && { return std::move(out_).text(); }

private:
	using Kinds = std::vector<std::pair<const char *, std::uint64_t RowFigures::*>>;

	bool knows(const std::array<double, analyze::modes> &cpu, std::size_t mode) const;
	void modes(const Labels &labels, const std::array<double, analyze::modes> &cpu,
		   const std::function<void(const Labels &, double)> &write) const;
	std::vector<ShownRow> shown_rows();
	void row_counter(const std::vector<ShownRow> &rows, const char *name, const char *help, const char *label,
			 const Kinds &kinds, bool has_unselected = false);
	void one_counter(const char *name, const char *unit, const char *help, double value);
	void one_gauge(const char *name, const char *unit, const char *help, double value);
	const std::string &escaped(const std::string &text) { return texts_.emplace_back(label_value(text)); }

	const Figures &figures_;
	Exposition out_;
	std::deque<std::string> texts_; // storage of labels
};

Labels with(Labels labels, const char *name, std::string_view value)
{
	labels.push_back({name, value});
	return labels;
}

double number(std::uint64_t count)
{
	return static_cast<double>(count);
}

// Time that no tokens bracket is unattributed, so its mode is unknown.
bool Families::knows(const std::array<double, analyze::modes> &cpu, std::size_t mode) const
{
	const analyze::Recorded &recorded = figures_.recorded;
	switch (static_cast<analyze::Mode>(mode)) {
	case analyze::Mode::user:
		return cpu[mode] > 0 || (recorded.calls && recorded.faults);
	case analyze::Mode::kernel:
		return cpu[mode] > 0 || recorded.calls;
	case analyze::Mode::irq:
		return recorded.interrupts;
	case analyze::Mode::softirq:
		return recorded.softirqs;
	default:
		return true;
	}
}

void Families::modes(const Labels &labels, const std::array<double, analyze::modes> &cpu,
		     const std::function<void(const Labels &, double)> &write) const
{
	for (std::size_t mode = 0; mode < cpu.size(); ++mode)
		if (knows(cpu, mode))
			write(with(labels, "mode", mode_names[mode]), cpu[mode]);
}

void Families::one_counter(const char *name, const char *unit, const char *help, double value)
{
	out_.family(name, Type::counter, unit, help);
	out_.counter({}, value, figures_.start_s);
}

void Families::one_gauge(const char *name, const char *unit, const char *help, double value)
{
	out_.family(name, Type::gauge, unit, help);
	out_.gauge({}, value);
}

void Families::about(const RecorderFigures &recorder)
{
	out_.family("monitor", Type::info, "", "The monitor that counts, and the kernel.");
	out_.info({{"version", escaped(recorder.version)},
		   {"kernel", escaped(figures_.kernel)},
		   {"card", escaped(figures_.card)}});
	one_gauge("monitor_start_timestamp_seconds", "seconds", "When all counters began at 0, since the epoch.",
		  figures_.start_s);
	one_gauge("monitor_window_end_timestamp_seconds", "seconds", "Until when events are counted, since the epoch.",
		  figures_.end_s);
	one_counter("monitor_windows", "", "Parts of the time that were counted.", number(figures_.windows));
	one_counter("monitor_covered_seconds", "seconds", "Time that was counted.", figures_.covered_s);
	one_counter("monitor_incomplete_seconds", "seconds",
		    "Parts of that time in which events were lost: counts are lower bounds, times may be unknown.",
		    figures_.incomplete_s);
}

void Families::machine()
{
	const MachineFigures &machine = figures_.machine;
	const double start_s = figures_.start_s;
	one_gauge("monitor_cpus", "", "CPUs.", number(figures_.cpus));
	out_.family("monitor_machine_cpu_seconds", Type::counter, "seconds", "Time of all CPUs, by what they did.");
	modes({}, machine.cpu, [&](const Labels &labels, double value) { out_.counter(labels, value, start_s); });
	out_.counter({{"mode", "idle"}}, machine.idle, start_s);
	one_counter("monitor_machine_switches", "", "Switches of CPUs from one thread to another.",
		    number(machine.switches));
	if (figures_.recorded.wakings)
		one_counter("monitor_machine_wakings", "", "Wakings of threads.", number(machine.wakings));
	if (figures_.recorded.migrations)
		one_counter("monitor_machine_migrations", "", "Moves of threads to another CPU.",
			    number(machine.migrations));
	if (figures_.recorded.calls)
		one_counter("monitor_machine_calls", "", "System calls.", number(machine.calls));
	if (figures_.recorded.faults) {
		out_.family("monitor_machine_faults", Type::counter, "", "Page faults that were completed.");
		out_.counter({{"kind", "minor"}}, number(machine.minor_faults), start_s);
		out_.counter({{"kind", "major"}}, number(machine.major_faults), start_s);
	}
	if (!machine.interrupts.empty()) {
		out_.family("monitor_machine_interrupts", Type::counter, "",
			    "Interrupts, and softirqs if they are recorded.");
		for (const auto &[name, count] : machine.interrupts)
			out_.counter({{"interrupt", name}}, number(count), start_s);
	}
	out_.family("monitor_threads", Type::gauge, "",
		    "Threads by what they did when the last window ended: ready is without a CPU.");
	for (const auto &[state, count] : {std::pair{"running", figures_.now.running},
					   {"ready", figures_.now.ready},
					   {"blocked", figures_.now.blocked},
					   {"unknown", figures_.now.unknown}})
		out_.gauge({{"state", state}}, number(count));
	if (figures_.recorded.throttled)
		out_.gauge({{"state", "throttled"}}, number(figures_.now.throttled));
}

std::vector<ShownRow> Families::shown_rows()
{
	std::vector<ShownRow> rows;
	for (const auto &[who, series] : figures_.rows)
		rows.push_back({{{"cgroup", escaped(who.cgroup)}, {"command", escaped(who.command)}},
				series.value,
				series.created_s});
	const auto fixed = [&](const char *name, const RowFigures &figures, bool has_only_cpu) {
		rows.push_back({{{"cgroup", name}, {"command", name}}, figures, figures_.start_s, has_only_cpu});
	};
	fixed("other", figures_.other, false);
	fixed("unknown", figures_.unknown, false);
	fixed("idle", figures_.idle, true);
	if (figures_.is_filtering)
		fixed("unselected", figures_.unselected, true);
	return rows;
}

void Families::row_counter(const std::vector<ShownRow> &rows, const char *name, const char *help, const char *label,
			   const Kinds &kinds, bool has_unselected)
{
	out_.family(name, Type::counter, "", help);
	for (const ShownRow &row : rows)
		for (const auto &[kind, member] : kinds)
			if (!row.has_only_cpu || (has_unselected && &row.figures == &figures_.unselected))
				out_.counter(label ? with(row.labels, label, kind) : row.labels,
					     number(row.figures.*member), row.created_s);
}

void Families::rows()
{
	const std::vector<ShownRow> rows = shown_rows();
	out_.family("monitor_cpu_seconds", Type::counter, "seconds", "CPU time by cgroup, command and mode.");
	for (const ShownRow &row : rows)
		modes(row.labels, row.figures.cpu, [&](const Labels &labels, double value) {
			if (!row.has_only_cpu || value > 0)
				out_.counter(labels, value, row.created_s);
		});
	row_counter(rows, "monitor_switches",
		    "Switches away from threads: voluntary ones sleep; from_idle is a CPU that had nothing to do.",
		    "kind", {{"voluntary", &RowFigures::voluntary}, {"involuntary", &RowFigures::involuntary}}, true);
	out_.counter({{"cgroup", "idle"}, {"command", "idle"}, {"kind", "from_idle"}},
		     number(figures_.machine.idle_switches), figures_.start_s);
	if (figures_.recorded.migrations)
		row_counter(rows, "monitor_migrations", "Moves of threads to another CPU.", nullptr,
			    {{"", &RowFigures::migrations}});
	if (figures_.recorded.calls)
		row_counter(rows, "monitor_calls", "System calls.", nullptr, {{"", &RowFigures::calls}});
	if (figures_.recorded.faults)
		row_counter(rows, "monitor_faults", "Page faults that were completed.", "kind",
			    {{"minor", &RowFigures::minor_faults}, {"major", &RowFigures::major_faults}});
	if (!figures_.recorded.wakings)
		return;
	const auto times = [&](const char *name, const char *help, double RowFigures::*member) {
		out_.family(name, Type::counter, "seconds", help);
		for (const ShownRow &row : rows)
			if (!row.has_only_cpu && &row.figures != &figures_.unknown)
				out_.counter(row.labels, row.figures.*member, row.created_s);
	};
	times("monitor_waiting_seconds",
	      figures_.recorded.throttled ? "Time in which threads were ready and had no CPU."
					  : "Time in which threads were ready and had no CPU, or were throttled.",
	      &RowFigures::waiting);
	if (figures_.recorded.throttled)
		times("monitor_throttled_seconds",
		      "Time in which threads were ready and their cgroup had used up its quota, until they ran.",
		      &RowFigures::throttled);
	times("monitor_blocked_seconds", "Time in which threads slept.", &RowFigures::blocked);
	out_.family("monitor_run_queue_latency_seconds", Type::histogram, "seconds",
		    "How long threads had been ready when they got a CPU.");
	for (const ShownRow &row : rows)
		if (!row.has_only_cpu && &row.figures != &figures_.unknown)
			out_.histogram(row.labels, row.figures.run_queue, row.created_s);
}

void Families::calls()
{
	if (!figures_.recorded.calls)
		return;
	struct ShownCall {
		Labels labels;
		const CallFigures &figures;
		double created_s;
	};
	std::vector<ShownCall> calls;
	for (const auto &[key, series] : figures_.calls)
		calls.push_back({{{"cgroup", escaped(key.owner.cgroup)},
				  {"command", escaped(key.owner.command)},
				  {"call", escaped(key.call)}},
				 series.value,
				 series.created_s});
	calls.push_back(
	    {{{"cgroup", "other"}, {"command", "other"}, {"call", "other"}}, figures_.other_calls, figures_.start_s});
	out_.family("monitor_call_latency_seconds", Type::histogram, "seconds",
		    "How long system calls lasted that ended, sleeps included.");
	for (const ShownCall &call : calls)
		out_.histogram(call.labels, call.figures.latency, call.created_s);
	out_.family("monitor_call_errors", Type::counter, "",
		    "System calls that ended with an error, those included that a filter refused before they began: "
		    "they have no latency.");
	for (const ShownCall &call : calls)
		out_.counter(call.labels, number(call.figures.failed), call.created_s);
}

// Together with these, the rows add up to the machine's counters.
void Families::retired()
{
	const RowFigures &retired = figures_.retired;
	out_.family("monitor_series_retired", Type::counter, "",
		    "Series that are no longer shown, because others need their place.");
	out_.counter({{"table", "rows"}}, number(figures_.retired_rows), figures_.start_s);
	out_.counter({{"table", "calls"}}, number(figures_.retired_calls), figures_.start_s);
	out_.family("monitor_retired_cpu_seconds", Type::gauge, "seconds",
		    "What rows had that are no longer shown, until then; since then it is in other.");
	modes({}, retired.cpu, [&](const Labels &labels, double value) { out_.gauge(labels, value); });
	const auto gauge = [&](const char *name, double value) {
		one_gauge(name, "", "What rows had that are no longer shown, until then.", value);
	};
	gauge("monitor_retired_switches", number(retired.voluntary + retired.involuntary));
	if (figures_.recorded.migrations)
		gauge("monitor_retired_migrations", number(retired.migrations));
	if (figures_.recorded.calls)
		gauge("monitor_retired_calls", number(retired.calls));
	if (figures_.recorded.faults)
		gauge("monitor_retired_faults", number(retired.minor_faults + retired.major_faults));
}

void Families::cost(const RecorderFigures &recorder)
{
	one_counter("monitor_recorder_cpu_seconds", "seconds", "CPU time of the monitor's own process.",
		    figures_.recorder_s);
	if (figures_.probes_low_s || figures_.probes_high_s) {
		out_.family("monitor_probes_cpu_seconds", Type::counter, "seconds",
			    "CPU time of the probes, by what an event was calibrated to cost: at least the low one.");
		if (figures_.probes_low_s)
			out_.counter({{"bound", "low"}}, *figures_.probes_low_s, figures_.start_s);
		if (figures_.probes_high_s)
			out_.counter({{"bound", "high"}}, *figures_.probes_high_s, figures_.start_s);
	}
	one_gauge("monitor_other_recorders", "", "Recorders that ran already at the start: their probes cost, too.",
		  number(figures_.other_recorders));
	one_counter("monitor_events", "", "Events that were counted.", number(figures_.machine.events));
	one_counter("monitor_lost_events", "", "Events that were lost, because the recorder was too slow.",
		    number(recorder.lost));
	one_counter("monitor_late_events", "", "Events that came too late to be counted.", number(figures_.late));
}

} // namespace

std::string exposition(const Figures &figures, const RecorderFigures &recorder, Format format)
{
	Families families(figures, format);
	families.about(recorder);
	families.machine();
	families.rows();
	families.calls();
	families.retired();
	families.cost(recorder);
	return std::move(families).text();
}

} // namespace monitor::metrics
