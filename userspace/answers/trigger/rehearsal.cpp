// SPDX-License-Identifier: MIT
#include "rehearsal.h"

#include <fmt/format.h>

#include "monitor/card.h"
#include "monitor/matcher.h"

namespace monitor::trigger {
namespace {

// The pending first event of this key; nullptr: none.
edc_pending_start *find_waiting(edc_pending_starts &pending, std::uint64_t key)
{
	for (__u32 i = 0; i < EDC_PENDING_STARTS_NEAR; ++i)
		if (edc_pending_start *entry = edc_pending_start_at(&pending, edc_pending_start_hash(key) + i);
		    entry->begin && entry->key == key)
			return entry;
	return nullptr;
}

} // namespace

Rehearsal::Rehearsal(const std::vector<NamedTrigger> &triggers, const trace::Trace &trace,
		     std::vector<std::string> *doubts)
    : trace_(trace), triggers_(triggers.size())
{
	for (std::size_t i = 0; i < triggers.size(); ++i) {
		Trigger &trigger = triggers_[i];
		trigger.definition.kind = triggers[i].kind;
		trigger.definition.within = triggers[i].within_ticks(trace.description().clock.frequency_hz);
		trigger.definition.times = triggers[i].times;
		try {
			if (!triggers[i].first.empty())
				prepare(trigger.inputs[0], triggers[i].first, triggers[i].first_key, doubts);
			if (!triggers[i].second.empty())
				prepare(trigger.inputs[1], triggers[i].second, triggers[i].second_key, doubts);
		} catch (const Error &error) {
			throw Error("trigger {}: {}", triggers[i].name, error.what());
		}
	}
}

void Rehearsal::prepare(Input &input, const std::string &condition, const std::string &key,
			std::vector<std::string> *doubts)
{
	input.filter.emplace(condition, trace_.description(), trace_.first_time(), filter::KnownNames{}, doubts,
			     filter::Evaluator::probe);
	const auto &classes = trace_.description().classes();
	input.has_key = !key.empty();
	input.keys.resize(classes.size());
	if (!input.has_key)
		return;
	for (const auto &cls : classes)
		input.keys[cls->index] = filter::key_source(key, *cls);
}

void Rehearsal::step(std::size_t number, unsigned input, const trace::Event &event, const filter::Running &running)
{
	Trigger &trigger = triggers_[number];
	const Input &tested = trigger.inputs[input];
	const std::uint32_t cls = event.cls->index;
	if (!tested.filter || (tested.has_key && !tested.keys[cls]) || !tested.filter->can_match(*event.cls))
		return;
	const bool needs_thread = tested.filter->needs_threads() ||
				  (tested.has_key && tested.keys[cls]->from == filter::ValueSource::From::tid);
	unnamed_ += needs_thread && running.tid == trace::Threads::unknown;
	if (!tested.filter->matches(event, running))
		return;
	Remembered &remembered = trigger.remembered[event.cls->domain == trace::Domain::user ? of_programs : of_kernel];
	Fired fired{number, event.time, 0, event.cpu(), running.tid, static_cast<std::uint32_t>(event.cls->id)};
	__u64 began = 0, key = 0;
	if (std::uint64_t bits = 0; tested.has_key) {
		if (!tested.keys[cls]->bits(event, running, bits))
			return; // it is counted as unnamed
		key = bits;
	}
	const bool is_new =
	    trigger.definition.kind == EDC_TRIGGER_MISSING && !input && !find_waiting(remembered.state->pending, key);
	const bool fires =
	    edc_trigger_step(&trigger.definition, remembered.state.get(), input, key, event.time, &began, &forgotten_);
	if (is_new)
		remembered.waiting.emplace_back(event.time, key);
	fired.began = began;
	fired.key = key;
	if (fires)
		firings_.push_back(fired);
}

void Rehearsal::event(const trace::Event &event, const filter::Running &running)
{
	const bool is_user = event.cls->domain == trace::Domain::user;
	if (!is_user && (event.cls->domain != trace::Domain::kernel || EDC_NEVER_COUNTED(event.cls->id)))
		return;
	expire(event.time, is_user ? of_programs : of_kernel);
	for (std::size_t i = 0; i < triggers_.size(); ++i)
		for (const unsigned input : {1u, 0u}) // an event may be both inputs
			step(i, input, event, running);
}

void Rehearsal::expire(std::uint64_t time, Side side)
{
	for (std::size_t i = 0; i < triggers_.size(); ++i) {
		Trigger &trigger = triggers_[i];
		Remembered &remembered = trigger.remembered[side];
		while (!remembered.waiting.empty() && time > remembered.waiting.front().first &&
		       time - remembered.waiting.front().first > trigger.definition.within) {
			const auto [began, key] = remembered.waiting.front();
			remembered.waiting.pop_front();
			edc_pending_start *entry = find_waiting(remembered.state->pending, key);
			if (!entry || entry->begin != began)
				continue; // it was followed in time
			entry->begin = 0;
			firings_.push_back({i, began + trigger.definition.within, 0, EDC_CPU_UNKNOWN,
					    trace::Threads::unknown, 0, began, key});
		}
	}
}

RecordedFirings::RecordedFirings(const trace::Trace &trace)
{
	for (const trace::EventClass *cls : trace.description().find("trigger_fired"))
		classes_.push_back({cls,
				    {*cls, "trigger"},
				    {*cls, "cause"},
				    {*cls, "tid"},
				    {*cls, "began"},
				    {*cls, "key"},
				    {*cls, "at"}});
}

void RecordedFirings::event(const trace::Event &event)
{
	for (const Fields &fields : classes_)
		if (fields.cls == event.cls)
			firings_.push_back({fields.trigger.get<std::size_t>(event),
					    fields.at.field() ? fields.at.get(event) : event.time, event.time,
					    event.cpu(), fields.tid.get<std::int64_t>(event),
					    fields.cause.get<std::uint32_t>(event), fields.began.get(event),
					    fields.key.get(event)});
}

std::string RecordedFirings::name(std::size_t trigger) const
{
	for (const Fields &fields : classes_)
		if (const trace::Field *field = fields.trigger.field(); field && field->labels)
			if (const std::string *label = field->labels->find(trigger))
				return *label;
	return fmt::format("{}", trigger);
}

} // namespace monitor::trigger
