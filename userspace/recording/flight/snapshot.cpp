// SPDX-License-Identifier: MIT
#include "snapshot.h"

#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "base/block_words.h"
#include "base/error.h"
#include "monitor/card.h"
#include "recording/recorder/directory.h"

namespace monitor::record {
namespace {

std::uint64_t sum(const std::vector<RingPart> &rings, std::uint64_t RingPart::*member)
{
	return std::accumulate(rings.begin(), rings.end(), std::uint64_t(0),
			       [&](std::uint64_t so_far, const RingPart &ring) { return so_far + ring.*member; });
}

} // namespace

std::uint64_t SnapshotAccount::control_tokens() const
{
	return std::accumulate(tokens_by_class.begin(), tokens_by_class.begin() + EDC_ID_KERNEL_FIRST,
			       std::uint64_t(0));
}

std::uint64_t SnapshotAccount::kernel_tokens() const
{
	return std::accumulate(tokens_by_class.begin() + EDC_ID_KERNEL_FIRST, tokens_by_class.end(), std::uint64_t(0));
}

std::uint64_t SnapshotAccount::discarded() const
{
	return sum(rings, &RingPart::discarded);
}

std::uint64_t SnapshotAccount::overwritten() const
{
	return sum(rings, &RingPart::overwritten);
}

SnapshotDirectory::SnapshotDirectory(std::string path) : path_(std::move(path))
{
	const auto make = [](const std::string &directory) {
		if (::mkdir(directory.c_str(), 0700) < 0)
			throw Error(errno, "cannot create the snapshot " + directory);
	};
	make(path_);
	try {
		make(path_ + "/.monitor");
	} catch (const Error &) {
		::rmdir(path_.c_str());
		throw;
	}
}

SnapshotDirectory::~SnapshotDirectory()
{
	if (is_kept_)
		return;
	try {
		remove_trace_directory(path_);
	} catch (const Error &) { // nothing was set aside there
	}
}

Snapshot::Snapshot(std::string directory, std::vector<std::string> streams, std::size_t max_added, BlockPool &pool,
		   const card::PayloadWords &words, SnapshotAccount account)
    : directory_(std::move(directory)), lock_(lock_directory(directory_.path())), pool_(pool), words_(words),
      account_(std::move(account)), writer_(directory_.path(), std::move(streams), max_added, pool, failure_)
{
}

bool Snapshot::take(StreamNumber stream, const std::byte *block, bool is_user)
{
	std::uint32_t index;
	if (!pool_.take(index)) {
		pool_.wake();
		return false;
	}
	std::memcpy(pool_.at(index), block, EDC_BLOCK_SIZE);
	if (!is_user)
		count(block);
	pool_.give({index, stream});
	return true;
}

void Snapshot::add_streams(const std::vector<std::string> &names)
{
	for (; added_ < names.size(); ++added_)
		writer_.add_stream(names[added_]);
}

void Snapshot::count(const std::byte *block)
{
	const std::uint64_t end = header_of(block).content_size / 8;
	for (std::uint64_t at = EDC_BLOCK_HEADER; at + 8 <= end;) {
		const unsigned id = edc_token_id(word_at(block, at));
		++account_.tokens_by_class[id];
		if (words_[id] == card::unknown_words)
			return;
		at += 8 + 8 * std::uint64_t(words_[id]);
	}
}

std::string Snapshot::finish()
{
	writer_.finish();
	return failure_.reported() ? failure_.text() : "";
}

} // namespace monitor::record
