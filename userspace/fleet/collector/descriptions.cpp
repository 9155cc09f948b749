// SPDX-License-Identifier: MIT
#include "descriptions.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::fleet {

Descriptions::Growing &Descriptions::start(std::deque<Growing> &of_host, const std::string &target, const Piece &piece)
{
	const auto forget = [&](std::deque<Growing>::iterator growing) {
		::unlink(growing->path.c_str());
		of_host.erase(growing);
	};
	if (const auto same = std::ranges::find(of_host, target, &Growing::target); same != of_host.end())
		forget(same);
	if (of_host.size() >= max_open)
		forget(of_host.begin());
	Growing growing;
	growing.target = target;
	growing.path = fmt::format("{}/{:020}", directory_, number_++);
	growing.hash = piece.hash;
	growing.file_bytes = piece.file_bytes;
	growing.hash_so_far = hash_of_nothing;
	growing.file = open_file(growing.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	return of_host.emplace_back(std::move(growing));
}

Status Descriptions::take(const std::string &host, const std::string &target, const Piece &piece, Whole &whole)
{
	std::deque<Growing> &of_host = growing_[host];
	auto growing = std::ranges::find(of_host, target, &Growing::target);
	if (piece.offset == 0) {
		start(of_host, target, piece);
		growing = std::prev(of_host.end());
	}
	if (growing == of_host.end() || growing->hash != piece.hash || growing->file_bytes != piece.file_bytes ||
	    growing->have != piece.offset)
		return Status::start_again;
	try {
		write_all(growing->file.get(), piece.bytes, growing->path);
		growing->have += piece.bytes.size();
		growing->hash_so_far = content_hash(piece.bytes, growing->hash_so_far);
		if (growing->have < growing->file_bytes)
			return Status::taken;
		const bool is_whole = growing->hash_so_far == growing->hash;
		if (is_whole)
			whole = {growing->path, std::make_shared<const Fd>(std::move(growing->file))};
		else
			::unlink(growing->path.c_str());
		of_host.erase(growing);
		return is_whole ? Status::stored : Status::start_again;
	} catch (const Error &) {
		::unlink(growing->path.c_str());
		of_host.erase(growing);
		throw;
	}
}

} // namespace monitor::fleet
