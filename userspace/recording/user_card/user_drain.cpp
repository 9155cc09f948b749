// SPDX-License-Identifier: MIT
#include "user_drain.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/buffering/drain_pace.h"
#include "base/tsc.h"

namespace monitor::card {
namespace {

// Maximum time from a token's clock read to the store of its ring's state; a restartable sequence is far shorter.
constexpr std::uint64_t commit_ticks = 100'000;

using buffering::max_blocks_of_pass, buffering::max_blocks_of_process;
constexpr std::uint64_t max_blocks_with_triggers = 1024; // events are kept until all earlier ones are known
constexpr std::size_t max_waiting_bytes = 32 << 20;      // of events that wait to be merged, in all streams together

struct alignas(8) Block {
	std::byte bytes[EDC_BLOCK_SIZE];

	// Content of a closed block: from its header; 0 there means full.
	std::uint64_t content() const
	{
		const std::uint64_t untrusted_bits = word_at(bytes, offsetof(edc_block, content_size));
		return untrusted_bits ? untrusted_bits / 8 : EDC_BLOCK_SIZE;
	}
};

Block copy_of_next(const UserProcess &process, const UserRing &ring)
{
	Block block;
	std::memcpy(block.bytes, ring.block(process.blocks), sizeof block.bytes);
	return block;
}

} // namespace

struct UserDrain::RingState {
	std::uint64_t closed;     // blocks that the writers have left, as they number them
	std::uint64_t open_bytes; // of the open block, including its header; 0: none is open
	unsigned fill;            // in thousandths
};

void UserDrain::start(std::uint64_t ticks_per_second)
{
	ticks_per_second_ = ticks_per_second;
	wakeups_.set_ticks_per_second(ticks_per_second);
}

// Passes start with different processes, for fairness.
unsigned UserDrain::pass(bool last, const MakeStream &make_stream, const Push &push, const Push &show)
{
	const std::uint64_t pass_start = read_tsc();
	processes_.begin_pass(pass_start);
	wakeups_.begin(pass_start);
	merged_streams_.resize(processes_.cpus());
	complete_before_.assign(merged_streams_.size(), last ? ~0ull : pass_start - commit_ticks);
	all_complete_before_ = last ? ~0ull : pass_start - commit_ticks;
	waiting_bytes_ = waiting_bytes();
	Pass pass{last,
		  last                              ? ~0ull
		  : filter_.triggers().has_inputs() ? max_blocks_with_triggers
						    : max_blocks_of_pass,
		  make_stream, push, show};
	unsigned worst = 0;
	++first_process_;
	const auto &all = processes_.all();
	for (std::size_t i = 0; i < all.size(); ++i)
		worst = std::max(worst, drain_process(*all[(first_process_ + i) % all.size()], pass));
	pack_merged(last, pass_start, push, show);
	processes_.remove_done();
	wakeups_.end();
	return worst;
}

unsigned UserDrain::drain_process(UserProcess &process, Pass &pass)
{
	const bool is_final = pass.last || process.ended; // checked before the rings are read
	functions_.write_left_out(process.shared());
	const std::uint64_t damaged_before = damaged_;
	std::uint64_t blocks_left = pass.last ? pass.blocks_left : std::min(pass.blocks_left, max_blocks_of_process);
	pass.blocks_left -= blocks_left;
	unsigned worst = 0;
	++process.first_ring;
	for (std::size_t i = 0; i < process.rings.size(); ++i) {
		UserRing &ring = process.rings[(process.first_ring + i) % process.rings.size()];
		worst = std::max(worst, process.is_merged ? merge_ring(process, ring, is_final, pass.make_stream)
							  : drain_ring(process, ring, is_final, blocks_left, pass));
	}
	worst = std::max(worst, drain_shared_ring(process, is_final, pass.make_stream));
	pass.blocks_left += blocks_left;
	if (damaged_ != damaged_before)
		worst = 0; // the fill that such a process reports is not trusted
	if (!process.ended && process.by_device)
		wakeups_.poll(); // its rings are device memory, in which no futex works
	else if (!process.ended)
		wakeups_.update(process.shared().bell, process.wakeup, worst >= 500);
	return worst;
}

void UserDrain::pack_merged(bool last, std::uint64_t pass_start, const Push &push, const Push &show)
{
	const auto pack = [&](MergedStream &stream, std::uint64_t complete_before) {
		stream.pack(complete_before, last, push);
		if (show)
			all_complete_before_ = std::min(all_complete_before_, stream.show(complete_before, show));
	};
	for (std::size_t cpu = 0; cpu < merged_streams_.size(); ++cpu)
		if (merged_streams_[cpu])
			pack(*merged_streams_[cpu], complete_before_[cpu]);
	std::uint64_t shared_before = pass_start;
	for (const auto &process : processes_.all())
		shared_before = std::min(shared_before, process->shared_ring->complete_before());
	if (!last)
		all_complete_before_ = std::min(all_complete_before_, shared_before - commit_ticks);
	if (shared_)
		pack(*shared_, last ? ~0ull : shared_before - commit_ticks);
}

std::size_t UserDrain::waiting_bytes() const
{
	std::size_t bytes = shared_ ? shared_->waiting_bytes() : 0;
	for (const auto &stream : merged_streams_)
		bytes += stream ? stream->waiting_bytes() : 0;
	return bytes;
}

// Reads a ring's position. An impossible one is reported, and the ring restarts there.
UserDrain::RingState UserDrain::read_state(const UserProcess &process, UserRing &ring)
{
	const std::uint64_t untrusted_state = __atomic_load_n(&ring.shared->state, __ATOMIC_ACQUIRE);
	const std::uint64_t position = untrusted_state & EDC_USER_POSITION_MASK;
	const std::uint64_t closed = position / EDC_USER_BLOCK_WORDS;
	const std::uint64_t waiting = (closed - ring.taken) & EDC_USER_BLOCK_MASK;
	if (waiting > process.blocks) {
		note_damage(process, "a ring's position jumped");
		ring.taken = closed;
		ring.merged_bytes = ring.evaluated_bytes = EDC_BLOCK_HEADER;
		ring.give_back();
		return {closed, 0, 0};
	}
	return {closed, position % EDC_USER_BLOCK_WORDS * 8, buffering::fill_of(waiting, process.blocks)};
}

// Returns the fill of the ring in thousandths, rounded up.
unsigned UserDrain::drain_ring(const UserProcess &process, UserRing &ring, bool is_final, std::uint64_t &blocks_left,
			       const Pass &pass)
{
	if (ring.done)
		return 0;
	const RingState state = read_state(process, ring);
	while (ring.taken != state.closed) {
		const std::uint64_t damaged_before = damaged_;
		if (blocks_left == 0 || !take(process, ring, 0, pass)) { // no space: the block waits in the ring
			all_complete_before_ = std::min(all_complete_before_, ring.info.last_time);
			return state.fill;
		}
		--blocks_left;
		if (damaged_ != damaged_before)
			ring.taken = state.closed; // skip the rest: the same writer wrote it
		ring.give_back();
	}
	if (!is_final && filter_.triggers().has_inputs() && state.open_bytes > ring.evaluated_bytes)
		evaluate_open_block(process, ring, state.open_bytes);
	if (!is_final && pass.show && state.open_bytes > EDC_BLOCK_HEADER)
		show_open_block(process, ring, state.open_bytes, pass);
	ring.done = is_final && (state.open_bytes == 0 || take(process, ring, state.open_bytes, pass)) &&
		    report_last_loss(ring, pass.push);
	return state.fill;
}

// The same for a ring whose events go into its CPU's merged stream; also takes what is new in the open block.
unsigned UserDrain::merge_ring(const UserProcess &process, UserRing &ring, bool is_final, const MakeStream &make_stream)
{
	if (ring.done)
		return 0;
	if ((merged_streams_[ring.info.cpu] && merged_streams_[ring.info.cpu]->stalled()) ||
	    waiting_bytes_ > max_waiting_bytes) {
		// The events stay in the ring, none older than last_time: pack up to that.
		complete_before_[ring.info.cpu] = std::min(complete_before_[ring.info.cpu], ring.info.last_time);
		return 0;
	}
	const RingState state = read_state(process, ring);
	const auto learn = learn_once(process);
	if ((state.closed != ring.taken || state.open_bytes) && !merged_streams_[ring.info.cpu]) {
		UserRingInfo info = ring.info;
		info.stream = make_stream(fmt::format("user_merged_cpu{}", info.cpu));
		info.last_time = processes_.start_time();
		merged_streams_[info.cpu] = std::make_unique<MergedStream>(info);
	}
	while (ring.taken != state.closed) {
		const std::uint64_t damaged_before = damaged_;
		merge_block(process, ring, 0, learn);
		ring.taken = damaged_ != damaged_before ? state.closed : (ring.taken + 1) & EDC_USER_BLOCK_MASK;
		ring.give_back();
	}
	if (state.open_bytes > ring.merged_bytes)
		merge_block(process, ring, state.open_bytes, learn);
	const std::uint64_t untrusted_discarded = __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
	const std::uint64_t lost = untrusted_discarded - ring.info.discarded;
	if (lost && untrusted_discarded - ring.discarded_before <= processes_.max_possible_discarded() &&
	    merged_streams_[ring.info.cpu]) {
		merged_streams_[ring.info.cpu]->add_losses(lost);
		ring.info.discarded = untrusted_discarded;
	}
	ring.done = is_final;
	return state.fill;
}

// `content_bytes` 0: the block is closed; else this much of the open block is written. When there is more it is checked
// again from its start, so what was found now is not kept.
void UserDrain::merge_block(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes,
			    const std::function<void()> &learn)
{
	const WordsById &words = classes_.words(process.by_device);
	Block block = copy_of_next(process, ring);
	UserRingInfo info = info_of(ring);
	const char *wrong = validate_user_block(block.bytes, content_bytes ? content_bytes : block.content(),
						read_tsc() + max_clock_skew_ticks, words, info, learn);
	MergedStream &merged = *merged_streams_[info.cpu];
	const std::size_t bytes_before = merged.waiting_bytes();
	tokens_ += merged.add(block.bytes, ring.merged_bytes, words, &filter_);
	refused_ += merged.take_refused();
	waiting_bytes_ += merged.waiting_bytes() - bytes_before;
	ring.merged_bytes = content_bytes ? content_bytes : EDC_BLOCK_HEADER;
	if (content_bytes)
		return;
	if (wrong)
		note_damage(process, wrong);
	functions_.count(block.bytes);
	info.discarded = ring.info.discarded; // merge_ring() reports it as the ring counts it
	ring.info = info;
}

// Takes what is in the ring that the process's threads without restartable sequences share. The records of all such
// rings go into one stream, of no CPU.
unsigned UserDrain::drain_shared_ring(UserProcess &process, bool is_final, const MakeStream &make_stream)
{
	SharedRing &ring = *process.shared_ring;
	if (shared_ && (shared_->stalled() || waiting_bytes_ > max_waiting_bytes))
		return 0;
	const std::size_t bytes_before = shared_ ? shared_->waiting_bytes() : 0;
	const auto stream = [&]() -> MergedStream & {
		if (!shared_) {
			UserRingInfo info = process.rings.at(0).info;
			info.stream = make_stream("user_shared");
			info.cpu = EDC_CPU_UNKNOWN;
			info.last_time = processes_.start_time();
			shared_ = std::make_unique<MergedStream>(info);
		}
		return *shared_;
	};
	const auto take = [&](SharedRecord record) {
		if (process.numbers)
			record.tid = process.numbers->find(record.tid);
		MergedStream &merged = stream();
		PostedEvent event{{EDC_CPU_UNKNOWN, record.tid, static_cast<std::uint32_t>(process.pid), record.time},
				  {}};
		std::copy_n(record.word, record.words, event.record.begin());
		if (!filter_.keeps(event))
			return;
		merged.add(record, static_cast<std::uint32_t>(process.pid));
		++tokens_;
	};
	const WordsById &words = classes_.words(process.by_device);
	if (const char *wrong = ring.take({read_tsc, is_final, ticks_per_second_}, words, take, learn_once(process)))
		note_damage(process, wrong);
	refused_ += ring.take_refused();
	waiting_bytes_ += (shared_ ? shared_->waiting_bytes() : 0) - bytes_before;
	process.shared_done = is_final;
	const std::uint64_t untrusted_discarded = ring.discarded();
	if (untrusted_discarded > process.shared_discarded &&
	    untrusted_discarded - process.shared_discarded_before <= processes_.max_possible_discarded()) {
		stream().add_losses(untrusted_discarded - process.shared_discarded);
		process.shared_discarded = untrusted_discarded;
	}
	return ring.fill();
}

// The callback for an unknown class, which acts once a pass: a program declares a class before it posts an event of it.
std::function<void()> UserDrain::learn_once(const UserProcess &process) const
{
	if (!process.by_device)
		return {};
	return [this, learnt = false]() mutable {
		if (!std::exchange(learnt, true))
			learn_();
	};
}

void UserDrain::make_stream_of(const UserProcess &process, UserRing &ring, const MakeStream &make_stream) const
{
	if (std::exchange(ring.has_stream, true))
		return;
	ring.info.stream = make_stream(
	    process.card == 1 ? fmt::format("user_{}_cpu{}", process.pid, ring.info.cpu)
			      : fmt::format("user_{}_card{}_cpu{}", process.pid, process.card, ring.info.cpu));
}

// The block will be taken from the ring later, checked again from its start. One without events need not be.
void UserDrain::show_open_block(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes,
				const Pass &pass)
{
	Block block = copy_of_next(process, ring);
	make_stream_of(process, ring, pass.make_stream);
	UserRingInfo info = info_of(ring);
	validate_user_block(block.bytes, content_bytes, read_tsc() + max_clock_skew_ticks, classes_.words(false), info);
	const std::uint64_t left_out = filter_.strip(block.bytes, classes_.words(false));
	if (info.tokens - ring.info.tokens == left_out)
		return;
	if (!pass.show(static_cast<std::uint32_t>(info.stream), block.bytes))
		all_complete_before_ = std::min(all_complete_before_, ring.info.last_time);
}

// Evaluates triggers for the open block, without waiting until it is full.
void UserDrain::evaluate_open_block(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes)
{
	Block block = copy_of_next(process, ring);
	UserRingInfo info = info_of(ring);
	validate_user_block(block.bytes, content_bytes, read_tsc() + max_clock_skew_ticks, classes_.words(false), info);
	filter_.evaluate_triggers(block.bytes, classes_.words(false), ring.evaluated_bytes);
	ring.evaluated_bytes = content_bytes;
}

// `content_bytes` 0: the block is closed, its header says how full it is.
bool UserDrain::take(const UserProcess &process, UserRing &ring, std::uint64_t content_bytes, const Pass &pass)
{
	Block block = copy_of_next(process, ring);
	if (content_bytes == 0)
		content_bytes = block.content();
	make_stream_of(process, ring, pass.make_stream);
	UserRingInfo info = info_of(ring);
	const char *wrong = validate_user_block(block.bytes, content_bytes, read_tsc() + max_clock_skew_ticks,
						classes_.words(false), info);
	Block kept = block;
	const std::uint64_t left_out = filter_.strip(kept.bytes, classes_.words(false));
	// A block of `thread` tokens alone holds no event: the next one has its thread in the header.
	const bool is_empty = left_out ? info.tokens - ring.info.tokens == left_out
				       : word_at(kept.bytes, offsetof(edc_block, content_size)) == EDC_BLOCK_HEADER * 8;
	const bool reports_loss = info.discarded != ring.info.discarded;
	const bool is_pushed = !is_empty || (left_out ? reports_loss : !wrong);
	if (is_pushed && !pass.push(static_cast<std::uint32_t>(info.stream), kept.bytes))
		return false;
	if (wrong)
		note_damage(process, wrong);
	if (is_pushed || left_out) { // else it had no events
		functions_.count(block.bytes);
		filter_.count(ring.evaluated_bytes);
		tokens_ += info.tokens - ring.info.tokens - left_out;
		ring.info = info;
		ring.info.sequence += is_pushed;
	}
	ring.evaluated_bytes = EDC_BLOCK_HEADER;
	ring.taken = (ring.taken + 1) & EDC_USER_BLOCK_MASK;
	return true;
}

// Reports in an empty block what the ring discarded after its last block was opened.
bool UserDrain::report_last_loss(UserRing &ring, const Push &push)
{
	const std::uint64_t untrusted_discarded = __atomic_load_n(&ring.shared->discarded, __ATOMIC_RELAXED);
	if (untrusted_discarded <= ring.info.discarded || !ring.has_stream)
		return true;
	Block block{};
	edc_block header{};
	header.timestamp_begin = std::max(ring.info.last_time, read_tsc());
	header.events_discarded = untrusted_discarded;
	std::memcpy(block.bytes, &header, sizeof header);
	UserRingInfo info = info_of(ring);
	validate_user_block(block.bytes, EDC_BLOCK_HEADER, ~0ull, classes_.words(false), info);
	if (!push(static_cast<std::uint32_t>(info.stream), block.bytes))
		return false;
	ring.info = info;
	return true;
}

UserRingInfo UserDrain::info_of(const UserRing &ring) const
{
	UserRingInfo info = ring.info;
	info.max_discarded = ring.discarded_before + processes_.max_possible_discarded();
	return info;
}

bool UserDrain::is_empty() const
{
	return std::ranges::all_of(merged_streams_, [](const auto &stream) { return !stream || stream->empty(); }) &&
	       (!shared_ || shared_->empty());
}

void UserDrain::add_counts(UserCounts &counts) const
{
	counts.tokens = tokens_;
	counts.early += refused_;
	counts.damaged = damaged_;
	counts.damage = damage_;
}

void UserDrain::note_damage(const UserProcess &process, const std::string &what)
{
	if (damaged_++ == 0)
		damage_ = fmt::format("{}, by process {}", what, process.pid);
}

} // namespace monitor::card
