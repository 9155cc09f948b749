// SPDX-License-Identifier: MIT
// A buffer for a line of unknown length: space is reserved first, then characters are written without a check.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace monitor::trace {

class LineBuffer {
public:
	// The end of the text so far.
	char *end() { return bytes_.data() + used_; }
	void set_end(const char *end) { used_ = static_cast<std::size_t>(end - bytes_.data()); }
	// Makes space for `more` characters after the end; end() may move.
	void reserve(std::size_t more)
	{
		if (bytes_.size() - used_ < more)
			bytes_.resize(2 * (used_ + more));
	}
	void put(std::string_view text)
	{
		reserve(text.size());
		std::memcpy(end(), text.data(), text.size());
		used_ += text.size();
	}
	std::string_view view() const { return {bytes_.data(), used_}; }
	std::size_t size() const { return used_; }
	void clear() { used_ = 0; }

private:
	std::vector<char> bytes_;
	std::size_t used_ = 0;
};

// A text that is written often and is mostly short: copying a fixed size is cheaper than the exact one.
class ShortText {
public:
	static constexpr std::size_t head_bytes = 24; // the destination must have space for these

	ShortText() = default;
	explicit ShortText(std::string_view text) : size_(text.size()), whole_(text) { text.copy(head_, head_bytes); }
	char *put(char *out) const
	{
		std::memcpy(out, head_, head_bytes);
		if (size_ > head_bytes)
			std::memcpy(out + head_bytes, whole_.data() + head_bytes, size_ - head_bytes);
		return out + size_;
	}
	std::size_t room() const { return size_ + head_bytes; }

private:
	char head_[head_bytes] = {};
	std::size_t size_ = 0;
	std::string whole_;
};

} // namespace monitor::trace
