// SPDX-License-Identifier: MIT
// The half of the user card that the drain thread calls: from the rings of processes into streams.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/tsc.h"
#include "user_area.h"

namespace monitor::card {
namespace {

// A token's time is read so long before its ring's state is stored, at the most: a restartable sequence is far shorter.
constexpr std::uint64_t commit_ticks = 100'000;

// By how much an untrusted count rose; 0: not as a count can.
std::uint64_t rise(std::uint64_t untrusted, std::uint64_t before)
{
	return untrusted - before < most_refused ? untrusted - before : 0;
}

} // namespace

struct UserCard::Look {
	std::uint64_t closed;     // blocks that were left, as the writers number them
	std::uint64_t open_bytes; // of the open block, its header included; 0: none is open
	unsigned fill;            // in thousandths
};

unsigned UserCard::drain(bool last, const MakeStream &make_stream, const Push &push)
{
	const std::lock_guard guard(lock_);
	const std::uint64_t before_look = read_tsc();
	std::uint64_t shared_before = before_look;
	adopt_arrived();
	last_look_ = before_look;
	unsigned worst = 0;
	for (const auto &process : processes_) {
		const bool over = last || process->ended; // asked before the rings are read
		for (Ring &ring : process->rings)
			worst = std::max(worst, process->merged ? merge_ring(*process, ring, over, make_stream)
								: drain_ring(*process, ring, over, make_stream, push));
		worst = std::max(worst, share_ring(*process, over, make_stream));
		shared_before = std::min(shared_before, process->shared_ring->complete_before());
	}
	for (const auto &stream : merged_)
		if (stream)
			stream->pack(last ? ~0ull : before_look - commit_ticks, last, push);
	if (shared_)
		shared_->pack(last ? ~0ull : shared_before - commit_ticks, last, push);
	std::erase_if(processes_, [this](const auto &process) { return process->ended && forget(*process); });
	live_ = processes_.size();
	return worst;
}

// An ended process whose rings are empty leaves its counts.
bool UserCard::forget(const Process &process)
{
	if (!process.shared_done || !std::ranges::all_of(process.rings, &Ring::done))
		return false;
	add_counts(process, counts_);
	return true;
}

void UserCard::add_counts(const Process &process, UserCounts &counts)
{
	const std::uint64_t untrusted_early = __atomic_load_n(&process.shared().lost_early, __ATOMIC_RELAXED);
	counts.early += rise(untrusted_early, process.early_before);
	counts.discarded += process.shared_discarded - process.shared_discarded_before;
	for (const Ring &ring : process.rings)
		counts.discarded += ring.facts.discarded - ring.discarded_before;
}

// Where a ring stands. A position that no writer can have made is told, and the ring begins anew there.
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

// Returns how full the ring was, in thousandths rounded up.
unsigned UserCard::drain_ring(Process &process, Ring &ring, bool last, const MakeStream &make_stream, const Push &push)
{
	if (ring.done)
		return 0;
	const Look look = look_at(process, ring);
	while (ring.taken != look.closed) {
		if (!take(process, ring, 0, make_stream, push))
			return look.fill; // no room: the block waits in the ring
		__atomic_store_n(&ring.shared->read, ring.taken, __ATOMIC_RELEASE);
	}
	ring.done = last && (look.open_bytes == 0 || take(process, ring, look.open_bytes, make_stream, push)) &&
		    tell_last_loss(ring, push);
	return look.fill;
}

// The same for a ring whose events go into its CPU's merged stream: of the open block too, what was not taken yet.
unsigned UserCard::merge_ring(const Process &process, Ring &ring, bool last, const MakeStream &make_stream)
{
	if (ring.done || (merged_[ring.facts.cpu] && merged_[ring.facts.cpu]->stalled()))
		return 0; // what waits for room waits in the ring, which refuses what does not fit
	const Look look = look_at(process, ring);
	const auto learn = learning(process);
	if ((look.closed != ring.taken || look.open_bytes) && !merged_[ring.facts.cpu]) {
		UserRingFacts facts = ring.facts;
		facts.stream = make_stream(fmt::format("user_merged_cpu{}", facts.cpu));
		facts.last_time = began_;
		merged_[facts.cpu] = std::make_unique<MergedStream>(facts);
	}
	while (ring.taken != look.closed) {
		merge_block(process, ring, 0, learn);
		ring.taken = (ring.taken + 1) & EDC_USER_BLOCKS;
		__atomic_store_n(&ring.shared->read, ring.taken, __ATOMIC_RELEASE);
	}
	if (look.open_bytes > ring.merged)
		merge_block(process, ring, look.open_bytes, learn);
	const std::uint64_t untrusted_discarded = __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
	if (const std::uint64_t lost = rise(untrusted_discarded, ring.facts.discarded);
	    lost && merged_[ring.facts.cpu]) {
		merged_[ring.facts.cpu]->add_losses(lost);
		ring.facts.discarded = untrusted_discarded;
	}
	ring.done = last;
	return look.fill;
}

// `content_bytes` 0: the block was left; else so much of the open one is there, and it is tested again from its
// beginning when there is more.
void UserCard::merge_block(const Process &process, Ring &ring, std::uint64_t content_bytes,
			   const std::function<void()> &learn)
{
	const WordsById &words = process.by_device ? device_words_ : words_;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block;
	copy_block(process, ring, block);
	UserRingFacts facts = ring.facts;
	const char *wrong = validate_user_block(block.data(), content_bytes ? content_bytes : content_of(block),
						read_tsc() + future_ticks, words, facts, learn);
	counts_.tokens += merged_[facts.cpu]->add(block.data(), ring.merged, words);
	counts_.early += merged_[facts.cpu]->take_refused();
	if (content_bytes) {
		ring.merged = content_bytes;
		return;
	}
	if (wrong)
		damage(process, wrong);
	facts.discarded = ring.facts.discarded; // merge_ring() tells it as the ring counts it
	ring.facts = facts;
	ring.merged = EDC_BLOCK_HEADER;
}

// The same for the ring of threads without restartable sequences: all processes' go into one stream, of no CPU.
unsigned UserCard::share_ring(Process &process, bool last, const MakeStream &make_stream)
{
	SharedRing &ring = *process.shared_ring;
	if (shared_ && shared_->stalled())
		return 0;
	const auto stream = [&]() -> MergedStream & {
		if (!shared_) {
			UserRingFacts facts = process.rings.at(0).facts;
			facts.stream = make_stream("user_shared");
			facts.cpu = EDC_CPU_UNKNOWN;
			facts.last_time = began_;
			shared_ = std::make_unique<MergedStream>(facts);
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
	process.shared_done = last;
	if (ring.discarded() > process.shared_discarded) {
		stream().add_losses(ring.discarded() - process.shared_discarded);
		process.shared_discarded = ring.discarded();
	}
	return ring.fill();
}

// What is done about a class that nobody has told of yet. Once is enough for what was there at one look: whoever posts
// an event has declared its class before.
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

// Of a block that was left: its header says how much, or nothing if it was full.
std::uint64_t UserCard::content_of(const std::array<std::byte, EDC_BLOCK_SIZE> &block)
{
	std::uint64_t untrusted_bits;
	std::memcpy(&untrusted_bits, block.data() + offsetof(edc_block, content_size), sizeof untrusted_bits);
	return untrusted_bits ? untrusted_bits / 8 : EDC_BLOCK_SIZE;
}

// `content_bytes` 0: the block was left, its header says how full.
bool UserCard::take(const Process &process, Ring &ring, std::uint64_t content_bytes, const MakeStream &make_stream,
		    const Push &push)
{
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block;
	copy_block(process, ring, block);
	if (content_bytes == 0)
		content_bytes = content_of(block);
	if (!ring.has_stream) {
		ring.facts.stream = make_stream(
		    process.card == 1 ? fmt::format("user_{}_cpu{}", process.pid, ring.facts.cpu)
				      : fmt::format("user_{}_card{}_cpu{}", process.pid, process.card, ring.facts.cpu));
		ring.has_stream = true;
	}
	UserRingFacts facts = ring.facts;
	const char *wrong = validate_user_block(block.data(), content_bytes, read_tsc() + future_ticks, words_, facts);
	if (!push(static_cast<std::uint32_t>(facts.stream), block.data()))
		return false;
	if (wrong)
		damage(process, wrong);
	counts_.tokens += facts.tokens - ring.facts.tokens;
	ring.facts = facts;
	++ring.facts.sequence;
	ring.taken = (ring.taken + 1) & EDC_USER_BLOCKS;
	return true;
}

// What the ring refused after its last block was opened: an empty block tells it.
bool UserCard::tell_last_loss(Ring &ring, const Push &push)
{
	const std::uint64_t untrusted_discarded = __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
	if (untrusted_discarded <= ring.facts.discarded || !ring.has_stream)
		return true;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block{};
	edc_block header{};
	header.timestamp_begin = std::max(ring.facts.last_time, read_tsc());
	header.events_discarded = untrusted_discarded;
	std::memcpy(block.data(), &header, sizeof header);
	UserRingFacts facts = ring.facts;
	validate_user_block(block.data(), EDC_BLOCK_HEADER, ~0ull, words_, facts);
	if (!push(static_cast<std::uint32_t>(facts.stream), block.data()))
		return false;
	ring.facts = facts;
	return true;
}

void UserCard::damage(const Process &process, const std::string &what)
{
	if (counts_.damaged++ == 0)
		counts_.damage = fmt::format("{}, by process {}", what, process.pid);
}

} // namespace monitor::card
