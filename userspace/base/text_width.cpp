// SPDX-License-Identifier: MIT
#include "text_width.h"

#include <cstring>
#include <cwchar>

#include <langinfo.h>
#include <locale.h>

namespace monitor {
namespace {

// Null: no UTF-8 locale.
locale_t make_locale()
{
	const locale_t of_terminal = ::newlocale(LC_CTYPE_MASK, "", nullptr);
	if (of_terminal && std::strcmp(::nl_langinfo_l(CODESET, of_terminal), "UTF-8") == 0)
		return of_terminal;
	if (of_terminal)
		::freelocale(of_terminal);
	return ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
}

// Selects the UTF-8 locale for this thread.
class Utf8 {
public:
	Utf8()
	{
		static const locale_t utf8 = make_locale(); // of the process
		before_ = utf8 ? ::uselocale(utf8) : nullptr;
	}
	~Utf8()
	{
		if (before_)
			::uselocale(before_);
	}
	Utf8(const Utf8 &) = delete;

private:
	locale_t before_;
};

struct Character {
	std::size_t bytes, columns;
};

// `text` is not empty; a Utf8 exists.
Character first_of(std::string_view text)
{
	wchar_t character = 0;
	std::mbstate_t state{};
	const std::size_t bytes = std::mbrtowc(&character, text.data(), text.size(), &state);
	if (bytes == 0 || bytes > text.size())
		return {1, 1};
	const int columns = ::wcwidth(character);
	return {bytes, columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

} // namespace

std::size_t text_width(std::string_view text)
{
	std::size_t columns = 0;
	const Utf8 utf8;
	while (!text.empty()) {
		const bool is_ascii = static_cast<unsigned char>(text.front()) < 0x80;
		const Character first = is_ascii ? Character{1, 1} : first_of(text);
		columns += first.columns;
		text.remove_prefix(first.bytes);
	}
	return columns;
}

std::size_t bytes_within(std::string_view text, std::size_t columns)
{
	std::size_t end = 0;
	const Utf8 utf8;
	while (end < text.size()) {
		const Character first = first_of(text.substr(end));
		if (first.columns > columns)
			break;
		columns -= first.columns;
		end += first.bytes;
	}
	return end;
}

} // namespace monitor
