// SPDX-License-Identifier: MIT
#include "user_shared.h"

#include <algorithm>

#include "monitor/token.h"

namespace monitor::card {
namespace {

// Extends the 48-bit time of a record to 64 bits; it is near `now`.
std::uint64_t time_of(std::uint64_t head, std::uint64_t token, std::uint64_t now)
{
	constexpr unsigned bits = 32 + EDC_HEAD_TIME_BITS;
	const std::uint64_t high = head >> EDC_HEAD_TIME_SHIFT & ((1u << EDC_HEAD_TIME_BITS) - 1);
	const std::uint64_t low = high << 32 | edc_token_time(token);
	const std::uint64_t distance = (now + max_clock_skew_ticks - low) & ((1ull << bits) - 1);
	return now + max_clock_skew_ticks - distance;
}

bool is_possible(std::uint64_t time, std::uint64_t complete_before, std::uint64_t now)
{
	return time <= now + max_clock_skew_ticks && time + max_clock_skew_ticks >= complete_before;
}

} // namespace

std::uint64_t SharedRing::word_at(std::uint64_t position) const
{
	const auto *words = reinterpret_cast<const std::uint64_t *>(shared_) + EDC_BLOCK_SIZE / 8;
	return __atomic_load_n(words + position % capacity_, __ATOMIC_ACQUIRE);
}

bool SharedRing::has_head(std::uint64_t position) const
{
	const std::uint64_t head = word_at(position);
	return head >> EDC_HEAD_THREAD_SHIFT != 0 && ((head ^ position) & EDC_HEAD_POSITION) == 0;
}

// Skips to the next record, or to the end of what is claimed.
void SharedRing::skip_hole(std::uint64_t claimed)
{
	while (++taken_ != claimed && !has_head(taken_))
		;
	++holes_;
	skipped_ = true;
}

// Frees what was taken, up to the first claim that was skipped and whose thread may still write.
void SharedRing::free_taken()
{
	std::uint64_t free_until = taken_;
	for (edc_user_claim &claim : shared_->claim) {
		__u64 untrusted_claim = skipped_ ? __atomic_load_n(&claim.word, __ATOMIC_ACQUIRE) : 0;
		const std::uint64_t distance = (taken_ - untrusted_claim) & EDC_USER_POSITION_MASK;
		if (untrusted_claim == 0 || distance == 0 || distance > taken_ - freed_)
			continue;
		if (is_alive_(static_cast<std::uint32_t>(untrusted_claim >> EDC_USER_POSITION_BITS)))
			free_until = std::min(free_until, taken_ - distance);
		else
			__atomic_compare_exchange_n(&claim.word, &untrusted_claim, 0, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
	skipped_ = free_until != taken_;
	freed_ = free_until;
	__atomic_store_n(&shared_->read, free_until, __ATOMIC_RELEASE);
}

const char *SharedRing::take(const TakeOptions &options, const WordsById &payload_words,
			     const std::function<void(const SharedRecord &)> &yield, const std::function<void()> &learn)
{
	const std::uint64_t before = options.now();
	const std::uint64_t claimed = __atomic_load_n(&shared_->state, __ATOMIC_ACQUIRE); // untrusted
	std::uint64_t latest = before; // read again if a record is newer: this thread may have been preempted
	const char *wrong = nullptr;
	fill_ = 0;
	if (claimed - taken_ > capacity_) {
		wrong = "a ring's position jumped";
		taken_ = claimed;
	} else {
		fill_ = static_cast<unsigned>(((claimed - taken_) * 1000 + capacity_ - 1) / capacity_);
	}
	while (taken_ != claimed) {
		const std::uint64_t head = word_at(taken_);
		if (!has_head(taken_)) {
			// all holes that were claimed when the first of them was seen are waited for together
			if (!options.writers_ended && taken_ >= hole_claimed_) {
				complete_before_ = std::max(complete_before_, hole_since_);
				hole_since_ = before;
				hole_claimed_ = claimed;
			}
			if (!options.writers_ended && before - hole_since_ < options.hole_ticks)
				break;
			skip_hole(claimed);
			continue;
		}
		SharedRecord record{};
		record.word[0] = word_at(taken_ + 1);
		record.tid = static_cast<std::uint32_t>(head >> EDC_HEAD_THREAD_SHIFT);
		record.time = time_of(head, record.word[0], latest);
		if (!is_possible(record.time, complete_before_, latest)) {
			latest = options.now();
			record.time = time_of(head, record.word[0], latest);
		}
		const std::uint32_t id = edc_token_id(record.word[0]);
		if (payload_words[id] == unknown_class && learn)
			learn();
		const std::uint32_t payload =
		    payload_words[id] == unknown_class ? 0 : payload_words[id] & ~refused_class;
		const std::uint64_t length = 2 + payload; // head, token, payload
		const char *bad = nullptr;
		if (payload_words[id] == unknown_class || id == EDC_ID_THREAD ||
		    edc_token_mode(record.word[0]) != EDC_MODE_USER)
			bad = "an event of a class that its program did not declare";
		else if (length > claimed - taken_)
			bad = "an event extends beyond what is claimed";
		else if (!is_possible(record.time, complete_before_, latest))
			bad = "an event's time steps distance or is in the future";
		if (bad) {
			wrong = bad;
			skip_hole(claimed);
			continue;
		}
		if (payload_words[id] & refused_class) {
			++refused_;
			taken_ += length;
			continue;
		}
		record.words = 1 + payload;
		for (std::uint32_t i = 1; i <= payload; ++i)
			record.word[i] = word_at(taken_ + 1 + i);
		yield(record);
		taken_ += length;
	}
	if (taken_ == claimed)
		complete_before_ = before;
	free_taken();
	return wrong;
}

void SharedRing::skip_present_content()
{
	taken_ = __atomic_load_n(&shared_->state, __ATOMIC_ACQUIRE); // untrusted, only compared at the next pass
	freed_ = taken_ - capacity_;
	skipped_ = true; // what is there may be claimed and not written yet
	free_taken();
}

std::uint64_t SharedRing::discarded() const
{
	const std::uint64_t untrusted_discarded = __atomic_load_n(&shared_->discarded, __ATOMIC_RELAXED);
	return holes_ + (untrusted_discarded < max_events_of_a_program ? untrusted_discarded : 0);
}

} // namespace monitor::card
