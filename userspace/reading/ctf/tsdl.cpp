// SPDX-License-Identifier: MIT
#include "tsdl.h"

#include <algorithm>
#include <iterator>

#include "base/limits.h"
#include "tsdl_parser.h"

namespace monitor::trace::tsdl {
namespace {

// Types, fields, attributes, labels and statements together: LTTng's 2,500 kernel events of 20 fields need 400,000.
constexpr std::size_t max_nodes = 1'000'000;
constexpr unsigned max_depth = 32;
constexpr std::size_t max_path_bytes = 4 * (Lexer::max_name_bytes + 1) - 1;

} // namespace

void Parser::count_node()
{
	if (++nodes_ > max_nodes)
		refuse("the description has too many declarations");
}

void Parser::check_depth(unsigned depth, const char *what) const
{
	if (depth > max_depth)
		refuse(std::string(what) + " are nested too deeply");
}

const Token &Parser::peek_next()
{
	if (!next_)
		next_ = lexer_.next();
	return *next_;
}

Token Parser::take()
{
	Token taken = std::move(token_);
	token_ = next_ ? *std::move(next_) : lexer_.next();
	next_.reset();
	return taken;
}

bool Parser::accept(std::string_view text)
{
	if (!token_.is(text))
		return false;
	take();
	return true;
}

// `const` has no meaning in a description.
void Parser::skip_const()
{
	while (accept("const"))
		;
}

void Parser::expect(std::string_view text)
{
	if (!accept(text))
		refuse("expected `" + std::string(text) + "` here");
}

std::string Parser::expect_word()
{
	if (!is_word())
		refuse("expected a name here");
	return take().text;
}

std::string Parser::expect_identifier()
{
	expect_no_reserved_word();
	return expect_word();
}

void Parser::expect_no_reserved_word()
{
	static constexpr std::string_view reserved[] = {
	    "align",   "callsite", "const",          "char",   "clock",   "double",   "enum",
	    "env",     "event",    "floating_point", "float",  "integer", "int",      "long",
	    "short",   "signed",   "stream",         "string", "struct",  "trace",    "typealias",
	    "typedef", "unsigned", "variant",        "void",   "_Bool",   "_Complex", "_Imaginary"};
	if (is_word() && !reserved_name_ &&
	    std::find(std::begin(reserved), std::end(reserved), token_.text) != std::end(reserved))
		reserved_name_.emplace(token_.position,
				       "`" + token_.text +
					   "` is a reserved word and cannot be a name; put an underscore before it");
}

// A word or a string literal as a name.
std::string Parser::expect_label()
{
	if (!is_word() && token_.kind != Token::Kind::text)
		refuse("expected a name here");
	if (token_.text.size() > Lexer::max_name_bytes)
		refuse("a name is longer than 255 bytes");
	return take().text;
}

// Appends the current word or star to a name of several words.
void Parser::append_word(std::string &name)
{
	if (name.size() + !name.empty() + token_.text.size() > Lexer::max_name_bytes)
		refuse("a name is longer than 255 bytes");
	if (!name.empty())
		name += ' ';
	name += take().text;
}

Tree Parser::tree()
{
	Tree made;
	while (token_.kind != Token::Kind::end) {
		if (!definition(made.definitions))
			made.blocks.push_back(block());
		expect(";");
	}
	made.reserved_name = std::move(reserved_name_);
	return made;
}

// Whether the current word is the target of an assignment, though it may be a keyword elsewhere.
bool Parser::is_assignment()
{
	if (!is_word())
		return false;
	for (const char *assigning : {"=", ":=", ".", "->"})
		if (peek_next().is(assigning))
			return true;
	return false;
}

Block Parser::block()
{
	bool is_known = false;
	for (const char *keyword : {"clock", "trace", "stream", "event", "env", "callsite"})
		is_known = is_known || token_.is(keyword);
	if (!is_known)
		refuse("expected clock, trace, stream, event, env, callsite or the definition of a type here");
	count_node();
	Block made;
	made.position = token_.position;
	made.keyword = take().text;
	expect("{");
	while (!accept("}")) {
		if (is_assignment() || !definition(made.definitions))
			statement(made);
		expect(";");
	}
	return made;
}

// name = value, or name := TYPE
void Parser::statement(Block &into)
{
	count_node();
	const TextPosition position = token_.position;
	std::string name = attribute_name();
	if (accept(":="))
		into.bindings.push_back({position, std::move(name), type(0, LastWord::of_type)});
	else
		into.attributes.push_back(attribute(position, std::move(name)));
}

// A definition outside a struct, up to its `;`. False: there is none here.
bool Parser::definition(std::vector<Definition> &into)
{
	if (named_definition(into, 0))
		return true;
	if (!token_.is("struct") && !token_.is("variant") && !token_.is("enum"))
		return false;
	count_node();
	auto declared = type(0, LastWord::of_type);
	if (!declared->has_body)
		refuse("expected `{` here");
	into.push_back({declared->position, "", std::move(declared), {}});
	return true;
}

bool Parser::named_definition(std::vector<Definition> &into, unsigned depth)
{
	const bool is_alias = token_.is("typealias");
	if (!is_alias && !token_.is("typedef"))
		return false;
	count_node();
	take();
	if (is_alias)
		into.push_back(alias(depth));
	else
		type_definition(into, depth);
	return true;
}

// After `typealias`: TYPE [*] [[N]] := name [*]
Definition Parser::alias(unsigned depth)
{
	Definition made;
	made.type = pointer_to(type(depth, LastWord::of_type));
	dimensions(made.dimensions);
	expect(":=");
	skip_const();
	made.position = token_.position;
	made.name = alias_name();
	append_stars(made.name);
	return made;
}

// A name, or the words of one of C's types, or a struct, variant or enum that a pointer points to.
std::string Parser::alias_name()
{
	std::string made;
	const bool is_tagged = token_.is("struct") || token_.is("variant") || token_.is("enum");
	if (is_tagged)
		append_word(made);
	else
		expect_type_word();
	if (!is_word())
		refuse("expected a name here");
	for (; is_word(); skip_const()) {
		expect_type_word();
		append_word(made);
	}
	return made;
}

// The words of C's type names, reserved elsewhere.
void Parser::expect_type_word()
{
	for (const char *word : {"char", "double", "float", "int", "long", "short", "signed", "unsigned", "void",
				 "_Bool", "_Complex", "_Imaginary"})
		if (token_.is(word))
			return;
	expect_no_reserved_word();
}

// After `typedef`: TYPE name, name[N]...
void Parser::type_definition(std::vector<Definition> &into, unsigned depth)
{
	const auto declared = type(depth, LastWord::of_declarator);
	do {
		Declaration made = declarator(declared);
		into.push_back({made.position, std::move(made.name), made.type, std::move(made.dimensions)});
	} while (accept(","));
}

// name or name.name...; white space around the dots is ignored, and -> is a dot
std::string Parser::path()
{
	std::string made = expect_word();
	while (accept(".") || accept("->")) {
		if (made.size() + 1 + token_.text.size() > max_path_bytes)
			refuse("a path is longer than 1023 bytes");
		made += '.' + expect_word();
	}
	return made;
}

std::string Parser::attribute_name()
{
	return token_.kind == Token::Kind::text ? expect_label() : path();
}

// After the name: = value
Attribute Parser::attribute(TextPosition position, std::string name)
{
	expect("=");
	return {position, std::move(name), value()};
}

// { name = value; ... }
std::vector<Attribute> Parser::attributes()
{
	std::vector<Attribute> made;
	expect("{");
	while (!accept("}")) {
		count_node();
		const TextPosition position = token_.position;
		made.push_back(attribute(position, attribute_name()));
		expect(";");
	}
	made.shrink_to_fit();
	return made;
}

// A value: from C's expressions only signs and parentheses.
Value Parser::value(unsigned depth)
{
	check_depth(depth, "parentheses");
	const TextPosition position = token_.position;
	const bool minus = accept("-"), has_sign = minus || accept("+");
	Value made = primary(depth);
	if (has_sign && made.kind != Value::Kind::integer)
		throw ParseError(made.position, "expected a number after the sign");
	made.position = position;
	made.negative = made.magnitude != 0 && made.negative != minus;
	if (made.negative && made.magnitude > std::uint64_t(1) << 63)
		throw ParseError(position, "a number does not fit into 64 bits");
	return made;
}

Value Parser::primary(unsigned depth)
{
	Value made;
	made.position = token_.position;
	if (accept("(")) {
		made = value(depth + 1);
		expect(")");
	} else if (token_.kind == Token::Kind::text) {
		made.kind = Value::Kind::text;
		made.text = take().text;
	} else if (is_word()) {
		made.kind = Value::Kind::word;
		made.text = path();
	} else if (token_.kind == Token::Kind::number) {
		made.magnitude = take().integer;
	} else {
		refuse("expected a value here");
	}
	return made;
}

Value Parser::expect_integer()
{
	Value made = value();
	if (made.kind != Value::Kind::integer)
		throw ParseError(made.position, "expected a number here");
	return made;
}

Tree parse(std::string_view untrusted_text)
{
	if (untrusted_text.size() > max_description_bytes)
		throw ParseError({}, "the description is larger than 16 MiB");
	return Parser(untrusted_text).tree();
}

} // namespace monitor::trace::tsdl
