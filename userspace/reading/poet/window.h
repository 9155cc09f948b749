// SPDX-License-Identifier: MIT
// Some consecutive items of one stream, decoded: a cursor moves back and forth in it.
//
// Filled by the walker (walker.h) of its stream. Events refer to the mapped file, and to slots that are kept here.
// Invariant: it never holds more than capacity() items, however large a packet is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core.h"
#include "reader.h"

namespace poet::detail {

class Window {
public:
	struct Item {
		std::uint64_t key; // see Reader
		std::int64_t loss; // index into losses_; negative: an event
		Event event;
	};

	struct Loss {
		Gap gap;
		Mark mark;
	};

	// As many items as fit into this many bytes.
	Window(const Core &core, std::uint32_t stream, std::size_t bytes)
	    : core_(&core), stream_(&core.stream_list()[stream]), slot_count_(core.slots(stream))
	{
		const std::size_t item_bytes =
		    sizeof(Item) + (slot_count_ ? sizeof(GenericCtf) + slot_count_ * sizeof(std::uint64_t) : 0);
		capacity_ = std::clamp<std::size_t>(bytes / item_bytes, min_items, max_items);
	}

	std::size_t capacity() const { return capacity_; }
	std::size_t size() const { return items_.size(); }
	bool is_full() const { return items_.size() >= capacity_; }
	const Item &operator[](std::size_t number) const { return items_[number]; }
	const Loss &loss(const Item &item) const { return losses_[static_cast<std::size_t>(item.loss)]; }

	void clear()
	{
		items_.clear();
		losses_.clear();
	}
	// Adds the item that the reader is on.
	void add(const Reader &reader)
	{
		reserve();
		Item &item = items_.emplace_back();
		item.key = reader.key();
		if (reader.cursor().item() == Reader::Cursor::Item::gap)
			return add_loss(reader, item);
		item.loss = -1;
		const monitor::trace::Event &event = reader.cursor().event();
		const void *place = event.packet;
		if (slot_count_ > 0)
			place = copy_generic_ctf(event, items_.size() - 1);
		Access::fill(item.event, event, *core_, place);
	}

private:
	static constexpr std::size_t min_items = 16, max_items = 4096;

	// Once, for the first item: pointers into these vectors then stay valid.
	void reserve()
	{
		if (items_.capacity() >= capacity_)
			return;
		items_.reserve(capacity_);
		generic_ctf_.resize(slot_count_ ? capacity_ : 0);
		slots_.resize(capacity_ * slot_count_);
	}
	const void *copy_generic_ctf(const monitor::trace::Event &event, std::size_t number)
	{
		std::uint64_t *slots = slots_.data() + number * slot_count_;
		std::memcpy(slots, event.slots, slot_count_ * sizeof *slots);
		generic_ctf_[number] = Access::generic_ctf(event, slots);
		return &generic_ctf_[number];
	}
	void add_loss(const Reader &reader, Item &item)
	{
		item.loss = static_cast<std::int64_t>(losses_.size());
		losses_.push_back({gap_of(reader.cursor().gap(), *stream_), reader.mark()});
	}

	const Core *core_;
	const Stream *stream_;
	std::size_t slot_count_, capacity_ = 0;
	std::vector<Item> items_;
	std::vector<Loss> losses_;
	std::vector<GenericCtf> generic_ctf_; // by item
	std::vector<std::uint64_t> slots_;
};

} // namespace poet::detail
