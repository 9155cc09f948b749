// SPDX-License-Identifier: MIT
#include "user_process.h"

#include <poll.h>

namespace monitor::card {

void UserProcess::lay_out(unsigned cpus, std::uint64_t ring_blocks, const Uuid &uuid, std::uint64_t since)
{
	const std::uint64_t each = (1 + ring_blocks) * EDC_BLOCK_SIZE;
	const auto ring_at = [&](unsigned number) {
		return reinterpret_cast<edc_user_ring *>(area.data() + EDC_BLOCK_SIZE + number * each);
	};
	blocks = ring_blocks;
	if (in_other_pid_namespace(pid))
		numbers = std::make_shared<ThreadNumbers>(pid);
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		UserRing added;
		added.shared = ring_at(cpu);
		added.info.uuid = uuid;
		added.info.cpu = cpu;
		added.info.process = static_cast<std::uint32_t>(pid);
		if (numbers)
			added.info.translate_tid = [numbers = numbers](std::uint32_t tid) {
				return numbers->find(tid);
			};
		added.info.last_time = since - max_clock_skew_ticks;
		rings.push_back(added);
	}
	shared_ring.emplace(ring_at(cpus), blocks, since, [pid = pid, numbers = numbers](std::uint32_t tid) {
		return has_thread(pid, numbers ? numbers->find(tid) : tid);
	});
}

void UserProcess::skip_present_content()
{
	for (UserRing &ring : rings) {
		const std::uint64_t untrusted_state = __atomic_load_n(&ring.shared->state, __ATOMIC_ACQUIRE);
		const std::uint64_t position = untrusted_state & EDC_USER_POSITION_MASK;
		ring.taken = position / EDC_USER_BLOCK_WORDS;
		ring.merged_bytes = std::max<std::uint64_t>(position % EDC_USER_BLOCK_WORDS * 8, EDC_BLOCK_HEADER);
		ring.info.last_time = 0; // its open block's content is older than the recording
		ring.discarded_before = ring.info.discarded =
		    __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
		ring.give_back();
	}
	shared_ring->skip_present_content();
	shared_discarded_before = shared_discarded = shared_ring->discarded();
	early_before = __atomic_load_n(&shared().lost_early, __ATOMIC_RELAXED);
}

bool UserProcess::is_unanswered() const
{
	if (by_device || losses_counted || __atomic_load_n(&shared().bell, __ATOMIC_ACQUIRE) != EDC_BELL_NONE)
		return false;
	pollfd poll{pidfd.get(), POLLIN, 0};
	return has_successor || ended || ::poll(&poll, 1, 0) > 0;
}
// Losses already written to a stream, and the early ones, read now. Any count that rose by more than `most` clears
// `possible`; early losses are then left out.
UserClaim UserProcess::claim(std::uint64_t most) const
{
	UserClaim claim{pid, shared_discarded - shared_discarded_before, 0, true};
	const auto check_rise = [&](std::uint64_t rise) { return claim.possible = claim.possible && rise <= most; };
	const std::uint64_t untrusted_early = __atomic_load_n(&shared().lost_early, __ATOMIC_RELAXED) - early_before;
	if (check_rise(untrusted_early))
		claim.early = untrusted_early;
	check_rise(shared_ring->discarded() - shared_discarded_before);
	for (const UserRing &ring : rings) {
		check_rise(__atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED) - ring.discarded_before);
		claim.discarded += ring.info.discarded - ring.discarded_before;
	}
	return claim;
}

} // namespace monitor::card
