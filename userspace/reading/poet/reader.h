// SPDX-License-Identifier: MIT
// A cursor of one stream that can be copied and has a mark for the item it is on.
//
// The walker (walker.h) reads with it and keeps copies to come back to. One thread.
// Invariant: marks and keys never decrease while a reader advances; two readers of one stream that are on the same item
// have the same mark, wherever they started.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "reading/events/cursor.h"

namespace poet::detail {

// An item of a stream: the packet it is in, or precedes, and its number among that packet's items.
struct Mark {
	std::uint64_t packet = 0, item = 0;

	// NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 finds a 0 in it
	auto operator<=>(const Mark &) const = default;
	static constexpr Mark end()
	{
		return {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()};
	}
};

class Reader {
public:
	using Cursor = monitor::trace::Cursor;

	// Is at the end; call start() next.
	explicit Reader(Cursor &&cursor) : cursor_(std::move(cursor)) {}
	Reader(Reader &&) = default;
	Reader &operator=(Reader &&) = default;
	Reader copy() const
	{
		Reader made(cursor_.copy());
		made.mark_ = mark_;
		made.key_ = key_;
		made.is_stopped_ = is_stopped_;
		return made;
	}

	// To the first item of this packet or after it; reads from packet `from`, which is this packet or an earlier
	// one.
	void start(std::uint64_t from, std::uint64_t packet)
	{
		key_ = 0;
		is_stopped_ = false;
		set(cursor_.start_at(from));
		mark_.item = 0;
		while (!at_end() && mark_.packet < packet)
			advance();
	}
	void advance()
	{
		const Mark before = mark_;
		set(cursor_.advance());
		mark_.item = mark_.packet == before.packet ? before.item + 1 : 0;
	}

	// To the end, without reading.
	void stop() { is_stopped_ = true; }

	bool at_end() const { return is_stopped_ || cursor_.item() == Cursor::Item::end; }
	Mark mark() const { return at_end() ? Mark::end() : mark_; }
	// The merge's sort key: the item's time, but never less than that of an earlier item of the stream.
	std::uint64_t key() const { return key_; }
	const Cursor &cursor() const { return cursor_; }

private:
	void set(Cursor::Item item)
	{
		if (item == Cursor::Item::end)
			return;
		key_ = std::max(key_, cursor_.time());
		mark_.packet = cursor_.packet();
	}

	Cursor cursor_;
	Mark mark_;
	std::uint64_t key_ = 0;
	bool is_stopped_ = false;
};

} // namespace poet::detail
