// SPDX-License-Identifier: MIT
// The event classes that instrumented programs declare: from the text of EDC_EVENT to a layout, and to an id that all
// programs of a recording share. The texts are untrusted. Called by user_card.cpp; record/metadata.cpp describes them.
#pragma once

#include <array>
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
	std::string kind; // u16 s16 x16 u64 s64 x64 address token flags
	std::string name;
	std::string unit;                                          // "" or as it stands in the parentheses
	std::vector<std::pair<std::string, std::uint64_t>> labels; // of token and flags
};

struct UserClass {
	unsigned id = 0;
	std::string name;
	UserField argument;
	std::vector<UserField> payload; // a word each
};

// "arg: u16 worker; u64 bytes (B)": see include/monitor/edc.h. Empty: the text is not understood, `why` says where.
std::optional<UserClass> parse_user_class(std::string_view name, std::string_view fields, std::string &why);

// The words that a program posts with an event of such a text (edc_give_id_() of edc_connect.h), understood or not.
unsigned words_of_user_class(std::string_view fields);

// Who declares a class.
struct Declarer {
	pid_t process = 0;
	uid_t user = 0;
	bool is_trusted = false; // of the recording's own user or root: its share is the recording's
};

// Classes and bytes of their texts (name and fields): what was declared so far, or the most that may be.
struct ClassShare {
	std::size_t classes = 0, bytes = 0;
};
inline constexpr std::size_t max_class_bytes = 16u << 10;
inline constexpr ClassShare max_of_process{512, 256u << 10}, max_of_user{1024, 512u << 10},
    max_of_recording{EDC_ID_LAST - EDC_ID_USER_FIRST + 1, 1u << 20};
// What record/metadata.cpp makes of them: names occur up to three times, a label "a=1," becomes ""a" = 1, ", the words
// around them have at most 1 KiB in a class.
static_assert(3 * max_of_recording.bytes + 1024 * max_of_recording.classes < max_description_bytes / 2);

// Ids by name and layout. One thread.
class UserClasses {
public:
	// Who gives ids; 0: there is none left. Without it they count up.
	using GiveId = std::function<std::uint16_t(std::string_view name, std::string_view fields)>;
	explicit UserClasses(GiveId give_id = {}) : give_id_(std::move(give_id)) {}

	// The id of this class, a new one if need be; 0: the text is not understood, or too much was declared.
	std::uint16_t id_of(std::string_view name, std::string_view fields, const Declarer &declarer = {0, 0, true});

	// A class that has its id already. False: the text is not understood, or the description has no room for it.
	bool adopt(std::uint16_t id, std::string_view name, std::string_view fields);

	const std::vector<UserClass> &all() const { return all_; }
	std::uint64_t refused() const { return refused_; }
	const std::string &why_refused() const { return why_; } // the first one

private:
	const char *why_too_much(std::size_t bytes, const Declarer &declarer) const;
	std::uint16_t new_id(std::string_view name, std::string_view fields) const;
	void refuse(std::string_view name, const std::string &why);

	GiveId give_id_;
	std::map<std::pair<std::string, std::string>, std::uint16_t> ids_;
	std::vector<UserClass> all_;
	ClassShare declared_;
	std::map<pid_t, ClassShare> by_process_; // that were the first to declare one
	std::map<uid_t, ClassShare> by_user_;
	std::uint64_t refused_ = 0;
	std::string why_;
};

} // namespace monitor::card
