// SPDX-License-Identifier: MIT
#include "user_merge.h"

#include <algorithm>
#include <cstring>

#include "monitor/token.h"
#include "monitor/user_ring.h"

namespace monitor::card {
std::uint64_t MergedStream::add(const std::byte *block, std::uint64_t from, const WordsById &words, UserFilter *filter)
{
	const std::size_t before = waiting_.size();
	for_each_record(block, words, [&](const PostedEvent &event, std::uint32_t count, std::uint64_t offset) {
		const std::uint32_t id = edc_token_id(event.record[0]);
		if (id == EDC_ID_THREAD || offset < from)
			return;
		if (words[id] & refused_class) {
			++refused_;
		} else if (!filter || filter->keeps(event)) {
			waiting_.push_back({event.at.time, event.at.tid, event.at.process, words_.size(), 1 + count});
			words_.insert(words_.end(), event.record.data(), event.record.data() + 1 + count);
		}
	});
	return waiting_.size() - before;
}

void MergedStream::add(const SharedRecord &record, std::uint32_t process)
{
	waiting_.push_back({record.time, record.tid, process, words_.size(), record.words});
	words_.insert(words_.end(), record.word, record.word + record.words);
}

void MergedStream::append(std::uint64_t word)
{
	std::memcpy(block_.data() + position_, &word, sizeof word);
	position_ += 8;
}

void MergedStream::open(std::uint64_t time, const Record &record)
{
	edc_block header{};
	header.magic = EDC_BLOCK_MAGIC;
	std::copy(info_.uuid.begin(), info_.uuid.end(), header.uuid);
	header.stream_instance_id = info_.stream;
	header.timestamp_begin = time;
	header.packet_size = EDC_BLOCK_SIZE * 8;
	header.packet_seq_num = info_.sequence;
	header.events_discarded = discarded_;
	header.cpu_id = info_.cpu;
	header.level = EDC_LEVEL_USER;
	header.tid = tid_ = record.tid;
	header.process = process_ = record.process;
	block_.fill(std::byte{0});
	std::memcpy(block_.data(), &header, sizeof header);
	block_begin_ = time;
	reported_ = discarded_;
	position_ = EDC_BLOCK_HEADER;
}

bool MergedStream::close(const Push &push)
{
	auto *header = reinterpret_cast<edc_block *>(block_.data());
	header->content_size = position_ * 8;
	header->timestamp_end = info_.last_time;
	if (!push(static_cast<std::uint32_t>(info_.stream), block_.data()))
		return false;
	++info_.sequence;
	position_ = 0;
	return true;
}

bool MergedStream::pack(std::uint64_t horizon, bool flush, const Push &push)
{
	std::ranges::stable_sort(waiting_, {}, &Record::time);
	std::size_t done = 0;
	bool has_room = true;
	for (; done < waiting_.size() && waiting_[done].time < horizon; ++done) {
		const Record &record = waiting_[done];
		const std::uint64_t time = std::max(record.time, info_.last_time);
		const bool is_other_thread = record.tid != tid_ || record.process != process_;
		const std::uint64_t bytes = 8u * record.words + (is_other_thread ? 16 : 0);
		if (position_ &&
		    (position_ + bytes > EDC_BLOCK_SIZE || time - block_begin_ >= EDC_BLOCK_MAX_TICKS ||
		     reported_ != discarded_) &&
		    !(has_room = close(push)))
			break;
		if (!position_) {
			open(time, record);
		} else if (is_other_thread) {
			append(edc_token(EDC_ID_THREAD, EDC_MODE_USER, time, 0));
			append(record.tid | static_cast<std::uint64_t>(record.process) << 32);
			tid_ = record.tid;
			process_ = record.process;
		}
		const std::uint64_t token = words_[record.first_word];
		append(edc_token(edc_token_id(token), EDC_MODE_USER, time, edc_token_arg(token)));
		for (std::uint32_t i = 1; i < record.words; ++i)
			append(words_[record.first_word + i]);
		info_.last_time = time;
	}
	waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
	if (done)
		forget_words();
	if (has_room && flush && reported_ != discarded_ && !position_)
		open(info_.last_time, Record{0, tid_, process_, 0, 0}); // an empty block reports the last losses
	if (has_room && flush && position_)
		has_room = close(push);
	stalled_ = !has_room;
	return has_room;
}

std::uint64_t MergedStream::show(std::uint64_t horizon, const Push &show) const
{
	if (!position_)
		return stalled_ ? info_.last_time : horizon;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> copy = block_;
	auto *header = reinterpret_cast<edc_block *>(copy.data());
	header->content_size = position_ * 8;
	header->timestamp_end = info_.last_time;
	if (!show(static_cast<std::uint32_t>(info_.stream), copy.data()))
		return block_begin_;
	return stalled_ ? info_.last_time : horizon;
}

// Keeps only the words of records that still wait.
void MergedStream::forget_words()
{
	std::vector<std::uint64_t> kept;
	for (Record &record : waiting_) {
		const auto first = words_.begin() + static_cast<std::ptrdiff_t>(record.first_word);
		record.first_word = kept.size();
		kept.insert(kept.end(), first, first + record.words);
	}
	words_ = std::move(kept);
}

} // namespace monitor::card
