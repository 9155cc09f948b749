// SPDX-License-Identifier: MIT
// The table of include/monitor/card.h as data: ids, names, families. Used by the record side and by `monitor events`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace monitor::card {

struct ClassField {
	const char *kind;
	const char *name;
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

// "" if the name is not a class.
std::string family_of(std::string_view name);

struct Family {
	const char *name;
	const char *what;
	bool by_default;
};

std::span<const Family> families();

} // namespace monitor::card
