// SPDX-License-Identifier: MIT
// The attributes of a block or of a type: which exist, and which values each accepts.
//
// They are checked before the interpretation reads any of them. An attribute that CTF 1.8 does not define is ignored
// with a warning, as a later revision or a tracer may have more of them. A defined attribute is rejected if its value
// is of another kind or if it occurs twice. Throws ParseError.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tsdl.h"

namespace monitor::trace {

struct KnownAttribute {
	enum class Kind {
		count,   // a number that is not negative
		integer, // a number
		boolean, // true, TRUE, 1, false, FALSE, 0
		word,    // a keyword, such as le
		base,    // a number or a keyword
		text,    // a string
		name,    // a string or a word
	};
	std::string_view name;
	Kind kind;
};

// The unknown parts of a description, which are ignored: one warning for all.
class Warnings {
public:
	// "the attribute foo of an integer"
	void add(TextPosition position, const std::string &what);
	// "line L, column C: WHAT is unknown and ignored, as are N others"; "" if there is nothing.
	std::string text() const;

private:
	std::string first_;
	std::size_t count_ = 0;
};

// `owner` is what has the attributes: "an integer".
void check_attributes(const std::vector<tsdl::Attribute> &attributes, const char *owner, Warnings &warnings,
		      std::initializer_list<KnownAttribute> known);

} // namespace monitor::trace
