// SPDX-License-Identifier: MIT
// The event classes that instrumented programs declare: turns the text of EDC_EVENT into a layout, and into an id that
// all programs of a recording share. The texts are untrusted. recording/session/metadata.cpp describes the classes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/limits.h"
#include "monitor/token.h"

namespace monitor::card {

struct UserField {
	std::string kind; // u16 s16 x16 u64 s64 x64 address token flags str8 str16 str24 str32 str40 str48
	std::string name;
	std::string unit;                                          // "" or as written in the parentheses
	std::vector<std::pair<std::string, std::uint64_t>> labels; // of token and flags

	unsigned words() const; // of a payload field
	bool is_text() const { return kind.starts_with("str"); }
};

struct UserClass {
	unsigned id = 0;
	std::string name; // "tick", or with its provider "mylib:tick"
	UserField argument;
	std::vector<UserField> payload;

	unsigned words() const; // of the payload
};

// "mylib:tick", "arg: u16 worker; u64 bytes (B)": see include/monitor/edc.h. Empty if a text is invalid; `why` then
// says where.
std::optional<UserClass> parse_user_class(std::string_view name, std::string_view fields, std::string &why);

// The payload words that a program posts with an event declared with these fields, even if they are invalid.
unsigned words_of_user_class(std::string_view fields);

// The process that declares a class.
struct Declarer {
	pid_t process = 0;
	uid_t user = 0;
	bool is_trusted = false; // of the recording's own user or root: exempt from the limit per user
};
inline constexpr Declarer unlimited_declarer{0, 0, true}; // only the limits of the recording apply

// A number of classes, and the bytes of their texts (provider, name and fields): a sum, or a limit.
struct ClassShare {
	std::size_t classes = 0, bytes = 0;
};
inline constexpr std::size_t max_class_bytes = 16u << 10;
inline constexpr ClassShare max_per_process{512, 256u << 10}, max_per_uid{1024, 512u << 10},
    max_of_recording{EDC_ID_LAST - EDC_ID_USER_FIRST + 1, 1u << 20};
// What recording/session/metadata.cpp writes for them: names occur up to three times; `a=1,` of a label becomes
// `"a" = 1, `; the text around them takes at most 1 KiB per class.
static_assert(3 * max_of_recording.bytes + 1024 * max_of_recording.classes < max_description_bytes / 2);

// Ids by name and layout. One thread.
class UserClasses {
public:
	// Assigns ids; 0 if none is left. Without it they count up.
	using AllocateId = std::function<std::uint16_t(std::string_view name, std::string_view fields)>;
	explicit UserClasses(AllocateId allocate_id = {}) : allocate_id_(std::move(allocate_id)) {}

	// Returns the id of this class. A new one counts against the declarer's limits; 0 if the text is invalid, or a
	// limit is exceeded.
	std::uint16_t declare(std::string_view name, std::string_view fields,
			      const Declarer &declarer = unlimited_declarer);

	// Adds a class that already has an id. False if the text is invalid, or the description has no space for it.
	bool adopt(std::uint16_t id, std::string_view name, std::string_view fields);

	const std::vector<UserClass> &all() const { return all_; }
	std::uint64_t refused() const { return refused_; }
	const std::string &why_refused() const { return why_; } // for the first one

private:
	const char *why_too_much(std::size_t bytes, const Declarer &declarer) const;
	std::uint16_t new_id(std::string_view name, std::string_view fields) const;
	void refuse(std::string_view name, const std::string &why);

	AllocateId allocate_id_;
	std::map<std::pair<std::string, std::string>, std::uint16_t> ids_;
	std::vector<UserClass> all_;
	ClassShare declared_;
	std::map<pid_t, ClassShare> by_process_; // of those that were the first to declare a class
	std::map<uid_t, ClassShare> by_user_;
	std::uint64_t refused_ = 0;
	std::string why_;
};

} // namespace monitor::card
