// SPDX-License-Identifier: MIT
#include "problems.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/escape.h"

namespace monitor {

// Allocates nothing: the error may be that memory has run out.
void print_error(std::string_view sentence)
{
	constexpr std::size_t piece_bytes = 256, character_bytes = 4;
	char escaped[piece_bytes * max_escaped_chars], line[3 * sizeof escaped];
	bool is_line_start = false;
	std::fputs("monitor: ", stderr);
	while (!sentence.empty()) {
		std::size_t bytes = std::min(piece_bytes, sentence.size());
		while (bytes < sentence.size() && bytes > piece_bytes - character_bytes &&
		       (sentence[bytes] & 0xc0) == 0x80)
			--bytes; // do not split a character
		const char *const end = put_escaped(escaped, sentence.substr(0, bytes), Escape::lines);
		char *out = line;
		for (const char *each = escaped; each != end; ++each) {
			for (int blank = 0; blank < 2 && is_line_start && *each != ' '; ++blank)
				*out++ = ' ';
			is_line_start = *each == '\n';
			*out++ = *each;
		}
		std::fwrite(line, 1, static_cast<std::size_t>(out - line), stderr);
		sentence.remove_prefix(bytes);
	}
	std::fputc('\n', stderr);
}

int print_problems(const trace::Problems &problems)
{
	constexpr std::size_t max_printed = 10;
	std::size_t printed = 0;
	for (const trace::Problem &problem : problems.kept()) {
		if (printed == max_printed)
			break;
		print_error(printable(problem.text()));
		++printed;
	}
	if (problems.total() > printed)
		print_error("... and " + std::to_string(problems.total() - printed) + " more");
	return problems.empty() ? 0 : 1;
}

} // namespace monitor
