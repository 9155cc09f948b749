// SPDX-License-Identifier: MIT
// The base of all lexers, which add the punctuation, numbers and comments of their languages.
//
// The text is untrusted and must outlive the scanner; it may contain any bytes. Nothing depends on the locale.
// Invariant: it never reads past the end of the text, and takes time linear in what it skips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse_error.h"

namespace monitor {

// `_` is one, too.
inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

// 0 to 15; 255 if it is not a digit in any base up to 16.
inline unsigned digit_value(char c)
{
	if (is_digit(c))
		return static_cast<unsigned>(c - '0');
	const char lower = static_cast<char>(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a' + 10) : 255;
}

// Whether `word` occurs as a whole word, also in quotes.
bool has_word(std::string_view text, std::string_view word);
// A letter, then letters, digits and these other characters.
bool is_name(std::string_view text, std::string_view others = "");

// Without leading and trailing white space.
std::string trimmed(std::string_view text);

// Removes and returns the text before the next separator, which is removed, too; without one, all.
std::string_view take_until(std::string_view &text, char separator);
// At each comma.
std::vector<std::string> split(std::string_view list);

// Languages add the values of their numbers.
struct Token {
	enum class Kind : std::uint8_t { end, newline, word, quoted_name, number, text, sign } kind = Kind::end;
	TextPosition position;
	std::string text; // without quotes and escapes

	bool is(std::string_view word_or_sign) const
	{
		return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
	}
};

class Scanner {
public:
	// With a `subject`, refusals show the text and a caret.
	explicit Scanner(std::string_view untrusted_text, const char *subject = nullptr)
	    : text_(untrusted_text), subject_(subject)
	{
	}

	bool at_end() const { return at_ == text_.size(); }
	std::size_t at() const { return at_; }
	TextPosition position() const
	{
		return {line_, static_cast<std::uint32_t>(at_ - line_start_ + 1), static_cast<std::uint32_t>(at_)};
	}
	// '\0' beyond the end
	char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
	bool is_in_word() const { return is_letter(peek()) || is_digit(peek()); }
	std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
	std::string_view rest() const { return text_.substr(at_); }

	// Not at the end
	char take()
	{
		const char c = text_[at_++];
		if (c == '\n') {
			++line_;
			line_start_ = at_;
		}
		return c;
	}
	// Stops at the end.
	std::string_view skip(std::size_t count = 1);
	// False, and at the end, if there is none.
	bool skip_to(std::string_view text);
	// Skips this text, or the first matching one of these, if it is next.
	bool accept(std::string_view text);
	std::string_view accept_one(std::span<const std::string_view> texts);
	// Takes the longest prefix of these characters.
	std::string_view take_any(std::string_view characters) { return skip(rest().find_first_not_of(characters)); }
	// Letters and digits
	std::string_view identifier();
	// The value of the digits that are next, 0 without digits; empty if it does not fit.
	std::optional<std::uint64_t> digits(unsigned base, std::size_t max_digits = std::string_view::npos);
	// A character, possibly escaped: \xHH, or a backslash and one of `letters`, which stands for the one in
	// `meanings`.
	char character(std::string_view letters, std::string_view meanings, const char *refusal);

	[[noreturn]] void refuse(TextPosition position, const std::string &sentence) const;

private:
	std::string_view text_;
	const char *subject_;
	std::size_t at_ = 0, line_start_ = 0;
	std::uint32_t line_ = 1;
};

} // namespace monitor
