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

// Ids by name and layout. One thread.
class UserClasses {
public:
	// Who gives ids; 0: there is none left. Without it they count up.
	using GiveId = std::function<std::uint16_t(std::string_view name, std::string_view fields)>;
	explicit UserClasses(GiveId give_id = {}) : give_id_(std::move(give_id)) {}

	// The id of this class, a new one if need be and `may_add`; 0: the text is not understood, or there are no
	// more.
	std::uint16_t id_of(std::string_view name, std::string_view fields, bool may_add = true);

	// A class that has its id already. False: the text is not understood.
	bool adopt(std::uint16_t id, std::string_view name, std::string_view fields);

	const std::vector<UserClass> &all() const { return all_; }
	std::uint64_t refused() const { return refused_; }
	const std::string &why_refused() const { return why_; } // the first one

private:
	std::uint16_t new_id(std::string_view name, std::string_view fields) const;
	void refuse(std::string_view name, const std::string &why);

	GiveId give_id_;
	std::map<std::pair<std::string, std::string>, std::uint16_t> ids_;
	std::vector<UserClass> all_;
	std::uint64_t refused_ = 0;
	std::string why_;
};

} // namespace monitor::card
