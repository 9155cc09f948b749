// SPDX-License-Identifier: MIT
// The part of the user card that the drain thread calls: moves events from the rings of processes into streams.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/tsc.h"
#include "user_area.h"

namespace monitor::card {
namespace {

// A token's time is read at most this long before its ring's state is stored: a restartable sequence is far shorter.
constexpr std::uint64_t commit_ticks = 100'000;

// What one pass may take: whatever a process does, kernel rings are drained again soon.
constexpr std::uint64_t blocks_of_a_process = 2048, blocks_of_a_look = 8192;
constexpr std::size_t max_waiting_bytes = 32 << 20; // of events that wait to be merged, in all streams together

// A bell that is rung without need is not heard for this long: 5 ms, twice as long each time, at most 160 ms.
constexpr std::uint64_t min_pauses_per_second = 200, max_pause = 32;

} // namespace

struct UserCard::Look {
	std::uint64_t closed;     // blocks that the writers have left, as they number them
	std::uint64_t open_bytes; // of the open block, including its header; 0: none is open
	unsigned fill;            // in thousandths
};

// The first process changes from pass to pass, so that none uses up what others may have.
unsigned UserCard::drain(bool last, const MakeStream &make_stream, const Push &push)
{
	const std::lock_guard guard(lock_);
	const std::uint64_t before_look = read_tsc();
	adopt_arrived();
	last_look_ = before_look;
	merged_before_.assign(merged_.size(), last ? ~0ull : before_look - commit_ticks);
	must_poll_ = rung_was_found_ = false;
	quiet_bells_.clear();
	merged_bytes_ = waiting_bytes();
	unsigned worst = 0;
	std::uint64_t left = last ? ~0ull : blocks_of_a_look;
	++first_process_;
	for (std::size_t i = 0; i < processes_.size(); ++i) {
		Process &process = *processes_[(first_process_ + i) % processes_.size()];
		worst = std::max(worst, drain_process(process, last, left, make_stream, push));
	}
	pack_merged(last, before_look, push);
	std::erase_if(processes_, [this](const auto &process) { return process->ended && forget(*process); });
	wait_for_bells();
	return worst;
}

unsigned UserCard::drain_process(Process &process, bool last, std::uint64_t &all_left, const MakeStream &make_stream,
				 const Push &push)
{
	const bool over = last || process.ended; // checked before the rings are read
	const std::uint64_t damaged_before = counts_.damaged;
	std::uint64_t left = last ? all_left : std::min(all_left, blocks_of_a_process);
	all_left -= left;
	unsigned worst = 0;
	++process.first_ring;
	for (std::size_t i = 0; i < process.rings.size(); ++i) {
		Ring &ring = process.rings[(process.first_ring + i) % process.rings.size()];
		worst = std::max(worst, process.merged ? merge_ring(process, ring, over, make_stream)
						       : drain_ring(process, ring, over, left, make_stream, push));
	}
	worst = std::max(worst, share_ring(process, over, make_stream));
	all_left += left;
	if (counts_.damaged != damaged_before)
		worst = 0; // the fill that such a process reports is not trusted
	mind_bell(process, worst >= 500);
	return worst;
}

void UserCard::pack_merged(bool last, std::uint64_t before_look, const Push &push)
{
	for (std::size_t cpu = 0; cpu < merged_.size(); ++cpu)
		if (merged_[cpu])
			merged_[cpu]->pack(merged_before_[cpu], last, push);
	std::uint64_t shared_before = before_look;
	for (const auto &process : processes_)
		shared_before = std::min(shared_before, process->shared_ring->complete_before());
	if (shared_)
		shared_->pack(last ? ~0ull : shared_before - commit_ticks, last, push);
}

std::size_t UserCard::waiting_bytes() const
{
	std::size_t bytes = shared_ ? shared_->waiting_bytes() : 0;
	for (const auto &stream : merged_)
		bytes += stream ? stream->waiting_bytes() : 0;
	return bytes;
}

// Handles what the process did with its bell, and decides whether it is heard until the next pass.
void UserCard::mind_bell(Process &process, bool needed)
{
	if (process.ended)
		return;
	std::uint32_t &bell = process.shared().bell;
	const std::uint32_t untrusted_bell = __atomic_load_n(&bell, __ATOMIC_ACQUIRE);
	if (untrusted_bell == EDC_BELL_NONE || process.by_device) { // a futex needs file-backed memory
		must_poll_ = true;
		return;
	}
	if ((untrusted_bell != EDC_BELL_QUIET || (bells_.rung() && bells_.which() == &bell)) && !process.rung) {
		process.rung = rung_was_found_ = true;
		process.bell_pause = needed ? 0 : longer(process.bell_pause);
		process.bell_from = last_look_ + process.bell_pause;
	}
	if (process.rung && last_look_ >= process.bell_from) {
		process.rung = false;
		__atomic_store_n(&bell, EDC_BELL_QUIET, __ATOMIC_SEQ_CST);
	}
	if (!process.rung && quiet_bells_.size() < UserBells::most)
		quiet_bells_.push_back(&bell);
	else if (!process.rung)
		must_poll_ = true;
}

std::uint64_t UserCard::longer(std::uint64_t pause) const
{
	const std::uint64_t least = ticks_per_second_ / min_pauses_per_second;
	return std::clamp(2 * pause, least, max_pause * least);
}

// If no process is found to have rung, one of them hides it: then all are polled for a while.
void UserCard::wait_for_bells()
{
	must_poll_ |= !quiet_bells_.empty() && !bells_.works();
	if (bells_.rung() && !hidden_ring_) {
		hidden_pause_ = rung_was_found_ ? 0 : longer(hidden_pause_);
		bells_from_ = last_look_ + hidden_pause_;
		hidden_ring_ = !rung_was_found_;
	}
	if (last_look_ < bells_from_) {
		must_poll_ = true;
		return;
	}
	hidden_ring_ = false;
	if (!bells_.rung() && quiet_bells_ == heard_bells_)
		return;
	heard_bells_ = quiet_bells_;
	bells_.wait_for(heard_bells_);
}

// Keeps the counts of an ended process if its rings are empty; returns whether it can be removed.
bool UserCard::forget(const Process &process)
{
	if (!process.shared_done || !std::ranges::all_of(process.rings, &Ring::done))
		return false;
	add_counts(process, counts_);
	area_bytes_ -= process.by_device ? 0 : process.area.size();
	return true;
}

// No program loses more events than all CPUs had ticks.
std::uint64_t UserCard::max_possible_discarded() const
{
	return (read_tsc() - began_) * options_.cpus;
}

// Each number was reported in a stream, or is read only now, and it is no more than possible.
UserClaim UserCard::claim_of(const Process &process) const
{
	const std::uint64_t most = max_possible_discarded();
	UserClaim claim{process.pid, process.shared_discarded - process.shared_discarded_before, 0, true};
	const auto is_possible = [&](std::uint64_t rise) { return claim.possible = claim.possible && rise <= most; };
	const std::uint64_t untrusted_early =
	    __atomic_load_n(&process.shared().lost_early, __ATOMIC_RELAXED) - process.early_before;
	if (is_possible(untrusted_early))
		claim.early = untrusted_early;
	is_possible(process.shared_ring->discarded() - process.shared_discarded_before);
	for (const Ring &ring : process.rings) {
		is_possible(__atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED) - ring.discarded_before);
		claim.discarded += ring.info.discarded - ring.discarded_before;
	}
	return claim;
}

void UserCard::add_counts(const Process &process, UserCounts &counts) const
{
	const UserClaim claim = claim_of(process);
	counts.early += claim.early;
	counts.discarded += claim.discarded;
	if (claim.lost() == 0 && claim.possible)
		return;
	const auto known = std::ranges::find(counts.claim, claim.process, &UserClaim::process); // another card's
	if (known != counts.claim.end()) {
		known->discarded += claim.discarded;
		known->early += claim.early;
		known->possible &= claim.possible;
	} else {
		++counts.claims;
		counts.claim.push_back(claim);
	}
	std::ranges::stable_sort(counts.claim, [](const UserClaim &a, const UserClaim &b) {
		return a.possible != b.possible ? b.possible : a.lost() > b.lost();
	});
	counts.claim.resize(std::min(counts.claim.size(), max_claims_kept));
}

// The position of a ring. One that no writer can have produced is reported, and the ring starts anew there.
UserCard::Look UserCard::look_at(const Process &process, Ring &ring)
{
	const std::uint64_t untrusted_state = __atomic_load_n(&ring.shared->state, __ATOMIC_ACQUIRE);
	const std::uint64_t position = untrusted_state & EDC_USER_POSITION;
	const std::uint64_t closed = position / EDC_USER_BLOCK_WORDS;
	const std::uint64_t waiting = (closed - ring.taken) & EDC_USER_BLOCKS;
	if (waiting > process.blocks) {
		damage(process, "a ring's position jumped");
		ring.taken = closed;
		ring.merged = EDC_BLOCK_HEADER;
		__atomic_store_n(&ring.shared->read, ring.taken, __ATOMIC_RELEASE);
		return {closed, 0, 0};
	}
	return {closed, position % EDC_USER_BLOCK_WORDS * 8,
		static_cast<unsigned>((waiting * 1000 + process.blocks - 1) / process.blocks)};
}

// Returns the fill of the ring in thousandths, rounded up.
unsigned UserCard::drain_ring(Process &process, Ring &ring, bool last, std::uint64_t &left,
			      const MakeStream &make_stream, const Push &push)
{
	if (ring.done)
		return 0;
	const Look look = look_at(process, ring);
	while (ring.taken != look.closed) {
		const std::uint64_t damaged_before = counts_.damaged;
		if (left == 0 || !take(process, ring, 0, make_stream, push))
			return look.fill; // no space: the block waits in the ring
		--left;
		if (counts_.damaged != damaged_before)
			ring.taken = look.closed; // the same writer wrote the rest, and it is not worth the time
		__atomic_store_n(&ring.shared->read, ring.taken, __ATOMIC_RELEASE);
	}
	ring.done = last && (look.open_bytes == 0 || take(process, ring, look.open_bytes, make_stream, push)) &&
		    tell_last_loss(ring, push);
	return look.fill;
}

// The same for a ring whose events go into its CPU's merged stream; also takes what is new in the open block.
unsigned UserCard::merge_ring(const Process &process, Ring &ring, bool last, const MakeStream &make_stream)
{
	if (ring.done)
		return 0;
	if ((merged_[ring.info.cpu] && merged_[ring.info.cpu]->stalled()) || merged_bytes_ > max_waiting_bytes) {
		// What waits for space waits in the ring, which discards what does not fit. It is not older than this.
		merged_before_[ring.info.cpu] = std::min(merged_before_[ring.info.cpu], ring.info.last_time);
		return 0;
	}
	const Look look = look_at(process, ring);
	const auto learn = learning(process);
	if ((look.closed != ring.taken || look.open_bytes) && !merged_[ring.info.cpu]) {
		UserRingInfo info = ring.info;
		info.stream = make_stream(fmt::format("user_merged_cpu{}", info.cpu));
		info.last_time = began_;
		merged_[info.cpu] = std::make_unique<MergedStream>(info);
	}
	while (ring.taken != look.closed) {
		const std::uint64_t damaged_before = counts_.damaged;
		merge_block(process, ring, 0, learn);
		ring.taken = counts_.damaged != damaged_before ? look.closed : (ring.taken + 1) & EDC_USER_BLOCKS;
		__atomic_store_n(&ring.shared->read, ring.taken, __ATOMIC_RELEASE);
	}
	if (look.open_bytes > ring.merged)
		merge_block(process, ring, look.open_bytes, learn);
	const std::uint64_t untrusted_discarded = __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
	const std::uint64_t lost = untrusted_discarded - ring.info.discarded;
	if (lost && untrusted_discarded - ring.discarded_before <= max_possible_discarded() && merged_[ring.info.cpu]) {
		merged_[ring.info.cpu]->add_losses(lost);
		ring.info.discarded = untrusted_discarded;
	}
	ring.done = last;
	return look.fill;
}

// `content_bytes` 0: the block is closed; else this much of the open block is written, and it is checked again from its
// start when there is more.
void UserCard::merge_block(const Process &process, Ring &ring, std::uint64_t content_bytes,
			   const std::function<void()> &learn)
{
	const WordsById &words = process.by_device ? device_words_ : words_;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block;
	copy_block(process, ring, block);
	UserRingInfo info = ring.info;
	info.max_discarded = ring.discarded_before + max_possible_discarded();
	const char *wrong = validate_user_block(block.data(), content_bytes ? content_bytes : content_of(block),
						read_tsc() + future_ticks, words, info, learn);
	MergedStream &merged = *merged_[info.cpu];
	const std::size_t bytes_before = merged.waiting_bytes();
	counts_.tokens += merged.add(block.data(), ring.merged, words);
	counts_.early += merged.take_refused();
	merged_bytes_ += merged.waiting_bytes() - bytes_before;
	if (content_bytes) {
		ring.merged = content_bytes;
		return;
	}
	if (wrong)
		damage(process, wrong);
	info.discarded = ring.info.discarded; // merge_ring() reports it as the ring counts it
	ring.info = info;
	ring.merged = EDC_BLOCK_HEADER;
}

// The same for the ring of threads without restartable sequences: all processes' go into one stream, of no CPU.
unsigned UserCard::share_ring(Process &process, bool last, const MakeStream &make_stream)
{
	SharedRing &ring = *process.shared_ring;
	if (shared_ && (shared_->stalled() || merged_bytes_ > max_waiting_bytes))
		return 0;
	const std::size_t bytes_before = shared_ ? shared_->waiting_bytes() : 0;
	const auto stream = [&]() -> MergedStream & {
		if (!shared_) {
			UserRingInfo info = process.rings.at(0).info;
			info.stream = make_stream("user_shared");
			info.cpu = EDC_CPU_UNKNOWN;
			info.last_time = began_;
			shared_ = std::make_unique<MergedStream>(info);
		}
		return *shared_;
	};
	const auto take = [&](SharedRecord record) {
		if (process.one_thread)
			record.tid = static_cast<std::uint32_t>(process.pid);
		stream().add(record, static_cast<std::uint32_t>(process.pid));
		++counts_.tokens;
	};
	const WordsById &words = process.by_device ? device_words_ : words_;
	if (const char *wrong = ring.take(read_tsc, last, ticks_per_second_, words, take, learning(process)))
		damage(process, wrong);
	counts_.early += ring.take_refused();
	merged_bytes_ += (shared_ ? shared_->waiting_bytes() : 0) - bytes_before;
	process.shared_done = last;
	const std::uint64_t untrusted_discarded = ring.discarded();
	if (untrusted_discarded > process.shared_discarded &&
	    untrusted_discarded - process.shared_discarded_before <= max_possible_discarded()) {
		stream().add_losses(untrusted_discarded - process.shared_discarded);
		process.shared_discarded = untrusted_discarded;
	}
	return ring.fill();
}

// What to do about an unknown class. Once is enough for what one pass finds: a program declares a class before it
// posts an event of it.
std::function<void()> UserCard::learning(const Process &process)
{
	if (!process.by_device)
		return {};
	return [this, learnt = false]() mutable {
		if (!std::exchange(learnt, true))
			learn_classes();
	};
}

void UserCard::copy_block(const Process &process, const Ring &ring, std::array<std::byte, EDC_BLOCK_SIZE> &block)
{
	const std::byte *from = reinterpret_cast<const std::byte *>(ring.shared) + EDC_BLOCK_SIZE +
				ring.taken % process.blocks * EDC_BLOCK_SIZE;
	std::memcpy(block.data(), from, EDC_BLOCK_SIZE);
}

// For a closed block: its header says how much, or 0 if it was full.
std::uint64_t UserCard::content_of(const std::array<std::byte, EDC_BLOCK_SIZE> &block)
{
	std::uint64_t untrusted_bits;
	std::memcpy(&untrusted_bits, block.data() + offsetof(edc_block, content_size), sizeof untrusted_bits);
	return untrusted_bits ? untrusted_bits / 8 : EDC_BLOCK_SIZE;
}

// `content_bytes` 0: the block is closed, its header says how full it is.
bool UserCard::take(const Process &process, Ring &ring, std::uint64_t content_bytes, const MakeStream &make_stream,
		    const Push &push)
{
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block;
	copy_block(process, ring, block);
	if (content_bytes == 0)
		content_bytes = content_of(block);
	if (!ring.has_stream) {
		ring.info.stream = make_stream(
		    process.card == 1 ? fmt::format("user_{}_cpu{}", process.pid, ring.info.cpu)
				      : fmt::format("user_{}_card{}_cpu{}", process.pid, process.card, ring.info.cpu));
		ring.has_stream = true;
	}
	UserRingInfo info = ring.info;
	info.max_discarded = ring.discarded_before + max_possible_discarded();
	const char *wrong = validate_user_block(block.data(), content_bytes, read_tsc() + future_ticks, words_, info);
	const bool is_worthless =
	    wrong && word_at(block.data(), offsetof(edc_block, content_size)) == EDC_BLOCK_HEADER * 8;
	if (!is_worthless && !push(static_cast<std::uint32_t>(info.stream), block.data()))
		return false;
	if (wrong)
		damage(process, wrong);
	if (!is_worthless) {
		counts_.tokens += info.tokens - ring.info.tokens;
		ring.info = info;
		++ring.info.sequence;
	}
	ring.taken = (ring.taken + 1) & EDC_USER_BLOCKS;
	return true;
}

// Reports in an empty block what the ring discarded after its last block was opened.
bool UserCard::tell_last_loss(Ring &ring, const Push &push)
{
	const std::uint64_t untrusted_discarded = __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
	if (untrusted_discarded <= ring.info.discarded || !ring.has_stream)
		return true;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block{};
	edc_block header{};
	header.timestamp_begin = std::max(ring.info.last_time, read_tsc());
	header.events_discarded = untrusted_discarded;
	std::memcpy(block.data(), &header, sizeof header);
	UserRingInfo info = ring.info;
	info.max_discarded = ring.discarded_before + max_possible_discarded();
	validate_user_block(block.data(), EDC_BLOCK_HEADER, ~0ull, words_, info);
	if (!push(static_cast<std::uint32_t>(info.stream), block.data()))
		return false;
	ring.info = info;
	return true;
}

void UserCard::damage(const Process &process, const std::string &what)
{
	if (counts_.damaged++ == 0)
		counts_.damage = fmt::format("{}, by process {}", what, process.pid);
}

} // namespace monitor::card
