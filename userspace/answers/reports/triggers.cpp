// SPDX-License-Identifier: MIT
// The report on triggers: when they fired, and why.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "answers/report/triggers_table.h"
#include "base/error.h"
#include "monitor/matcher.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/merge.h"
#include "reading/events/threads.h"
#include "report.h"

namespace monitor::reports {
namespace {

// The last event of each stream: a firing's cause precedes it in its stream, at the same time. In between there are
// only tokens that extend others: the first one of a block, and those of a stack.
class LastEvents {
public:
	void note(const trace::Event &event)
	{
		if (!event.is_token() || event.cls->size_bytes > max_bytes || event.is_control() ||
		    EDC_NEVER_COUNTED(event.cls->id))
			return;
		Last &last = last_[event.stream->index];
		last.event = event;
		std::memcpy(last.bytes.data(), event.data, event.cls->size_bytes);
	}

	// "": the cause's token is missing.
	std::string cause_of(const trace::Event &firing, std::uint32_t id) const
	{
		const auto found = last_.find(firing.stream->index);
		if (found == last_.end() || found->second.event.time != firing.time ||
		    found->second.event.cls->id != id)
			return "";
		trace::Event event = found->second.event;
		event.data = found->second.bytes.data();
		return report::event_text(event);
	}

private:
	static constexpr std::size_t max_bytes = 128;
	struct Last {
		trace::Event event;
		std::array<std::byte, max_bytes + 8> bytes{}; // fields are read as eight bytes
	};
	std::map<std::uint32_t, Last> last_; // by stream
};

// Firings by events of programs are recorded later than the events: first collects which events fired, then finds
// these.
class ProgramCauses {
public:
	explicit ProgramCauses(trace::Trace &trace)
	{
		trigger::RecordedFirings recorded(trace);
		trace::merge(trace, {0, trace.end_time()}, [&](const trace::Event &event) { recorded.event(event); });
		for (const trigger::Fired &fired : recorded.firings())
			if (fired.cause && fired.noticed != fired.time)
				causes_[{fired.time, fired.cause, fired.tid}];
	}

	void note(const trace::Event &event, std::int64_t tid)
	{
		if (event.cls->domain != trace::Domain::user)
			return;
		const auto found = causes_.find({event.time, static_cast<std::uint32_t>(event.cls->id), tid});
		if (found != causes_.end())
			found->second = {report::event_text(event), event.cpu()};
	}

	// "" and no CPU: the event is missing.
	std::pair<std::string, std::uint32_t> cause_of(const trigger::Fired &fired) const
	{
		const auto found = causes_.find({fired.time, fired.cause, fired.tid});
		return found == causes_.end() ? std::pair(std::string(), EDC_CPU_UNKNOWN) : found->second;
	}

private:
	std::map<std::tuple<std::uint64_t, std::uint32_t, std::int64_t>, std::pair<std::string, std::uint32_t>> causes_;
};

// Assigns samples of all CPUs to firings: to the newest firing that has none yet. The sample of the firing's CPU
// follows it at once.
class SamplesOfFirings {
public:
	explicit SamplesOfFirings(const trace::Description &description)
	{
		for (const trace::EventClass *cls : description.find("sample"))
			if (cls->domain == trace::Domain::kernel)
				numbers_.emplace_back(cls, trace::FieldRef(*cls, "number"));
	}

	void fired(std::size_t row) { newest_ = row; }

	void note(const trace::Event &event)
	{
		for (const auto &[cls, number] : numbers_) {
			if (cls != event.cls)
				continue;
			const auto [found, is_new] = rounds_.try_emplace(number.get(event));
			Round &round = found->second;
			if (is_new)
				round = {event.time, event.time, 0, std::exchange(newest_, none)};
			round.last = std::max(round.last, event.time);
			++round.cpus;
		}
	}

	void set(std::vector<report::FiringRow> &rows) const
	{
		for (const auto &[number, round] : rounds_)
			if (round.row < rows.size() && round.cpus > 1)
				rows[round.row].spread = round.last - round.first;
	}

private:
	static constexpr std::size_t none = ~std::size_t(0);
	struct Round {
		std::uint64_t first = 0, last = 0, cpus = 0;
		std::size_t row = none;
	};
	std::vector<std::pair<const trace::EventClass *, trace::FieldRef>> numbers_;
	std::map<std::uint64_t, Round> rounds_;
	std::size_t newest_ = none;
};

std::vector<report::FiringRow> rows_of(const Question &question, trace::Trace &trace,
				       const analyze::RecordingInfo &info)
{
	const trace::TimeRange range = question.selection.range(trace, {0, trace.end_time()});
	const trace::EventSelection selected = question.selection.events(trace);
	trigger::RecordedFirings recorded(trace);
	trace::Threads threads(trace);
	LastEvents last;
	SamplesOfFirings samples(trace.description());
	std::optional<ProgramCauses> program_causes;
	if (std::ranges::any_of(info.triggers, [](const auto &each) { return each.by_programs > 0; }))
		program_causes.emplace(trace);
	std::vector<report::FiringRow> rows;
	std::size_t known = 0;
	trace::merge(
	    trace, {0, range.to},
	    [&](const trace::Event &event) {
		    const std::int64_t running = threads.before(event);
		    recorded.event(event);
		    samples.note(event);
		    if (program_causes)
			    program_causes->note(event, running);
		    if (recorded.firings().size() == known) {
			    last.note(event);
		    } else {
			    ++known;
			    trigger::Fired fired = recorded.firings().back();
			    std::string cause = last.cause_of(event, fired.cause);
			    if (program_causes && cause.empty())
				    std::tie(cause, fired.cpu) = program_causes->cause_of(fired);
			    const auto *thread = threads.name(fired.tid, event.stream->machine);
			    const auto *trigger =
				fired.trigger < info.triggers.size() ? &info.triggers[fired.trigger] : nullptr;
			    if (trigger && trigger->samples)
				    samples.fired(rows.size());
			    if (event.time >= range.from && selected.includes(event, running))
				    rows.push_back({fired, recorded.name(fired.trigger),
						    thread ? std::string(thread->view()) : "", cause,
						    trigger && !trigger->key.empty(), trigger ? trigger->mark : "",
						    std::nullopt});
		    }
		    threads.after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) { threads.gap(stream); });
	samples.set(rows);
	return rows;
}

Answer answer_of_triggers(const Question &question, trace::Trace &trace)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	if (info.triggers.empty())
		throw Error(info.present ? "this recording had no triggers: record with --trigger 'WHEN => DO', or run "
					   "triggers on it: monitor trigger FILE DIR"
					 : "only a recording has triggers: name one, not several that were merged");
	if (question.plot.is_asked())
		throw Error(
		    "the report triggers lists moments, so there is nothing to draw: leave out --plot and --svg");
	report::Table table = report::triggers_table(rows_of(question, trace, info), trace);
	const std::size_t all = table.rows.size();
	question.sort_rows(table);
	if (question.top)
		table.keep_top(question.top);
	show_times(table, question, trace);
	Answer answer;
	if (question.json)
		answer.text = fmt::format("{{\"rows\": {},\n\"triggers\": {}}}\n", report::to_json(table),
					  report::triggers_json(info));
	else if (question.csv)
		answer.text = report::to_csv(table);
	else if (all == 0)
		answer.text = "no trigger fired in what this trace has\n\n" + report::triggers_notes(info);
	else
		answer.text = question.text_of(table, report::more_rows_text(all - table.rows.size())) + "\n" +
			      report::triggers_notes(info);
	return answer;
}

} // namespace

const Report triggers_report{
    "triggers", "when the triggers of `record --trigger` fired, and why", {}, true, answer_of_triggers};

} // namespace monitor::reports
