// SPDX-License-Identifier: MIT
#include "window_blocks.h"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "fleet/wire/batch.h"
#include "monitor/ring.h"

namespace monitor::fleet {
namespace {

Fd open_stream_file(const std::string &path)
{
	return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool read_header(const Fd &file, std::uint64_t number, edc_block &header)
{
	return ::pread(file.get(), &header, sizeof header, static_cast<off_t>(number * block_bytes)) ==
		   static_cast<ssize_t>(sizeof header) &&
	       header.magic == EDC_BLOCK_MAGIC;
}

// The number of blocks that begin at or before this time; nullopt: one could not be read.
std::optional<std::uint64_t> blocks_until(const Fd &file, std::uint64_t blocks, std::uint64_t time)
{
	std::uint64_t low = 0, high = blocks;
	while (low < high) {
		const std::uint64_t middle = low + (high - low) / 2;
		edc_block header;
		if (!read_header(file, middle, header))
			return {};
		if (header.timestamp_begin <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

} // namespace

BlockRanges::Range window_blocks(const std::string &path, std::uint64_t blocks, std::uint64_t from, std::uint64_t to,
				 bool keeps_state)
{
	const BlockRanges::Range all(0, blocks);
	if (from == 0 && to == ~std::uint64_t(0))
		return all;
	const Fd file = open_stream_file(path);
	if (!file)
		return all;
	const auto before = blocks_until(file, blocks, from), until = blocks_until(file, blocks, to);
	if (!before || !until)
		return all;
	const std::uint64_t first = *before ? *before - 1 : 0;
	if (keeps_state)
		return {first, std::max(*until, first + 1)};
	edc_block header;
	if (*before && !read_header(file, first, header))
		return all;
	const bool is_within = *before && header.timestamp_end >= from;
	return {is_within ? first : *before, *until};
}

std::optional<StreamSpan> stream_span(const std::string &path, std::uint64_t blocks)
{
	const Fd file = open_stream_file(path);
	edc_block first, last;
	if (!file || blocks == 0 || !read_header(file, 0, first) || !read_header(file, blocks - 1, last))
		return {};
	return StreamSpan{first.timestamp_begin, std::max(first.timestamp_begin, last.timestamp_end)};
}

} // namespace monitor::fleet
