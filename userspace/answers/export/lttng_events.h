// SPDX-License-Identifier: MIT
// The event classes of a converted LTTng trace: numbered as they first occur, and described at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/collection/tsdl_text.h"

namespace monitor::exporting::lttng {

enum class Type : std::uint8_t { s32, u32, s64, u64, real, text };

struct FieldType {
	std::string name;
	Type type;
};

class Classes {
public:
	explicit Classes(collection::TsdlText &text) : text_(text) {}

	// The id of the class of this name; `fields` describes a new one.
	std::uint32_t id(const std::string &name, std::span<const FieldType> fields);
	// The id of a new class, even if another one has this name with other fields.
	std::uint32_t add(const std::string &name, std::span<const FieldType> fields);
	// The fields that lttng-analyses requires at the entry of a system call.
	static std::span<const FieldType> call_fields(const std::string &call);

private:
	collection::TsdlText &text_;
	std::uint32_t next_ = 0;
	std::map<std::string, std::uint32_t, std::less<>> ids_;
};

// The fields of one event, as bits.
class Fields {
public:
	void clear() { bytes_.clear(); }
	template <class T> Fields &number(T value)
	{
		const std::size_t at = bytes_.size();
		bytes_.resize(at + sizeof value);
		std::memcpy(bytes_.data() + at, &value, sizeof value);
		return *this;
	}
	// Up to its first NUL.
	Fields &text(std::string_view text)
	{
		text = text.substr(0, text.find('\0'));
		const auto *from = reinterpret_cast<const std::byte *>(text.data());
		bytes_.insert(bytes_.end(), from, from + text.size());
		bytes_.push_back(std::byte(0));
		return *this;
	}
	std::span<const std::byte> bytes() const { return bytes_; }

private:
	std::vector<std::byte> bytes_;
};

} // namespace monitor::exporting::lttng
