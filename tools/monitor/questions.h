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

// Questions in which each of `words` is a prefix of a word of the text or the commands, ignoring case; in the page's
// order.
std::vector<Question> questions_with(std::span<const std::string> words);

} // namespace monitor
