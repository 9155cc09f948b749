// SPDX-License-Identifier: MIT
#include "keyed_lines.h"

#include <algorithm>

#include "error.h"

namespace monitor {

std::string trimmed(std::string_view text)
{
	const std::size_t first = text.find_first_not_of(" \t\r");
	return first == std::string_view::npos
		   ? ""
		   : std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

KeyedLines::KeyedLines(std::string_view untrusted_text, std::string name, const char *example)
    : rest_(untrusted_text), name_(std::move(name)), example_(example)
{
	if (untrusted_text.size() > max_text_bytes)
		throw Error(name_ + " is larger than 1 MiB, the limit for such a file");
}

bool KeyedLines::next()
{
	while (!rest_.empty()) {
		const std::size_t end = std::min(rest_.find('\n'), rest_.size());
		const std::string line = trimmed(rest_.substr(0, end));
		rest_.remove_prefix(std::min(end + 1, rest_.size()));
		++line_;
		if (line.empty() || line.front() == '#')
			continue;
		const std::size_t colon = line.find(':');
		if (colon == std::string::npos)
			throw Error(where() + ": expected a word and a colon, such as `" + example_ + "`");
		word_ = trimmed(std::string_view(line).substr(0, colon));
		value_ = trimmed(std::string_view(line).substr(colon + 1));
		return true;
	}
	return false;
}

} // namespace monitor
