// SPDX-License-Identifier: MIT
// A position between two items of one stream, moved by one item in either direction, or to a time.
//
//     [ not read | stack_: copies of readers on the way | window_: decoded items | front_: what follows ]
//
// Streams are decoded forward only. To go back before the window, the part of the stream before it is read once from
// the start of a packet, keeping copies of the reader at even distances; the items from the last copy on become the
// window, and those from earlier copies are read again when needed. A part that is too long for the window (packets may
// be of any size) is divided in the same way. The Walk (walk.h) has one walker per stream. One thread.
// Invariants: the items of the stack's copies and of the window are consecutive; neither the stack nor
// the window grows with the stream.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader.h"
#include "window.h"

namespace poet::detail {

class Walker {
public:
	// Positioned at the stream's start. The window uses about window_bytes.
	Walker(const Core &core, const monitor::trace::Stream &stream, monitor::trace::Problems &problems,
	       std::size_t window_bytes);

	void to_begin();
	void to_end();
	// Moves before the first item whose key is at or after this time.
	void seek(std::uint64_t time);

	// Whether there is an item after or before the position; reads on if necessary.
	bool has_next() { return at_ < window_.size() || load_next(); }
	bool has_previous() { return at_ > 0 || load_previous(); }
	// Only if there is one:
	const Window::Item &next() const { return window_[at_]; }
	const Window::Item &previous() const { return window_[at_ - 1]; }
	void step() { ++at_; }
	void step_back() { --at_; }

	const Window::Loss &loss(const Window::Item &item) const { return window_.loss(item); }
	std::uint32_t stream_index() const { return stream_->info().index; }

private:
	// A reader at an item, and the number of items from there to the next copy's item, or to the window's first.
	struct Copy {
		Reader reader;
		std::uint64_t items = 0;
	};

	bool load_next();
	bool load_previous();
	bool read_before();
	bool make_window();
	template <class Done> void read_until(Reader &reader, Done done);
	void thin(std::size_t bottom);
	std::uint64_t start_before(std::uint64_t packet) const;
	std::uint64_t after_timed(std::uint64_t packet) const;
	void start(Reader &reader, std::uint64_t packet) const;
	void drop_above(std::uint64_t packet);

	const monitor::trace::Stream *stream_;
	Window window_;
	std::size_t at_ = 0;        // index in the window of the next item
	Reader begin_, front_;      // at the window's first item; after its last one
	std::vector<Copy> stack_;   // before the window
	std::optional<Mark> first_; // of the stream's first item, once known
	std::uint64_t high_packet_; // bytes of packets after this one are not in memory
};

} // namespace poet::detail
