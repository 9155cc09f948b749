// SPDX-License-Identifier: MIT
#include "writer.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

namespace monitor::record {
namespace {

constexpr std::size_t most_blocks_in_a_write = 256;

} // namespace

Writer::Writer(std::string directory, std::vector<std::string> names, std::size_t most_added, BlockPool &pool)
    : directory_(std::move(directory)), names_(std::move(names)), files_(names_.size() + most_added),
      sizes_(files_.size()), streams_(names_.size()), pool_(pool), failure_fd_(::eventfd(0, EFD_CLOEXEC))
{
	names_.resize(files_.size()); // never moved again: the thread reads it while streams are added
	thread_ = std::thread([this] { run(); });
}

StreamNumber Writer::add_stream(const std::string &name)
{
	names_.at(streams_) = name;
	return static_cast<StreamNumber>(streams_++);
}

Writer::~Writer()
{
	finish();
}

void Writer::finish()
{
	if (!thread_.joinable())
		return;
	stop_.store(true, std::memory_order_release);
	pool_.wake();
	thread_.join();
}

void Writer::run()
{
	std::vector<PooledBlock> run;
	run.reserve(most_blocks_in_a_write);
	for (;;) {
		const bool last_round = stop_.load(std::memory_order_acquire);
		PooledBlock block;
		while (pool_.next(block)) {
			if (!run.empty() &&
			    (run.back().stream != block.stream || run.size() == most_blocks_in_a_write)) {
				write_run(run);
				run.clear();
			}
			run.push_back(block);
		}
		if (!run.empty())
			write_run(run);
		run.clear();
		if (last_round)
			return;
		pool_.wait();
	}
}

void Writer::fail(const std::string &path, int error_number, std::uint64_t whole_bytes, int fd)
{
	failure_ = "cannot write " + path + ": " + std::strerror(error_number);
	if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(whole_bytes)) < 0)
		failure_ += "; its last packet is cut"; // the reader skips it
	failed_.store(true, std::memory_order_release);
	::eventfd_write(failure_fd_.get(), 1);
}

void Writer::write_run(const std::vector<PooledBlock> &run)
{
	const StreamNumber stream = run.front().stream;
	const std::string path = directory_ + "/" + names_[stream];
	Fd &file = files_[stream];
	if (!file && !failed()) {
		file = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
		if (!file)
			fail(path, errno, 0, -1);
	}
	std::vector<iovec> parts;
	parts.reserve(run.size());
	for (const PooledBlock &block : run)
		parts.push_back({pool_.at(block.index), EDC_BLOCK_SIZE});
	std::size_t first = 0;
	while (first < parts.size() && !failed()) {
		const ssize_t n = ::writev(file.get(), parts.data() + first, static_cast<int>(parts.size() - first));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fail(path, errno, sizes_[stream] / EDC_BLOCK_SIZE * EDC_BLOCK_SIZE, file.get());
			break;
		}
		sizes_[stream] += static_cast<std::uint64_t>(n);
		bytes_.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
		auto left = static_cast<std::size_t>(n);
		for (; first < parts.size() && left >= parts[first].iov_len; ++first)
			left -= parts[first].iov_len;
		if (left) {
			parts[first].iov_base = static_cast<char *>(parts[first].iov_base) + left;
			parts[first].iov_len -= left;
		}
	}
	dropped_.fetch_add(parts.size() - first, std::memory_order_relaxed);
	for (const PooledBlock &block : run)
		pool_.give_back(block.index);
}

} // namespace monitor::record
