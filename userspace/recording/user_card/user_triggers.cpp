// SPDX-License-Identifier: MIT
#include "user_triggers.h"

#include <algorithm>
#include <bit>

#include "monitor/matcher.h"
#include "monitor/token.h"

namespace monitor::card {
namespace {

// A claimed but unwritten record delays the time order by a second at most. Limit of events noted meanwhile; beyond it
// they are processed in order of arrival.
constexpr std::size_t max_noted = 500'000;

} // namespace

std::array<__u64, EDC_MATCH_VALUES> PostedEvent::values() const
{
	std::array<__u64, EDC_MATCH_VALUES> value{};
	value[EDC_VALUE_ARGUMENT] = edc_token_arg(record[0]);
	std::copy(record.begin() + 1, record.end(), value.begin() + EDC_VALUE_WORD);
	value[EDC_VALUE_CPU] = at.cpu;
	value[EDC_VALUE_LEVEL] = EDC_LEVEL_USER;
	value[EDC_VALUE_TID] = at.tid;
	value[EDC_VALUE_TIME] = at.time;
	return value;
}

void UserTriggers::set(std::shared_ptr<const EventMatcher> matcher)
{
	matcher_ = std::move(matcher);
	has_inputs_ = std::ranges::any_of(matcher_->classes, [](const EventMatcher::Class &cls) {
		return cls.id >= EDC_ID_USER_FIRST && cls.belongs >> EDC_FIRST_INPUT;
	});
}

// The second inputs first, as in the probes: an event may be both.
void UserTriggers::step(const Noted &noted)
{
	const auto value = noted.event.values();
	const std::uint32_t id = edc_token_id(noted.event.record[0]);
	for (std::uint32_t inputs : {noted.inputs & 0xaaaaaaaa, noted.inputs & 0x55555555})
		for (; inputs; inputs &= inputs - 1) {
			const auto input = static_cast<unsigned>(std::countr_zero(inputs));
			step(noted.event, input,
			     edc_match_key_of(matcher_->tables(EventMatcher::group_of(id)), EDC_FIRST_INPUT + input,
					      EventMatcher::slot_of(id), value.data()));
		}
}

void UserTriggers::step(const PostedEvent &event, unsigned input, std::uint64_t key)
{
	const unsigned number = input / 2;
	auto &state = state_[number];
	if (!state)
		state = std::make_unique<edc_trigger_state>();
	__u64 began = 0;
	if (edc_trigger_step(&trigger(number), state.get(), input & 1, key, event.at.time, &began, &forgotten_))
		fired_.push_back({number, began, key, event.at.time, std::make_unique<PostedEvent>(event)});
}

void UserTriggers::step_missing(std::uint64_t before)
{
	missed_until_ = std::max(missed_until_, before);
	for (unsigned i = 0; i < EDC_TRIGGERS; ++i) {
		if (!state_[i] || trigger(i).kind != EDC_TRIGGER_MISSING || before < trigger(i).within)
			continue;
		for (edc_pending_start &entry : state_[i]->pending.entry) {
			__u64 key = 0;
			if (const __u64 began = edc_pending_start_overdue(&entry, before - trigger(i).within, &key))
				fired_.push_back({i, began, key, before, nullptr});
		}
	}
}

void UserTriggers::step(std::uint64_t before)
{
	if (!matcher_)
		return;
	const auto time = [](const Noted &noted) { return noted.event.at.time; };
	std::ranges::stable_sort(waiting_, {}, time);
	auto end = std::ranges::lower_bound(waiting_, before, {}, time);
	if (waiting_.end() - end > static_cast<std::ptrdiff_t>(max_noted))
		end = waiting_.end();
	for (auto at = waiting_.begin(); at != end; ++at) {
		forgotten_ += time(*at) < stepped_before_;
		step(*at);
	}
	if (end != waiting_.begin())
		stepped_before_ = std::max(stepped_before_, time(*(end - 1)));
	waiting_.erase(waiting_.begin(), end);
	if (before != ~std::uint64_t(0))
		step_missing(before);
}
} // namespace monitor::card
