// SPDX-License-Identifier: MIT
#include "tsdl_parser.h"

namespace monitor::trace::tsdl {

Parser::TypePtr Parser::type(unsigned depth, LastWord last_word)
{
	check_depth(depth, "types");
	count_node();
	auto made = std::make_shared<Type>();
	made->position = token_.position;
	skip_const();
	if (token_.is("integer") || token_.is("floating_point") || token_.is("string"))
		scalar(*made);
	else if (accept("enum"))
		enumeration(*made, depth);
	else if (accept("struct"))
		structure(*made, depth);
	else if (accept("variant"))
		variant(*made, depth);
	else
		named(*made, last_word);
	skip_const();
	return made;
}

// integer { attributes } or floating_point { attributes } or string [{ attributes }]
void Parser::scalar(Type &made)
{
	const Token keyword = take();
	made.kind = Type::Kind::string;
	if (keyword.is("integer"))
		made.kind = Type::Kind::integer;
	else if (keyword.is("floating_point"))
		made.kind = Type::Kind::floating_point;
	made.has_body = true;
	if (made.kind != Type::Kind::string || token_.is("{"))
		made.attributes = attributes();
}

void Parser::named(Type &made, LastWord last_word)
{
	made.kind = Type::Kind::named;
	if (!is_word())
		refuse("expected a type here");
	do {
		expect_type_word();
		append_word(made.name);
		skip_const();
		if (token_.is("typedef") && is_before_declarator())
			refuse("this word must come first in a typedef");
	} while (is_word() && (last_word == LastWord::of_type || is_before_declarator()));
}

// Whether the current word precedes the declared name.
bool Parser::is_before_declarator()
{
	return peek_next().kind == Token::Kind::word || peek_next().is("*") || peek_next().is("(");
}

// After `enum`: [name] [: CONTAINER] { labels }, or the name alone
void Parser::enumeration(Type &made, unsigned depth)
{
	made.kind = Type::Kind::enumeration;
	if (is_word())
		made.name = expect_identifier();
	if (accept(":"))
		made.base = container(depth);
	made.has_body = made.base || made.name.empty() || token_.is("{");
	if (!made.has_body)
		return;
	expect("{");
	made.labels = labels();
	expect("}");
}

Parser::TypePtr Parser::container(unsigned depth)
{
	skip_const();
	for (const char *other : {"enum", "struct", "variant", "string", "floating_point"})
		if (token_.is(other))
			refuse("expected an integer type here");
	return type(depth, LastWord::of_type);
}

std::vector<Label> Parser::labels()
{
	std::vector<Label> made;
	std::uint64_t implicit = 0; // one more than the last value
	bool is_negative = false;   // of `implicit`
	while (!token_.is("}")) {
		count_node();
		Label label;
		label.position = token_.position;
		expect_no_reserved_word();
		label.text = expect_label();
		label.first = label.last = implicit;
		label.is_first_negative = label.is_last_negative = is_negative;
		if (accept("=")) {
			label.first = label.last = label_value(label.is_first_negative);
			label.is_last_negative = label.is_first_negative;
			if (accept("..."))
				label.last = label_value(label.is_last_negative);
		} else if (implicit == 0 && !made.empty() && !made.back().is_last_negative) {
			throw ParseError(label.position, "the value of a label does not fit into 64 bits");
		}
		implicit = label.last + 1;
		is_negative = label.is_last_negative && implicit != 0;
		made.push_back(std::move(label));
		if (!accept(","))
			break;
	}
	made.shrink_to_fit();
	return made;
}

std::uint64_t Parser::label_value(bool &is_negative)
{
	const Value number = expect_integer();
	is_negative = number.negative;
	return number.negative ? 0 - number.magnitude : number.magnitude;
}

// After `struct`: [name] { members } [align(N)], or the name without members
void Parser::structure(Type &made, unsigned depth)
{
	made.kind = Type::Kind::structure;
	if (is_word())
		made.name = expect_identifier();
	if (made.name.empty() || token_.is("{"))
		body(made, depth);
	if (!token_.is("align") || !peek_next().is("("))
		return; // a field may be called align
	take();
	expect("(");
	const Value bits = expect_integer();
	if (bits.negative || bits.magnitude == 0)
		throw ParseError(bits.position, "expected a number of bits here");
	made.align_bits = bits.magnitude;
	expect(")");
}

// After `variant`: [name] [<tag>] { members }, or name <tag> alone
void Parser::variant(Type &made, unsigned depth)
{
	made.kind = Type::Kind::variant;
	if (is_word())
		made.name = expect_identifier();
	if (accept("<")) {
		expect_path();
		made.tag = path();
		expect(">");
	}
	if (made.name.empty() || made.tag.empty() || token_.is("{"))
		body(made, depth);
}

void Parser::body(Type &made, unsigned depth)
{
	made.has_body = true;
	expect("{");
	while (!accept("}")) {
		if (!named_definition(made.definitions, depth + 1))
			member(made, depth + 1);
		expect(";");
	}
	made.fields.shrink_to_fit();
}

// TYPE name, name[N]...; or a struct, variant or enum that is only declared
void Parser::member(Type &into, unsigned depth)
{
	const auto declared = type(depth, LastWord::of_declarator);
	if (token_.is(";") && declared->has_body && !declared->name.empty()) {
		count_node();
		into.definitions.push_back({declared->position, "", declared, {}});
		return;
	}
	do
		into.fields.push_back(declarator(declared));
	while (accept(","));
}

// name or *name, with dimensions; parentheses around it are ignored
Declaration Parser::declarator(const TypePtr &type)
{
	count_node();
	Declaration made;
	made.type = pointer_to(type);
	unsigned open = 0;
	while (accept("("))
		check_depth(++open, "parentheses");
	made.position = token_.position;
	made.name = expect_identifier();
	for (dimensions(made.dimensions); open > 0; --open) {
		expect(")");
		dimensions(made.dimensions);
	}
	if (token_.is(":"))
		refuse("bit-fields are not supported; give the size in integer { size = N; }");
	return made;
}

// A pointer is a type of its own, TYPE *: it exists if that name was defined.
Parser::TypePtr Parser::pointer_to(const TypePtr &type)
{
	if (!token_.is("*"))
		return type;
	count_node();
	auto made = std::make_shared<Type>();
	made->position = type->position;
	if (type->kind == Type::Kind::structure && !type->has_body && type->align_bits == 0)
		made->name = "struct " + type->name;
	else if (type->kind == Type::Kind::enumeration && !type->has_body)
		made->name = "enum " + type->name;
	else if (type->kind == Type::Kind::named)
		made->name = type->name;
	else
		refuse("a pointer can point to a named type only");
	append_stars(made->name);
	return made;
}

void Parser::append_stars(std::string &name)
{
	for (; token_.is("*"); skip_const())
		append_word(name);
}

void Parser::dimensions(std::vector<Dimension> &into)
{
	while (token_.is("[")) {
		count_node();
		into.push_back(dimension());
	}
}

// The path of a field: only the scope that it begins with may be a reserved word.
void Parser::expect_path()
{
	for (const char *scope : {"trace", "stream", "event", "env"})
		if (token_.is(scope) && (peek_next().is(".") || peek_next().is("->")))
			return;
	expect_no_reserved_word();
}

Dimension Parser::dimension()
{
	Dimension made;
	made.position = take().position;
	expect_path();
	Value length = value();
	if (length.negative || length.kind == Value::Kind::text)
		throw ParseError(length.position, "expected a length or the path of a field here");
	made.length = length.magnitude;
	made.path = std::move(length.text);
	expect("]");
	return made;
}

} // namespace monitor::trace::tsdl
