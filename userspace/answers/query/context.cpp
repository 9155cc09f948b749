// SPDX-License-Identifier: MIT
#include "context.h"

#include <algorithm>

namespace monitor::query {

Context::Context(trace::Trace &opened, const std::optional<std::string> &filter, std::uint64_t events_per_checkpoint)
    : trace(opened), info(analyze::recording_of(opened)), checkpoints(events_per_checkpoint)
{
	if (filter) {
		event_filter = std::make_unique<const filter::Filter>(*filter, trace.description(), trace.begin_time());
		note_left_out(*event_filter);
	}
	constexpr double bytes_per_event = 12;
	estimated_events_ = std::max(1.0, static_cast<double>(trace.size_bytes()) / bytes_per_event);
}

std::shared_ptr<const filter::Filter> Context::compiled(const std::string &expression)
{
	constexpr std::size_t max_kept = 64;
	if (const auto known = compiled_.find(expression); known != compiled_.end())
		return known->second;
	auto made = std::make_shared<const filter::Filter>(expression, trace.description(), trace.begin_time());
	note_left_out(*made);
	if (compiled_.size() >= max_kept) {
		has_undecided = has_undecided || is_undecided();
		compiled_.clear();
	}
	return compiled_.emplace(expression, std::move(made)).first->second;
}

void Context::note_left_out(const filter::Filter &filter)
{
	const std::string text = filter::left_out_text(filter::left_out(
	    filter, trace.description(), [&](const trace::EventClass &cls) { return filter.can_match(cls); }));
	if (!text.empty())
		left_out_.insert(text);
}

bool Context::is_undecided() const
{
	return (event_filter && event_filter->undecided()) ||
	       std::ranges::any_of(compiled_, [](const auto &each) { return each.second->undecided() != 0; });
}

std::vector<std::string> Context::notes() const
{
	std::vector<std::string> made(left_out_.begin(), left_out_.end());
	if (has_undecided || is_undecided())
		made.emplace_back(filter::undecided_warning);
	return made;
}

} // namespace monitor::query
