// SPDX-License-Identifier: MIT
#include "writer.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/clock_ns.h"

namespace monitor::record {
namespace {

void drop_front(std::span<iovec> &parts, std::size_t bytes)
{
	for (; !parts.empty() && bytes >= parts.front().iov_len; parts = parts.subspan(1))
		bytes -= parts.front().iov_len;
	if (bytes) {
		parts.front().iov_base = static_cast<char *>(parts.front().iov_base) + bytes;
		parts.front().iov_len -= bytes;
	}
}

} // namespace

Writer::Writer(std::string directory, std::vector<std::string> names, std::size_t max_added, BlockPool &pool,
	       Failure &failure, ReadTime read_time)
    : directory_(std::move(directory)), directory_fd_(open_file(directory_, O_RDONLY | O_DIRECTORY)),
      names_(std::move(names)), files_(names_.size() + max_added), sizes_(files_.size()), streams_(names_.size()),
      pool_(pool), failure_(failure), read_time_(read_time)
{
	names_.resize(files_.size()); // never reallocated: the thread reads it while streams are added
	thread_ = std::thread([this] { run(); });
}

StreamNumber Writer::add_stream(const std::string &name)
{
	names_.at(streams_) = name;
	return static_cast<StreamNumber>(streams_++);
}

void Writer::finish()
{
	if (!thread_.joinable())
		return;
	stop_.store(true, std::memory_order_release);
	pool_.wake();
	thread_.join();
}

std::map<std::string, std::uint64_t> Writer::packets() const
{
	std::map<std::string, std::uint64_t> packets;
	for (std::size_t stream = 0; stream < sizes_.size(); ++stream)
		if (const std::uint64_t whole = sizes_[stream] / EDC_BLOCK_SIZE)
			packets[names_[stream]] = whole;
	return packets;
}

void Writer::run()
{
	run_promptly();
	std::array<PooledBlock, max_blocks_in_a_write> blocks;
	for (;;) {
		const bool last_round = stop_.load(std::memory_order_acquire);
		std::size_t count = 0;
		do {
			for (count = 0; count < blocks.size() && pool_.next(blocks[count]);)
				++count;
			write(std::span(blocks).first(count));
		} while (count == blocks.size());
		if (last_round)
			return;
		pool_.wait();
	}
}

// One writev(2) per stream, blocks in order.
void Writer::write(std::span<PooledBlock> blocks)
{
	std::array<PooledBlock, max_blocks_in_a_write> run;
	while (!blocks.empty()) {
		const StreamNumber stream = blocks.front().stream;
		std::size_t of_stream = 0, others = 0;
		for (const PooledBlock block : blocks)
			(block.stream == stream ? run[of_stream++] : blocks[others++]) = block;
		write_run(std::span(run).first(of_stream));
		blocks = blocks.first(others);
	}
}

void Writer::write_run(std::span<const PooledBlock> run)
{
	const bool is_timed = read_time_ && !error_;
	BlockWrite write{.start = is_timed ? read_time_() : 0, .stream = run[0].stream};
	const std::uint64_t before = is_timed ? clock_ns(CLOCK_MONOTONIC) : 0;
	const std::size_t written = error_ ? 0 : write_to_file(run);
	dropped_.fetch_add(run.size() - written, std::memory_order_relaxed);
	for (const PooledBlock &block : run.subspan(is_timed))
		pool_.give_back(block.index);
	if (!is_timed)
		return;
	write.wall_ns = clock_ns(CLOCK_MONOTONIC) - before;
	const std::uint64_t cpu_now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	write.cpu_ns = cpu_now - std::exchange(cpu_before_, cpu_now);
	write.blocks = static_cast<std::uint32_t>(written);
	write.error = error_;
	pool_.give_back(run[0].index, write);
}

// Returns how many of the blocks are in the file.
std::size_t Writer::write_to_file(std::span<const PooledBlock> run)
{
	std::array<iovec, max_blocks_in_a_write> parts;
	for (std::size_t i = 0; i < run.size(); ++i)
		parts[i] = {pool_.at(run[i].index), EDC_BLOCK_SIZE};
	const bool is_open = files_[run[0].stream] || open(run[0].stream);
	return is_open ? append(run[0].stream, std::span(parts).first(run.size())) : 0;
}

bool Writer::open(StreamNumber stream)
{
	constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	files_[stream] = Fd(::openat(directory_fd_.get(), names_[stream].c_str(), flags, 0600));
	if (!files_[stream]) {
		error_ = errno;
		failure_.report("cannot write {}/{}: {}", directory_, names_[stream], std::strerror(error_));
	}
	return error_ == 0;
}

// Returns how many of the blocks are in the file.
std::size_t Writer::append(StreamNumber stream, std::span<iovec> parts)
{
	const std::size_t all = parts.size();
	while (!parts.empty()) {
		const ssize_t n = ::writev(files_[stream].get(), parts.data(), static_cast<int>(parts.size()));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			cut_back(stream, errno);
			break;
		}
		sizes_[stream] += static_cast<std::uint64_t>(n);
		bytes_.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
		drop_front(parts, static_cast<std::size_t>(n));
	}
	return all - parts.size();
}

// A write failed: truncate the file to its last whole packet.
void Writer::cut_back(StreamNumber stream, int error_number)
{
	error_ = error_number;
	const std::uint64_t part = sizes_[stream] % EDC_BLOCK_SIZE;
	const bool cut = ::ftruncate(files_[stream].get(), static_cast<off_t>(sizes_[stream] - part)) == 0;
	if (cut)
		bytes_.fetch_sub(part, std::memory_order_relaxed);
	failure_.report("cannot write {}/{}: {}{}", directory_, names_[stream], std::strerror(error_number),
			cut ? "" : "; its last packet is cut"); // the reader skips it
}

} // namespace monitor::record
