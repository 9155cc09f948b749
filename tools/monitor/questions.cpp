// SPDX-License-Identifier: MIT
#include "questions.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/scanner.h"
#include "questions_page.h"

namespace monitor {
namespace {

// "| which | monitor | [more](page.md) |"
std::vector<Question> all_questions()
{
	std::vector<Question> questions;
	std::istringstream page{std::string(questions_page)};
	for (std::string line; std::getline(page, line);) {
		const std::size_t second = line.find(" | "), third = line.find(" | ", second + 3);
		if (!line.starts_with("| ") || line.starts_with("| to find out ") || third == std::string::npos)
			continue;
		questions.push_back(
		    {trimmed(line.substr(2, second - 2)), trimmed(line.substr(second + 3, third - second - 3))});
	}
	return questions;
}

std::string lower(std::string text)
{
	std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
	return text;
}

// Whether a word of `text` begins with `prefix`.
bool has_word_with_prefix(const std::string &text, const std::string &prefix)
{
	if (prefix.empty())
		return false;
	for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1))
		if (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1])))
			return true;
	return false;
}

} // namespace

std::vector<Question> questions_with(std::span<const std::string> words)
{
	std::vector<Question> found = all_questions();
	std::erase_if(found, [&](const Question &question) {
		const std::string text = lower(question.text + ' ' + question.commands);
		return !std::ranges::all_of(
		    words, [&](const std::string &word) { return has_word_with_prefix(text, lower(word)); });
	});
	return found;
}

} // namespace monitor
