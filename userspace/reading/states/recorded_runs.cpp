// SPDX-License-Identifier: MIT
#include "recorded_runs.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "monitor/card.h"
#include "reading/events/field_ref.h"
#include "reading/events/pull.h"

namespace monitor::states {
namespace {

// Whether this is the stream of runs.
bool has_runs(const trace::Stream &stream)
{
	return stream.info().is_recorder() && stream.info().name == "states";
}

struct SubjectFields {
	trace::FieldRef flags, subject, cpu, pid, tgid, cgroup, cpu_ticks, comm;

	explicit SubjectFields(const trace::EventClass &cls)
	    : flags(cls, "flags"), subject(cls, "subject"), cpu(cls, "cpu"), pid(cls, "pid"), tgid(cls, "tgid"),
	      cgroup(cls, "cgroup"), cpu_ticks(cls, "cpu_ticks"), comm(cls, "comm")
	{
	}
};

} // namespace

Tree recorded_tree(const analyze::RecordingInfo &info)
{
	if (!info.states)
		throw Error(
		    "this trace has no run lengths of its own, which record --states writes: name a tree with --tree");
	return parse_tree(info.states->tree, info.states->name);
}

RecordedRuns::RecordedRuns(trace::Trace &trace, const analyze::RecordingInfo &info, trace::TimeRange range,
			   const Selected &selected)
    : trace_(trace), tree_(recorded_tree(info)), whole_{info.states->begin, info.states->end.value_or(trace.end_time())}
{
	if (info.has_damaged_states())
		throw Error("the times of the run lengths in .monitor/recording.json are damaged; `monitor check` "
			    "lists what else is wrong");
	begin_ = std::clamp(range.from, whole_.from, whole_.to);
	end_ = range.to < whole_.to ? std::max(begin_, range.to + 1) : whole_.to;
	read_subjects(selected);
}

// The last token of a subject counts, except for cgroups: those of all tokens count.
void RecordedRuns::read_subjects(const Selected &selected)
{
	trace::Pull pull(trace_, {}, has_runs);
	for (auto item = pull.next(); item != trace::Cursor::Item::end; item = pull.next()) {
		if (item != trace::Cursor::Item::event || pull.event().cls->id != EDC_ID_STATE_SUBJECT)
			continue;
		const trace::Event &event = pull.event();
		const SubjectFields fields(*event.cls);
		Subject &subject = recorded_[fields.subject.get<std::uint32_t>(event)];
		subject.cpu = fields.cpu.get<std::uint32_t>(event);
		subject.cgroups.insert(fields.cgroup.get(event));
		analyze::Thread &thread = subject.thread;
		thread.tid = fields.pid.get<std::int32_t>(event);
		thread.tgid = fields.tgid.get<std::int32_t>(event);
		thread.name = fields.comm.get<std::string_view>(event);
		thread.so_far.cpu = fields.cpu_ticks.get(event);
		thread.in_tree = fields.flags.get(event) & EDC_SUBJECT_IN_COMMAND;
	}
	for (const auto &[number, subject] : recorded_) {
		if (selected && !selected(subject))
			continue;
		SubjectRuns &runs = subject_runs_[number];
		runs.number = static_cast<std::uint32_t>(shown_.size());
		runs.until = whole_.from;
		shown_.push_back({subject.cpu, tree_.subject() == states::Subject::thread ? &subject.thread : nullptr});
	}
}

void RecordedRuns::read(RunSink &sink)
{
	trace::Pull pull(trace_, {}, has_runs);
	for (auto item = pull.next(); item != trace::Cursor::Item::end; item = pull.next()) {
		if (item == trace::Cursor::Item::gap)
			break; // the start of the next run is unknown
		const trace::Event &event = pull.event();
		if (event.cls->id != EDC_ID_STATE_RUN && event.cls->id != EDC_ID_STATE_LONG_RUN)
			continue;
		const auto found = subject_runs_.find(trace::FieldRef(*event.cls, "subject").get<std::uint32_t>(event));
		if (found != subject_runs_.end())
			add(found->second, trace::FieldRef(*event.cls, "state").get<State>(event),
			    trace::FieldRef(*event.cls, "duration").get(event), sink);
	}
	for (auto &[number, runs] : subject_runs_) {
		if (runs.until < whole_.to)
			add(runs, tree_.unknown(), whole_.to - runs.until, sink);
		pass_on(runs, sink);
	}
}

void RecordedRuns::add(SubjectRuns &runs, State state, std::uint64_t ticks, RunSink &sink)
{
	state = std::min(state, tree_.unknown());
	const std::uint64_t from = runs.until, to = from + std::min(ticks, whole_.to - from);
	runs.until = to;
	if (runs.last && runs.last->state == state) {
		runs.last->to = to;
		return;
	}
	pass_on(runs, sink);
	runs.last = Run{runs.number, state, from, to};
}

// See Evaluator::emit().
void RecordedRuns::pass_on(SubjectRuns &runs, RunSink &sink) const
{
	if (!runs.last)
		return;
	Run run = *runs.last;
	runs.last.reset();
	const bool is_outside = begin_ > run.from || run.from > end_, is_empty = run.from == run.to;
	run.from = std::clamp(run.from, begin_, end_);
	run.to = std::clamp(run.to, run.from, end_);
	if (is_empty ? !is_outside : run.from != run.to)
		sink.run(run);
}

} // namespace monitor::states
