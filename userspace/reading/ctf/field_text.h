// SPDX-License-Identifier: MIT
// The fields of a generic CTF event as text or as JSON.
//
// For classes other than tokens. Made once per scope of a class; then put() walks the event and prints what it passes.
// Names are escaped in advance. Text: a=1 s={x=1 y="two words"} l=[1 2 3] v={option=7}; JSON: objects, arrays; labels,
// NaN and infinities as text.
#pragma once

#include <cstdint>
#include <vector>

#include "field_class.h"
#include "line_buffer.h"

namespace monitor::trace {

class FieldText {
public:
	// `scope` is a structure, whose own braces are not printed. It must outlive this.
	FieldText(const FieldClass &scope, bool json);

	// Appends the fields that begin at `at_bits`, separated by spaces (text) or commas, and moves `at_bits` past
	// them. The event must have been walked before.
	void put(const View &view, std::uint64_t &at_bits, LineBuffer &out) const;

private:
	enum class Form : std::uint8_t { decimal, scalar, text, elements, structure, variant, optional, wide };

	struct Node {
		const FieldClass *type;
		Form form;
		ShortText prefix; // the name, as printed
		std::vector<Node> children;
		std::size_t max_chars = 0; // maximum number of characters, without texts and elements of sequences
	};
	// The position of a walk in the event and in the line. The line always has space for the rest of the scope.
	struct Walk {
		View view;
		std::uint64_t at_bits;
		LineBuffer &line;
		char *out;

		void reserve(std::size_t more)
		{
			line.set_end(out);
			line.reserve(more);
			out = line.end();
		}
	};

	static Form form_of(const FieldClass &type, bool json);
	Node compile(const FieldClass &type) const;
	void put_members(const Node &node, Walk &walk) const;
	void put_node(const Node &node, Walk &walk) const;
	void put_braced(const Node &node, Walk &walk) const;
	static void put_decimal(const FieldClass &type, Walk &walk);
	void put_scalar(const FieldClass &type, Walk &walk) const;
	void put_string(const FieldClass &type, Walk &walk) const;
	void put_elements(const Node &node, Walk &walk) const;
	void put_wide(const FieldClass &type, Walk &walk) const;
	void put_text(std::string_view text, Walk &walk) const;

	bool json_;
	Node root_;
};

} // namespace monitor::trace
