// SPDX-License-Identifier: MIT
#include "recorder_threads.h"

#include <algorithm>
#include <cmath>

namespace monitor::plan {
namespace {

constexpr std::chrono::milliseconds interval_at_end{1}; // of drain_rest() (recording/rings/drain.cpp)

Nanoseconds ns(double value)
{
	return std::max<Nanoseconds>(std::llround(value), 1);
}

} // namespace

Nanoseconds SharedState::latency()
{
	const auto &all = arrivals.latencies;
	return all.empty() ? 0 : all[random() % all.size()];
}

bool SharedState::has_waiting_blocks() const
{
	return std::ranges::any_of(rings, [](const SimulatedRing &ring) { return ring.blocks.waiting() > 0; });
}

void WriterModel::wake()
{
	shared_.pool.note_wakeup();
	if (stage_ == Stage::waiting && !is_posted_)
		shared_.machine.wake(number_, shared_.latency());
	is_posted_ = true;
}

Nanoseconds WriterModel::next()
{
	if (stage_ == Stage::working && on_disk_ > 0) {
		stage_ = Stage::on_disk;
		shared_.machine.wake(number_, on_disk_);
		return 0;
	}
	if (stage_ != Stage::waiting) {
		shared_.pool.release(batch_.back().blocks);
		batch_.pop_back();
	}
	return next_write();
}

// As in Writer::run().
Nanoseconds WriterModel::next_write()
{
	while (batch_.empty()) {
		if (!was_whole_) {
			if (!is_posted_) {
				stage_ = Stage::waiting;
				return 0;
			}
			is_posted_ = false;
		}
		batch_ = shared_.pool.next_writes();
		std::ranges::reverse(batch_);
		std::uint32_t blocks = 0;
		for (const PooledBlocks &of_ring : batch_)
			blocks += of_ring.blocks;
		was_whole_ = blocks == buffering::max_blocks_in_a_write;
	}
	stage_ = Stage::working;
	++writes_;
	const Nanoseconds work = ns(shared_.times.write + shared_.times.written_block * batch_.back().blocks);
	on_disk_ = disk_time(work);
	return work;
}

// How long the writer waits for the disk after its own work.
Nanoseconds WriterModel::disk_time(Nanoseconds work) const
{
	const double blocks = batch_.back().blocks;
	if (disk_ns_ < 0)
		return std::llround(shared_.times.waiting + shared_.times.waiting_block * blocks);
	return std::max<Nanoseconds>(std::llround(disk_ns_ * blocks) - work, 0);
}

void DrainModel::wake_for(bool of_program)
{
	(of_program ? program_woke_ : kernel_woke_) = true;
	if (is_waiting_ && is_pass_requested())
		wake_at(std::min(pace_.next_look(), pace_.earliest_look()));
}

void DrainModel::stop()
{
	is_stopping_ = true;
	if (is_waiting_)
		wake_at(time());
}

void DrainModel::wake_at(buffering::DrainPace::Time when)
{
	const std::uint64_t number = ++wait_number_;
	shared_.machine.at(when.time_since_epoch().count(), [this, number] {
		if (number != wait_number_ || !is_waiting_)
			return;
		is_waiting_ = false;
		shared_.machine.wake(number_, shared_.latency());
	});
}

// As in Drain::wait_for_work(): rings that become half full request a pass, and the kernel's also if they still are.
// While the pool is full, only programs' rings do.
bool DrainModel::is_pass_requested() const
{
	if (program_woke_ || stalled_)
		return program_woke_;
	return kernel_woke_ || std::ranges::any_of(shared_.rings, [](const SimulatedRing &ring) {
		       return !ring.program && ring.blocks.is_half_full();
	       });
}

void DrainModel::wait()
{
	is_waiting_ = true;
	wake_at(is_pass_requested() ? std::min(pace_.next_look(), pace_.earliest_look()) : pace_.next_look());
}

Nanoseconds DrainModel::next()
{
	if (copied_)
		release_copied();
	else if (ring_ == 0 && !is_ring_planned_)
		return begin_pass();
	return copy_next();
}

Nanoseconds DrainModel::begin_pass()
{
	++passes_;
	pace_.look(time());
	kernel_woke_ = program_woke_ = stalled_ = false;
	is_ring_planned_ = true;
	pass_fill_ = 0;
	left_of_programs_ = buffering::max_blocks_of_pass;
	std::ranges::fill(left_of_program_, buffering::max_blocks_of_process);
	left_ = shared_.rings.empty() ? 0 : plan_ring(shared_.rings.front());
	return ns(shared_.has_waiting_blocks() ? shared_.times.pass : shared_.times.empty_pass);
}

// How many of its blocks this pass may take.
std::uint64_t DrainModel::plan_ring(const SimulatedRing &ring)
{
	const unsigned fill = ring.blocks.fill();
	fullest_ = std::max(fullest_, fill);
	pass_fill_ = std::max(pass_fill_, ring.program ? fill : buffering::fill_for_pace(fill, ring.level));
	if (!ring.program)
		return ring.blocks.waiting();
	left_of_program_.resize(std::max<std::size_t>(left_of_program_.size(), ring.program + std::size_t{1}),
				buffering::max_blocks_of_process);
	std::uint64_t &left = left_of_program_[ring.program];
	const std::uint64_t taken = std::min({ring.blocks.waiting(), left, left_of_programs_});
	left -= taken;
	left_of_programs_ -= taken;
	return taken;
}

Nanoseconds DrainModel::copy_next()
{
	while (ring_ < shared_.rings.size()) {
		SimulatedRing &ring = shared_.rings[ring_];
		const std::uint32_t kept = ring.program ? buffering::kept_for_kernel(shared_.pool.blocks()) : 0;
		const std::uint32_t free = shared_.pool.free_blocks() - std::min(kept, shared_.pool.free_blocks());
		if (left_ > 0 && free > 0) {
			copied_ = std::min<std::uint32_t>(
			    {static_cast<std::uint32_t>(std::min<std::uint64_t>(left_, max_copied_at_once)), free});
			const std::uint32_t fresh = shared_.pool.reserve(copied_);
			return ns(copied_ * (ring.program ? shared_.times.user_block : shared_.times.kernel_block) +
				  fresh * shared_.times.fresh_block);
		}
		stalled_ |= left_ > 0 && !ring.program;
		ring.has_woken = false;
		if (++ring_ < shared_.rings.size())
			left_ = plan_ring(shared_.rings[ring_]);
	}
	end_pass();
	return 0;
}

void DrainModel::release_copied()
{
	SimulatedRing &ring = shared_.rings[ring_];
	ring.blocks.release(copied_, shared_.work_of(ring.cpu));
	left_ -= copied_;
	if (shared_.pool.queue({static_cast<std::uint32_t>(ring_), copied_}))
		writer_.wake();
	copied_ = 0;
}

void DrainModel::end_pass()
{
	ring_ = 0;
	is_ring_planned_ = false;
	pace_.found(pass_fill_);
	if (pace_.sync_is_due(time()))
		pace_.synced(time());
	if (is_stopping_) {
		writer_.wake();
		if (!shared_.has_waiting_blocks())
			return;
		is_waiting_ = true;
		wake_at(time() + interval_at_end);
		return;
	}
	if (pace_.wakes_writer(shared_.pool.queued()))
		writer_.wake();
	wait();
}

void LoadModel::start(simulation::ThreadNumber number)
{
	number_ = number;
	shared_.machine.wake(number);
}

Nanoseconds LoadModel::next()
{
	if (has_begun_) {
		has_begun_ = false;
		close(steps_[at_++]);
	}
	for (; at_ < steps_.size(); ++at_) {
		const Step &step = steps_[at_];
		if (step.release > shared_.machine.now()) {
			shared_.machine.at(step.release, [this] { shared_.machine.wake(number_); });
			return 0;
		}
		if (step.work > 0) {
			has_begun_ = true;
			return work_of(step);
		}
		close(step);
	}
	if (on_end_)
		std::exchange(on_end_, {})();
	return 0;
}

Nanoseconds LoadModel::work_of(const Step &step)
{
	const auto work = static_cast<double>(step.work);
	const double saved = std::min(saved_, work);
	saved_ -= saved;
	return ns((work - saved) * pace_);
}

void LoadModel::close(const Step &step)
{
	if (step.ring == Step::no_ring)
		return;
	SimulatedRing &ring = shared_.rings[step.ring];
	const double lost_before = ring.blocks.lost();
	const bool is_half_full = ring.blocks.post(step.words, shared_.work_of(ring.cpu));
	if (!ring.program)
		saved_ += (ring.blocks.lost() - lost_before) * shared_.times.saved_by_lost_word;
	// A kernel's ring wakes the drain thread each time that it becomes half full, a program's once between passes.
	if (ring.program ? ring.blocks.is_half_full() && !std::exchange(ring.has_woken, true) : is_half_full)
		drain_.wake_for(ring.program != 0);
}

} // namespace monitor::plan
