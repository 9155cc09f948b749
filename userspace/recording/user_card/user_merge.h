// SPDX-License-Identifier: MIT
// Events of many short-lived processes in one stream per CPU, sorted by time: a trace with thousands of streams is more
// than its readers can handle. Filled and emptied by user_drain.cpp in the drain thread.
//
// The rings of CPUs are each sorted, and what is older than the start of a pass has been seen in that pass: a token's
// time is read and its ring's state stored in one restartable sequence. So events before the start are complete; they
// are sorted and packed into blocks, the rest waits for the next pass.
// Invariant: times of the stream never step back; every record is preceded by the number of its thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "monitor/ring.h"
#include "user_block.h"
#include "user_filter.h"
#include "user_shared.h"

namespace monitor::card {

class MergedStream {
public:
	using Push = std::function<bool(std::uint32_t stream, const std::byte *block)>;

	// No record is older than info.last_time.
	explicit MergedStream(const UserRingInfo &info) : info_(info) {}

	// Adds the records of a validated block from byte `from` on, and returns their number. The block's header names
	// its process. Records of refused classes are counted instead; those that the filter rejects are left out.
	std::uint64_t add(const std::byte *block, std::uint64_t from, const WordsById &words,
			  UserFilter *filter = nullptr);
	void add(const SharedRecord &record, std::uint32_t process);
	void add_losses(std::uint64_t discarded) { discarded_ += discarded; }

	// Packs what is older than `horizon` and pushes full blocks; with `flush` the last one too. False if `push`
	// failed for a block, which waits for the next call.
	bool pack(std::uint64_t horizon, bool flush, const Push &push);

	// Shows the block that is not full yet, closed there. Returns up to when all events were pushed or shown, if
	// those before `horizon` were packed.
	std::uint64_t show(std::uint64_t horizon, const Push &show) const;

	// Events of refused classes since the last call.
	std::uint64_t take_refused() { return std::exchange(refused_, 0); }
	// The last pack() could not push a block: adding more fills memory.
	bool stalled() const { return stalled_; }
	// Bytes of what waits to be packed.
	std::size_t waiting_bytes() const
	{
		return waiting_.size() * sizeof(Record) + words_.size() * sizeof(std::uint64_t);
	}
	bool empty() const { return waiting_.empty() && position_ == 0 && reported_ == discarded_; }

private:
	struct Record {
		std::uint64_t time;
		std::uint32_t tid, process;
		std::size_t first_word; // in words_
		std::uint32_t words;
	};

	void open(std::uint64_t time, const Record &record);
	bool close(const Push &push);
	void append(std::uint64_t word);
	void forget_words();

	UserRingInfo info_;
	std::vector<Record> waiting_;
	std::vector<std::uint64_t> words_;
	std::uint64_t discarded_ = 0, reported_ = 0, refused_ = 0;
	bool stalled_ = false;
	alignas(8) std::array<std::byte, EDC_BLOCK_SIZE> block_{};
	std::uint64_t position_ = 0; // 0: no block is open
	std::uint64_t block_begin_ = 0;
	std::uint32_t tid_ = 0, process_ = 0; // of the previous record
};

} // namespace monitor::card
