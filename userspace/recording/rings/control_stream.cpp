// SPDX-License-Identifier: MIT
#include "control_stream.h"

#include <algorithm>
#include <cstring>

namespace monitor::record {
namespace {

std::uint64_t pair(std::uint32_t first, std::uint32_t second)
{
	return first | static_cast<std::uint64_t>(second) << 32;
}

} // namespace

void ControlStream::open(std::uint64_t time)
{
	edc_block header{};
	header.magic = EDC_BLOCK_MAGIC;
	std::memcpy(header.uuid, uuid_.data(), uuid_.size());
	header.stream_instance_id = number_;
	header.timestamp_begin = header.timestamp_end = time;
	header.packet_size = EDC_BLOCK_SIZE * 8;
	header.packet_seq_num = sequence_++;
	header.cpu_id = ~0u;
	block_.fill(std::byte{0});
	std::memcpy(block_.data(), &header, sizeof header);
	begin_ = time;
	pos_ = EDC_BLOCK_HEADER;
}

void ControlStream::flush()
{
	show(sink_);
	pos_ = 0;
}

void ControlStream::show(const Sink &sink) const
{
	if (pos_ == 0)
		return;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy = block_;
	auto *header = reinterpret_cast<edc_block *>(copy.data());
	header->content_size = pos_ * 8;
	header->timestamp_end = last_;
	sink(copy.data());
}

void ControlStream::post(std::uint32_t id, std::uint64_t time, std::uint32_t arg, std::span<const std::uint64_t> words)
{
	time = std::max(time, last_);
	if (pos_ && (pos_ + 8 + words.size_bytes() > EDC_BLOCK_SIZE || time - begin_ >= EDC_BLOCK_MAX_TICKS))
		flush();
	if (!pos_)
		open(time);
	const std::uint64_t token = edc_token(id, EDC_MODE_KERNEL, time, arg);
	std::memcpy(block_.data() + pos_, &token, sizeof token);
	std::memcpy(block_.data() + pos_ + 8, words.data(), words.size_bytes());
	pos_ += 8 + words.size_bytes();
	last_ = time;
	++tokens_;
}

void ControlStream::repeat(std::uint64_t token, std::span<const std::uint64_t> words, std::uint64_t time)
{
	post(edc_token_id(token), time, edc_token_arg(token), words);
}

void ControlStream::sync(const Sync &sync)
{
	const std::uint64_t words[] = {sync.monotonic_ns, sync.realtime_ns, sync.tai_ns, sync.width_ticks};
	post(EDC_ID_SYNC, sync.time, sync.cpu, words);
}

void ControlStream::sync(ClockSteering &steering, const Sync &sync)
{
	const std::vector<edc_clock_set> sets = steering.take_published();
	std::uint64_t number = steering.published() - sets.size();
	for (const edc_clock_set &set : sets)
		clock_set(number++, set, sync.time);
	this->sync(sync);
}

void ControlStream::clock_set(std::uint64_t number, const edc_clock_set &set, std::uint64_t time)
{
	const std::uint64_t words[] = {set.from_ns, set.base, pair(set.whole, set.frac)};
	post(EDC_ID_CLOCK_SET, time, static_cast<std::uint32_t>(number), words);
}

void ControlStream::cpu_offline(std::uint32_t cpu, std::uint64_t time)
{
	const std::uint64_t words[] = {cpu};
	post(EDC_ID_CPU_OFFLINE, time, 0, words);
}

void ControlStream::drain_pass(const DrainPass &pass, std::uint64_t time)
{
	const std::uint64_t words[] = {
	    pass.start,
	    pass.cpu_ns,
	    pair(pass.blocks, pass.free_blocks),
	    pair(pass.empty_passes, std::min(pass.fullest, 0xffffu) | static_cast<std::uint32_t>(pass.stalled) << 16),
	    pass.empty_cpu_ns,
	};
	post(EDC_ID_DRAIN_PASS, time, pass.why, words);
}

void ControlStream::block_write(const BlockWrite &write, std::uint64_t time)
{
	const std::uint64_t words[] = {write.start, write.wall_ns, write.cpu_ns, pair(write.stream, write.blocks)};
	post(EDC_ID_BLOCK_WRITE, time, static_cast<std::uint32_t>(write.error), words);
}

void ControlStream::fired(std::size_t trigger, std::int32_t tid, std::uint64_t began, std::uint64_t key,
			  std::uint64_t time)
{
	const std::uint64_t words[] = {pair(0, static_cast<std::uint32_t>(tid)), began, key}; // not fired by an event
	post(EDC_ID_RECORDER_FIRED, time, static_cast<std::uint32_t>(trigger), words);
}

void ControlStream::fired_by_program(std::size_t trigger, const edc_firing &noted, std::uint64_t time)
{
	const std::uint64_t words[] = {pair(noted.event & 0xffff, static_cast<std::uint32_t>(noted.tid)), noted.began,
				       noted.key, noted.time};
	post(EDC_ID_PROGRAM_FIRED, time, static_cast<std::uint32_t>(trigger), words);
}

void ControlStream::paused(std::uint64_t since, std::uint64_t duration, std::uint64_t time)
{
	const std::uint64_t words[] = {since, duration};
	post(EDC_ID_RECORDER_PAUSED, time, 0, words);
}

void ControlStream::count(std::size_t number, std::uint64_t total, std::uint64_t time)
{
	post(EDC_ID_COUNT, time, static_cast<std::uint32_t>(number), {&total, 1});
}

void ControlStream::timed(std::size_t number, const recording_file::EventTime &result, std::uint64_t time)
{
	const std::uint64_t words[] = {result.number, result.total, result.shortest, result.longest};
	post(EDC_ID_TIMED, time, static_cast<std::uint32_t>(number), words);
}

void ControlStream::state_subject(const StateSubject &subject, std::uint64_t time)
{
	std::array<char, 16> name{};
	subject.name.copy(name.data(), name.size() - 1);
	std::uint64_t comm[2];
	std::memcpy(comm, name.data(), sizeof comm);
	const std::uint64_t words[] = {
	    pair(subject.number, subject.cpu),
	    pair(static_cast<std::uint32_t>(subject.tid), static_cast<std::uint32_t>(subject.process)),
	    subject.cgroup,
	    subject.cpu_ticks,
	    comm[0],
	    comm[1],
	};
	post(EDC_ID_STATE_SUBJECT, time, subject.in_command ? EDC_SUBJECT_IN_COMMAND : 0u, words);
}

void ControlStream::state_run(std::uint32_t subject, std::uint32_t state, std::uint64_t ticks, std::uint64_t time)
{
	if (ticks <= ~std::uint32_t(0)) {
		const std::uint64_t word = pair(subject, static_cast<std::uint32_t>(ticks));
		post(EDC_ID_STATE_RUN, time, state, {&word, 1});
		return;
	}
	const std::uint64_t words[] = {pair(subject, 0), ticks};
	post(EDC_ID_STATE_LONG_RUN, time, state, words);
}

void ControlStream::thread_state(const edc_task &task, bool at_end)
{
	std::uint64_t comm[2];
	std::memcpy(comm, task.comm, sizeof comm);
	const auto pid = static_cast<std::uint32_t>(task.pid);
	const std::uint32_t flags = task.flags | (at_end ? EDC_THREAD_AT_END : 0u);
	const std::uint64_t words[] = {
	    pair(pid, static_cast<std::uint32_t>(task.tgid)),
	    pair(static_cast<std::uint32_t>(task.ppid), task.cpu | static_cast<std::uint32_t>(task.syscall) << 16),
	    comm[0],
	    comm[1],
	    task.cgroup,
	    pair(flags, static_cast<std::uint32_t>(task.prio)),
	};
	post(EDC_ID_THREAD_STATE, task.time, task.state, words);
}

void ControlStream::thread_counts(const edc_task &task, bool at_end)
{
	const std::uint64_t words[] = {
	    pair(static_cast<std::uint32_t>(task.pid), static_cast<std::uint32_t>(task.tgid)),
	    task.nvcsw,
	    task.nivcsw,
	    task.sum_exec_runtime,
	    task.min_flt,
	    task.maj_flt,
	    task.nr_migrations,
	};
	post(EDC_ID_THREAD_COUNTS, task.time, at_end ? EDC_WHEN_END : EDC_WHEN_START, words);
}

void ControlStream::mapping(const stacks::MappingChange &change, std::uint64_t now, std::uint64_t time)
{
	const std::uint64_t words[] = {
	    pair(static_cast<std::uint32_t>(change.process), change.file),
	    time,
	    change.start,
	    change.end,
	    change.offset,
	    pair(static_cast<std::uint32_t>(change.parent), 0),
	};
	post(EDC_ID_MAPPING, now, change.change, words);
}

} // namespace monitor::record
