// SPDX-License-Identifier: MIT
// The table of include/monitor/card.h as data: ids, names, families.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/token.h"

namespace monitor::card {

struct ClassField {
	const char *kind;
	const char *name;
	unsigned bits;
};

struct ClassRow {
	unsigned id;
	const char *name;
	const char *family;
	unsigned words;
	std::span<const ClassField> fields;
};

// Every kernel class, by ascending id.
std::span<const ClassRow> kernel_classes();

// Payload words of the records in the recorder's and the kernel's streams, by class id; `unknown_words`: of the others.
using PayloadWords = std::array<std::uint8_t, 1 << EDC_ID_BITS>;
inline constexpr std::uint8_t unknown_words = 255;
// `counters_in_set`: as counts, not ratios.
PayloadWords payload_words(const std::vector<unsigned> &counters_in_set = {});

// "" if the name is not a class.
std::string family_of(std::string_view name);

struct Family {
	const char *name;
	const char *what;
	bool by_default;
};

std::span<const Family> families();

// Named sets for -e: the default families without some of their classes.
struct EventSet {
	const char *name;
	const char *what;
	std::span<const char *const> left_out;
};

std::span<const EventSet> event_sets();

} // namespace monitor::card
