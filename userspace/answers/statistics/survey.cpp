// SPDX-License-Identifier: MIT
#include "survey.h"

#include "monitor/card.h"

namespace monitor::statistics {

ThreadFields::ThreadFields(const trace::Description &description) : classes_(description.classes().size())
{
	for (const auto &cls : description.classes()) {
		if (cls->size_bytes != 0 && cls->domain == trace::Domain::user)
			continue; // programs may name their fields like monitor's
		for (const auto &[thread, process] :
		     {std::pair("pid", "tgid"), std::pair("vtid", "vpid"), std::pair("tid", "pid")}) {
			Refs &refs = classes_[cls->index];
			const bool is_generic_ctf = cls->size_bytes == 0;
			if (refs.thread || !cls->find(thread) || !cls->find(process) ||
			    (!is_generic_ctf && std::string_view(thread) != "pid"))
				continue;
			refs = {trace::FieldRef(*cls, thread), trace::FieldRef(*cls, process)};
		}
	}
}

RecorderThreads threads_of_recorder(const trace::Trace &trace, const ThreadFields &thread_fields)
{
	RecorderThreads reported;
	reported.threads.set_machines(trace.machines());
	trace::Threads names(trace);
	for (const auto &stream : trace.streams()) {
		if (stream->is_foreign() || !stream->info().is_recorder())
			continue;
		trace::Problems ignored; // reported again later
		trace::Cursor cursor(*stream, trace.description(), ignored, trace.first_time());
		for (auto item = cursor.start(0); item != trace::Cursor::Item::end; item = cursor.advance()) {
			if (item != trace::Cursor::Item::event)
				continue;
			const trace::Event &event = cursor.event();
			names.after(event);
			thread_fields.update(event, reported.threads);
			if (event.cls->name != "thread_state" || event.cls->domain == trace::Domain::user)
				continue;
			const trace::FieldRef flags(*event.cls, "flags"), tid(*event.cls, "pid");
			if (flags && tid && flags.get(event) & EDC_THREAD_HIDDEN)
				reported.hidden.push_back(
				    {event.time, stream->info().machine, tid.get<std::int32_t>(event)});
		}
	}
	reported.threads.learn(names);
	return reported;
}

std::vector<trace::TimeRange> partitions_for(const trace::Trace &trace, const Question &question,
					     const trace::TimeRange &range)
{
	if (needs_thread_names(question) ||
	    (needs_current_thread(question) && trace.is_generic_ctf() && trace::Threads(trace).relies_on_switches()))
		return {range};
	return partitions(trace, range, question.partition_bytes);
}

} // namespace monitor::statistics
