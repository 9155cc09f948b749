// SPDX-License-Identifier: MIT
// Searches one file for the functions that match a pattern, and for their entries and exits. The file is untrusted:
// function_search.cpp runs this in a process without privileges, which answers with text.
#pragma once

#include <string>

#include "patterns.h"
#include "recording/card/function_probes.h"

namespace monitor::functions {

inline constexpr char refused_mark = '"', sought_mark = '\\';

// One line for each function: "NAME\tENTRY\tOFFSET:CONDITION ...\tOFFSET:KIND ...", where the last part is that of its
// sleds if `may_patch`, or for one that cannot be recorded refused_mark, "NAME\tWHY". If nothing matches, sought_mark
// and "PATH, ..." may list where a stripped file's debug file was looked for. No name in an answer has these marks.
std::string search_file(int fd, const Pattern &pattern, bool may_patch);

struct FileAnswer {
	card::Function function; // without its path
	std::string why_not;     // not empty: cannot be probed
};

// False: malformed.
bool parse_answer(const std::string &line, FileAnswer &answer);

} // namespace monitor::functions
