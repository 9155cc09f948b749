// SPDX-License-Identifier: MIT
// The event classes that may occur in rings: their ids, their sizes, and which of them the description of the trace
// already has. Filled by user_card.cpp as programs declare classes, and by user_drain.cpp with those that were declared
// to the kernel module; read for every block. Under the lock of the card (user_card.h).
// Invariant: words() has every class of all(), and no class without an id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "user_block.h"
#include "user_classes.h"
#include "user_counts.h"

namespace monitor::card {

class UserModule;

class KnownClasses {
public:
	// `module` gives the ids, if it is not null. `counters`: the words of a reading of counters.
	KnownClasses(UserModule *module, std::size_t counters);

	const std::vector<UserClass> &all() const { return classes_.all(); }
	// For the rings that the recorder gave, or for those of the device. The latter have refused classes, too.
	const WordsById &words(bool by_device) const { return by_device ? device_words_ : words_; }

	// The ids of `count` classes, 0 for those that are refused. Of each the untrusted texts have name and fields,
	// ended by a NUL.
	std::vector<std::uint16_t> ids_of(std::string_view texts, std::uint32_t count, const Declarer &declarer);
	// Adds classes declared to the device since the last call; whether there were any. The device assigns ids at
	// once, so an event may be read before its class.
	bool learn();

	// The description has the first `count` classes.
	void set_described(std::size_t count) { described_ = count; }
	// Whether one of these is not in the description yet.
	bool has_undescribed(const std::vector<std::uint16_t> &ids) const;

	void add_counts(UserCounts &counts) const;

private:
	void add_words(std::size_t known_before);
	void refuse(std::uint16_t id, unsigned words);

	UserModule *module_;
	UserClasses classes_;
	std::size_t described_ = 0; // of them
	WordsById words_;
	WordsById device_words_; // the same, plus refused classes that the module gave ids to
};

} // namespace monitor::card
