// SPDX-License-Identifier: MIT
// The parser of TSDL: tokens, statements and values in tsdl.cpp, types and declarators in tsdl_types.cpp.
//
// Recursive descent, with a second token of look-ahead where the first is not enough. Only a type in a type and a value
// in parentheses recurse, and their depth is bounded.
#pragma once

#include <optional>

#include "tsdl.h"
#include "tsdl_lexer.h"

namespace monitor::trace::tsdl {

class Parser {
public:
	explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}
	Tree tree();

private:
	using TypePtr = std::shared_ptr<const Type>;
	// Whether the last word begins a declarator or belongs to the type.
	enum class LastWord : std::uint8_t { of_type, of_declarator };

	[[noreturn]] void refuse(const std::string &sentence) const { throw ParseError(token_.position, sentence); }
	void count_node();
	void check_depth(unsigned depth, const char *what) const;
	const Token &peek_next();
	bool is_word() const { return token_.kind == Token::Kind::word; }
	Token take();
	bool accept(std::string_view text);
	void skip_const();
	void expect(std::string_view text);
	std::string expect_word();
	std::string expect_label();
	std::string expect_identifier();
	void expect_no_reserved_word();
	void expect_type_word();
	std::string alias_name();
	void append_word(std::string &name);
	void append_stars(std::string &name);

	bool is_assignment();
	Block block();
	void statement(Block &into);
	bool definition(std::vector<Definition> &into);
	bool named_definition(std::vector<Definition> &into, unsigned depth);
	Definition alias(unsigned depth);
	void type_definition(std::vector<Definition> &into, unsigned depth);

	std::string path();
	std::string attribute_name();
	Attribute attribute(TextPosition position, std::string name);
	std::vector<Attribute> attributes();
	Value value(unsigned depth = 0);
	Value primary(unsigned depth);
	Value expect_integer();

	TypePtr type(unsigned depth, LastWord last_word);
	void scalar(Type &made);
	void named(Type &made, LastWord last_word);
	bool is_before_declarator();
	void enumeration(Type &made, unsigned depth);
	TypePtr container(unsigned depth);
	std::vector<Label> labels();
	std::uint64_t label_value(bool &is_negative);
	void structure(Type &made, unsigned depth);
	void variant(Type &made, unsigned depth);
	void body(Type &made, unsigned depth);
	void member(Type &into, unsigned depth);

	Declaration declarator(const TypePtr &type);
	TypePtr pointer_to(const TypePtr &type);
	void dimensions(std::vector<Dimension> &into);
	void expect_path();
	Dimension dimension();

	Lexer lexer_;
	Token token_;
	std::optional<Token> next_; // the token after token_, when look-ahead needed it
	std::size_t nodes_ = 0;
	std::optional<ParseError> reserved_name_;
};

} // namespace monitor::trace::tsdl
