// SPDX-License-Identifier: MIT
#include "descriptions.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::fleet {

Descriptions::Partial &Descriptions::start(std::deque<Partial> &of_host, const std::string &target, const Piece &piece)
{
	const auto forget = [&](std::deque<Partial>::iterator partial) {
		::unlink(partial->path.c_str());
		of_host.erase(partial);
	};
	if (const auto same = std::ranges::find(of_host, target, &Partial::target); same != of_host.end())
		forget(same);
	if (of_host.size() >= max_open)
		forget(of_host.begin());
	Partial partial;
	partial.target = target;
	partial.path = fmt::format("{}/{:020}", directory_, number_++);
	partial.hash = piece.hash;
	partial.file_bytes = piece.file_bytes;
	partial.hash_so_far = hash_of_nothing;
	partial.file = open_file(partial.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	return of_host.emplace_back(std::move(partial));
}

Status Descriptions::add_piece(const std::string &host, const std::string &target, const Piece &piece, Whole &whole)
{
	std::deque<Partial> &of_host = partial_[host];
	auto partial = std::ranges::find(of_host, target, &Partial::target);
	if (piece.offset == 0) {
		start(of_host, target, piece);
		partial = std::prev(of_host.end());
	}
	if (partial == of_host.end() || partial->hash != piece.hash || partial->file_bytes != piece.file_bytes ||
	    partial->received_bytes != piece.offset)
		return Status::start_again;
	try {
		write_all(partial->file.get(), piece.bytes, partial->path);
		partial->received_bytes += piece.bytes.size();
		partial->hash_so_far = content_hash(piece.bytes, partial->hash_so_far);
		if (partial->received_bytes < partial->file_bytes)
			return Status::taken;
		const bool is_whole = partial->hash_so_far == partial->hash;
		if (is_whole)
			whole = {partial->path, std::make_shared<const Fd>(std::move(partial->file))};
		else
			::unlink(partial->path.c_str());
		of_host.erase(partial);
		return is_whole ? Status::stored : Status::start_again;
	} catch (const Error &) {
		::unlink(partial->path.c_str());
		of_host.erase(partial);
		throw;
	}
}

} // namespace monitor::fleet
