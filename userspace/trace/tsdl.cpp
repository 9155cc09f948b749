// SPDX-License-Identifier: MIT
#include "tsdl.h"

#include "tsdl_lexer.h"

namespace monitor::trace::tsdl {
namespace {

// Labels, fields, attributes and statements together: some times what a full id space with all system calls needs.
constexpr std::size_t max_nodes = 250'000;
constexpr unsigned max_depth = 16;

// Recursive descent, one token of look-ahead; a structure in a structure is the only recursion, and it is bounded.
class Parser {
public:
	explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}
	Tree tree();

private:
	using TypePtr = std::shared_ptr<const Type>;

	[[noreturn]] void refuse(const std::string &sentence) const { throw Refusal(token_.position, sentence); }
	void count_node();
	Token take();
	bool accept(std::string_view text);
	void expect(std::string_view text);
	std::string expect_word();
	std::uint64_t expect_integer();

	Binding alias();
	Block block(const Token &keyword);
	std::string path();
	Value value();
	Attribute attribute_named(Position position, std::string name);

	TypePtr type(unsigned depth);
	void integer_type(Type &made);
	void enumeration(Type &made, unsigned depth);
	std::vector<Label> labels();
	std::uint64_t label_value();
	void structure(Type &made, unsigned depth);
	Declaration declaration(unsigned depth);

	Lexer lexer_;
	Token token_;
	std::size_t nodes_ = 0;
};

void Parser::count_node()
{
	if (++nodes_ > max_nodes)
		refuse("the description has too many declarations");
}

Token Parser::take()
{
	Token taken = std::move(token_);
	token_ = lexer_.next();
	return taken;
}

bool Parser::accept(std::string_view text)
{
	if (!token_.is(text))
		return false;
	take();
	return true;
}

void Parser::expect(std::string_view text)
{
	if (!accept(text))
		refuse("expected `" + std::string(text) + "` here");
}

std::string Parser::expect_word()
{
	if (token_.kind != Token::Kind::word)
		refuse("expected a name here");
	return take().text;
}

std::uint64_t Parser::expect_integer()
{
	if (token_.kind != Token::Kind::integer)
		refuse("expected a number here");
	return take().integer;
}

Tree Parser::tree()
{
	Tree made;
	while (token_.kind != Token::Kind::end) {
		count_node();
		const Token keyword = take();
		if (keyword.is("typealias"))
			made.aliases.push_back(alias());
		else if (keyword.kind == Token::Kind::word && token_.is("{") && !keyword.is("struct"))
			made.blocks.push_back(block(keyword));
		else
			throw Refusal(keyword.position, "expected typealias, clock, trace, env, stream or event here");
		expect(";");
	}
	return made;
}

// Behind `typealias`: TYPE := name
Binding Parser::alias()
{
	Binding made;
	made.position = token_.position;
	made.type = type(0);
	expect(":=");
	made.name = expect_word();
	while (token_.kind == Token::Kind::word) {
		made.name += ' ' + take().text;
		if (made.name.size() > Lexer::max_name_bytes)
			refuse("a name is longer than 255 bytes");
	}
	return made;
}

Block Parser::block(const Token &keyword)
{
	Block made;
	made.position = keyword.position;
	made.keyword = keyword.text;
	expect("{");
	while (!accept("}")) {
		count_node();
		const Position position = token_.position;
		std::string name = path();
		if (accept(":="))
			made.bindings.push_back({position, std::move(name), type(0)});
		else
			made.attributes.push_back(attribute_named(position, std::move(name)));
		expect(";");
	}
	return made;
}

// name or name.name...; blanks around the dots do not count
std::string Parser::path()
{
	std::string made = expect_word();
	while (accept(".")) {
		made += '.' + expect_word();
		if (made.size() > 2 * Lexer::max_name_bytes)
			refuse("a name is too long");
	}
	return made;
}

// Behind the name: = value
Attribute Parser::attribute_named(Position position, std::string name)
{
	expect("=");
	return {position, std::move(name), value()};
}

Value Parser::value()
{
	Value made;
	made.position = token_.position;
	if (token_.kind == Token::Kind::text) {
		made.kind = Value::Kind::text;
		made.text = take().text;
	} else if (token_.kind == Token::Kind::word) {
		made.kind = Value::Kind::word;
		made.text = path();
	} else {
		made.negative = accept("-");
		made.magnitude = expect_integer();
	}
	return made;
}

Parser::TypePtr Parser::type(unsigned depth)
{
	if (depth > max_depth)
		refuse("types are nested too deeply");
	auto made = std::make_shared<Type>();
	made->position = token_.position;
	for (const char *unread : {"variant", "string", "floating_point"})
		if (token_.is(unread))
			refuse(std::string("the type ") + unread + " is not read");
	if (accept("integer")) {
		integer_type(*made);
	} else if (accept("enum")) {
		enumeration(*made, depth);
	} else if (accept("struct")) {
		structure(*made, depth);
	} else {
		made->kind = Type::Kind::named;
		made->name = expect_word();
	}
	return made;
}

void Parser::integer_type(Type &made)
{
	made.kind = Type::Kind::integer;
	expect("{");
	while (!accept("}")) {
		count_node();
		const Position position = token_.position;
		made.attributes.push_back(attribute_named(position, expect_word()));
		expect(";");
	}
}

// Behind `enum`: : CONTAINER { labels }
void Parser::enumeration(Type &made, unsigned depth)
{
	made.kind = Type::Kind::enumeration;
	if (!accept(":"))
		refuse("an enum needs a container type (enum : TYPE) here");
	made.base = type(depth + 1);
	expect("{");
	made.labels = labels();
	expect("}");
}

std::vector<Label> Parser::labels()
{
	std::vector<Label> made;
	std::uint64_t implicit = 0; // one more than the last value
	while (!token_.is("}")) {
		count_node();
		Label label;
		label.position = token_.position;
		if (token_.kind != Token::Kind::word && token_.kind != Token::Kind::text)
			refuse("expected the name of a label here");
		label.text = take().text;
		label.first = label.last = implicit;
		if (accept("=")) {
			label.first = label.last = label_value();
			if (accept("..."))
				label.last = label_value();
		}
		implicit = label.last + 1;
		made.push_back(std::move(label));
		if (!accept(","))
			break;
	}
	return made;
}

std::uint64_t Parser::label_value()
{
	const bool negative = accept("-");
	if (negative && token_.kind == Token::Kind::integer && token_.integer > std::uint64_t(1) << 63)
		refuse("a number does not fit into 64 bits");
	const std::uint64_t magnitude = expect_integer();
	return negative ? 0 - magnitude : magnitude;
}

// Behind `struct`: { fields } align(N)
void Parser::structure(Type &made, unsigned depth)
{
	made.kind = Type::Kind::structure;
	if (!accept("{"))
		refuse("a named struct is not read; expected `{` here");
	while (!accept("}")) {
		count_node();
		made.fields.push_back(declaration(depth + 1));
		expect(";");
	}
	if (accept("align")) {
		expect("(");
		made.align_bits = expect_integer();
		expect(")");
	}
}

// TYPE name, TYPE name[N]; a named type may be of several words, the last word is the field's name
Declaration Parser::declaration(unsigned depth)
{
	Declaration made;
	auto declared = type(depth);
	made.position = token_.position;
	made.name = expect_word();
	if (declared->kind == Type::Kind::named && token_.kind == Token::Kind::word) {
		auto several = std::make_shared<Type>(*declared);
		while (token_.kind == Token::Kind::word) {
			several->name += ' ' + made.name;
			if (several->name.size() > Lexer::max_name_bytes)
				refuse("a name is longer than 255 bytes");
			made.position = token_.position;
			made.name = take().text;
		}
		declared = several;
	}
	made.type = declared;
	if (accept("[")) {
		if (token_.kind == Token::Kind::word)
			refuse("an array whose length is a field (a sequence) is not read");
		made.is_array = true;
		made.array_length = expect_integer();
		expect("]");
		if (token_.is("["))
			refuse("an array of arrays is not read");
	}
	return made;
}

} // namespace

Tree parse(std::string_view untrusted_text)
{
	if (untrusted_text.size() > max_text_bytes)
		throw Refusal({}, "the description is larger than 16 MiB");
	return Parser(untrusted_text).tree();
}

} // namespace monitor::trace::tsdl
