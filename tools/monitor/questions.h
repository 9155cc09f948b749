// SPDX-License-Identifier: MIT
// The rows of Documentation/questions.md, which is compiled in, for `monitor help WORD ...`.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace monitor {

struct Question {
	std::string text, commands;
};

// Those in which each word begins a word of the text or of the commands, in any case; in the order of the page.
std::vector<Question> questions_with(std::span<const std::string> words);

} // namespace monitor
