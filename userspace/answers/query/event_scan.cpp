// SPDX-License-Identifier: MIT
#include "event_scan.h"

#include <algorithm>

namespace monitor::query {
namespace {

using From = EventColumn::From;
using trace::Cursor;

std::string_view mode_text(const trace::Event &event)
{
	return event.mode() == EDC_MODE_KERNEL ? "kernel" : "user";
}

bool field_is_accepted(const FieldColumn &column, const Constraint &constraint, const trace::Event &event,
		       const filter::Running &running)
{
	if (!column.is_in(event, running))
		return false;
	switch (constraint.type) {
	case Type::integer:
		return constraint.accepts(column.number(event, running));
	case Type::real:
		return constraint.accepts(column.value.get<double>(event));
	case Type::text:
		return constraint.accepts(column.text(event, running));
	}
	return true;
}

bool label_is_accepted(const FieldColumn &column, const Constraint &constraint, const trace::Event &event,
		       const filter::Running &running)
{
	const std::string *label = column.is_in(event, running) ? column.label(event, running) : nullptr;
	return label && constraint.accepts(std::string_view(*label));
}

} // namespace

EventScan::EventScan(Context &context, const EventColumns &columns, ScanOptions options)
    : context_(context), columns_(columns), options_(std::move(options))
{
	const bool filters_threads = (options_.filter && options_.filter->needs_threads()) ||
				     (context.event_filter && context.event_filter->needs_threads());
	options_.needs_threads = options_.needs_threads || filters_threads;
	plan_classes();
	trace::TimeRange range = options_.range;
	if (options_.needs_threads) {
		const Checkpoints::State *state = context.checkpoints.before(range.from);
		begin_time_ = range.from = state ? state->time : 0;
		if (state)
			threads_ = state->threads;
		else
			threads_.emplace(context.trace);
		last_time_ = begin_time_;
	}
	const bool is_empty = options_.range.from > options_.range.to;
	pull_.emplace(context.trace, range, [&](const trace::Stream &stream) {
		return !is_empty && (options_.needs_threads || wants_stream(stream));
	});
}

void EventScan::plan_classes()
{
	for (const auto &[column, constraint] : options_.constraints)
		if (const From from = columns_.columns()[column].from;
		    (from < From::filter && from != From::name) || from == From::host)
			per_event_.emplace_back(from, &constraint);
	classes_.resize(context_.trace.description().classes().size());
	for (const trace::EventClass *cls : columns_.classes())
		classes_[cls->index].is_wanted = wants_class(*cls, classes_[cls->index]);
}

bool EventScan::wants_class(const trace::EventClass &cls, ClassPlan &plan) const
{
	if ((options_.filter && !options_.filter->can_match(cls)) ||
	    (context_.event_filter && !context_.event_filter->can_match(cls)))
		return false;
	for (const auto &[number, constraint] : options_.constraints) {
		const EventColumn &column = columns_.columns()[number];
		if (column.from == From::name && !constraint.accepts(std::string_view(cls.name)))
			return false;
		if (column.from < From::field)
			continue;
		const FieldColumn *field = columns_.field(number, cls);
		if (!field || !field->field)
			return false;
		if (column.from == From::label)
			plan.label_constraints.emplace_back(field, &constraint);
		else if (field->type() == constraint.type && !field->list)
			plan.constraints.emplace_back(field, &constraint);
	}
	return true;
}

// A stream of tokens belongs to one CPU.
bool EventScan::wants_stream(const trace::Stream &stream) const
{
	return std::ranges::all_of(per_event_, [&](const auto &pair) {
		const auto &[from, constraint] = pair;
		if (from == From::stream)
			return constraint->accepts(std::string_view(stream.info().name));
		if (from == From::host)
			return constraint->accepts(std::string_view(context_.trace.machines()[stream.info().machine]));
		if (from == From::cpu && !stream.info().is_generic_ctf)
			return stream.info().has_cpu() && constraint->accepts(std::int64_t(stream.info().cpu));
		return from != From::level || constraint->accepts(std::int64_t(stream.info().level));
	});
}

bool EventScan::accepts_common(const trace::Event &event, From from, const Constraint &constraint) const
{
	switch (from) {
	case From::cpu:
		return event.has_cpu() && constraint.accepts(std::int64_t(event.cpu()));
	case From::level:
		return constraint.accepts(std::int64_t(event.level()));
	case From::mode:
		return constraint.accepts(mode_text(event));
	case From::stream:
		return constraint.accepts(std::string_view(event.stream->name));
	case From::host:
		return constraint.accepts(std::string_view(context_.trace.machines()[event.stream->machine]));
	case From::tid:
		return running_ != trace::Threads::unknown && constraint.accepts(running_);
	case From::thread: {
		const trace::Threads::Info *name = threads_->name(running_, event.stream->machine);
		return name && constraint.accepts(name->view());
	}
	case From::tgid: {
		const std::int64_t process = threads_->process(running_, event.stream->machine);
		return process != trace::Threads::unknown && constraint.accepts(process);
	}
	default:
		return true; // times are in the range
	}
}

bool EventScan::accepts(const trace::Event &event) const
{
	const ClassPlan &plan = classes_[event.cls->index];
	if (!plan.is_wanted || event.time < options_.range.from)
		return false;
	const filter::Running running = this->running_thread();
	// Conditions with unknown values come last, as only then they may decide and need a warning.
	const auto is_known = [&](const auto &pair) {
		return !pair.first->derived || pair.first->is_in(event, running);
	};
	for (const auto &pair : plan.constraints)
		if (is_known(pair) && !field_is_accepted(*pair.first, *pair.second, event, running))
			return false;
	for (const auto &pair : plan.label_constraints)
		if (is_known(pair) && !label_is_accepted(*pair.first, *pair.second, event, running))
			return false;
	for (const auto &[from, constraint] : per_event_)
		if (!accepts_common(event, from, *constraint))
			return false;
	if ((context_.event_filter && !context_.event_filter->matches(event, running)) ||
	    (options_.filter && !options_.filter->matches(event, running)))
		return false;
	const bool is_decided =
	    std::ranges::all_of(plan.constraints, is_known) && std::ranges::all_of(plan.label_constraints, is_known);
	context_.has_undecided = context_.has_undecided || !is_decided;
	return is_decided;
}

// The threads of a checkpoint include the losses before it.
void EventScan::apply_gap()
{
	if (threads_ && pull_->gap().from_time >= begin_time_)
		threads_->gap(pull_->stream());
}

// Called for every item; looks at the flag from time to time.
bool EventScan::is_interrupted()
{
	constexpr std::uint64_t check_interval = 4096;
	return ++read_ % check_interval == 0 && context_.interrupted;
}

bool EventScan::next()
{
	if (is_after_pending_)
		threads_->after(pull_->event());
	is_after_pending_ = false;
	for (Cursor::Item item = pull_->next(); item != Cursor::Item::end; item = pull_->next()) {
		if (is_interrupted())
			return !(was_interrupted_ = true);
		if (threads_ && pull_->time() > last_time_) {
			if (context_.checkpoints.is_due(since_checkpoint_, pull_->time())) {
				context_.checkpoints.add(pull_->time(), *threads_);
				since_checkpoint_ = 0;
			}
			last_time_ = pull_->time();
		}
		if (item == Cursor::Item::gap) {
			apply_gap();
			continue;
		}
		const trace::Event &event = pull_->event();
		++context_.events_decoded;
		++since_checkpoint_;
		if (threads_)
			running_ = threads_->before(event);
		if (accepts(event))
			return is_after_pending_ = threads_.has_value(), true;
		if (threads_)
			threads_->after(event);
	}
	return false;
}

std::int64_t EventScan::row_id() const
{
	constexpr unsigned offset_bits = 46;
	const trace::Event &event = pull_->event();
	const auto *file = pull_->cursor().stream().bytes();
	const auto bits = static_cast<std::uint64_t>((event.is_token() ? event.data : event.packet) - file) * 8 +
			  (event.is_token() ? 0 : event.at_bits);
	return static_cast<std::int64_t>(std::uint64_t(event.stream->index) << offset_bits | bits);
}

} // namespace monitor::query
