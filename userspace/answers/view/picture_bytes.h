// SPDX-License-Identifier: MIT
// Numbers, texts and arrays in the bytes of a cached picture (picture_cache.h), in native byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace monitor::view {

class CacheWriter {
public:
	template <class Number> void number(Number value)
	{
		static_assert(std::is_trivially_copyable_v<Number>);
		bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
	}
	void text(std::string_view text)
	{
		number(static_cast<std::uint64_t>(text.size()));
		bytes_ += text;
	}
	template <class Value> void array(const std::vector<Value> &values)
	{
		static_assert(std::is_trivially_copyable_v<Value>);
		number(static_cast<std::uint64_t>(values.size()));
		bytes_.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(Value));
	}
	const std::string &bytes() const { return bytes_; }

private:
	std::string bytes_;
};

// Throws Error at the end of the bytes.
class CacheReader {
public:
	explicit CacheReader(std::string_view bytes) : bytes_(bytes) {}

	template <class Number> Number number()
	{
		Number value;
		std::memcpy(&value, take(sizeof value).data(), sizeof value);
		return value;
	}
	std::string text() { return std::string(take(number<std::uint64_t>())); }
	template <class Value> std::vector<Value> array()
	{
		const auto size = number<std::uint64_t>();
		if (size > bytes_.size() / sizeof(Value))
			throw Error("the kept picture is too short");
		std::vector<Value> values(size);
		const std::string_view bytes = take(size * sizeof(Value));
		if (size)
			std::memcpy(values.data(), bytes.data(), bytes.size());
		return values;
	}
	std::string_view rest() const { return bytes_; }

private:
	std::string_view take(std::uint64_t size)
	{
		if (size > bytes_.size())
			throw Error("the kept picture is too short");
		const std::string_view taken = bytes_.substr(0, size);
		bytes_.remove_prefix(size);
		return taken;
	}

	std::string_view bytes_;
};

} // namespace monitor::view
