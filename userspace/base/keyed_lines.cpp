// SPDX-License-Identifier: MIT
#include "keyed_lines.h"

#include "error.h"

namespace monitor {

KeyedLines::KeyedLines(std::string_view untrusted_text, std::string name, const char *example)
    : scanner_(untrusted_text), name_(std::move(name)), example_(example)
{
	if (untrusted_text.size() > max_text_bytes)
		throw Error(name_ + " is larger than 1 MiB, the limit for such a file");
}

bool KeyedLines::next()
{
	while (!scanner_.at_end()) {
		const std::size_t begin = scanner_.at();
		line_ = scanner_.position().line;
		scanner_.skip_to("\n");
		const std::string line = trimmed(scanner_.since(begin));
		scanner_.skip();
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
