// SPDX-License-Identifier: MIT
#include "field_parser.h"

#include <algorithm>

#include "reading/ctf/field_class.h"

namespace monitor::trace::tdl {
namespace {

const std::vector<std::string> types = {"unsigned", "signed", "real", "comp_t", "text", "block", "list"};
const std::vector<std::string> clauses = {"little", "big", "in", "as", "named", "always", "hidden", "checksum"};
constexpr const char *type_choices = "a type: unsigned, signed, real, comp_t, text, block or list";
constexpr std::uint64_t max_amount = 1u << 30; // limit of amounts in a description

} // namespace

bool FieldParser::is_type(std::size_t ahead) const
{
	return peek(ahead).kind == Token::Kind::word && std::ranges::find(types, peek(ahead).text) != types.end();
}

Item FieldParser::field()
{
	Item item;
	item.position = peek().position;
	item.name = name("the name of a field").text;
	type(item.field);
	while (!at_line_end() && peek().kind != Token::Kind::text)
		clause(item.field);
	item.meaning = optional_text();
	expect_line_end();
	return item;
}

std::uint32_t FieldParser::scalar_bits(bool is_real)
{
	const Token where = peek();
	const std::uint64_t count = positive(is_real ? "32 bits or 64 bits" : "1 to 64 bits");
	std::uint64_t bits = count;
	if (take_words({"bytes"}) || take_words({"byte"}))
		bits = count <= 8 ? count * 8 : 0;
	else if (!take_words({"bits"}) && !take_words({"bit"}))
		fail("`bits` or `bytes`", {"bits", "bytes"});
	if (bits < 1 || bits > 64)
		throw ParseError(where.position, "a number must have 1 to 64 bits");
	if (is_real && bits != 32 && bits != 64)
		throw ParseError(where.position, "a real number must have 32 or 64 bits");
	return static_cast<std::uint32_t>(bits);
}

void FieldParser::scalar(Field &field, bool &is_real)
{
	field.is_signed = peek().is("signed");
	is_real = peek().is("real");
	if (take_words({"comp_t"})) {
		is_real = true;
		field.bits = comp_t_bits;
		return;
	}
	if (!field.is_signed && !is_real && !peek().is("unsigned"))
		fail("unsigned, signed, real or comp_t", {"unsigned", "signed", "real", "comp_t"});
	take();
	field.bits = scalar_bits(is_real);
}

void FieldParser::type(Field &field)
{
	bool is_real = false;
	if (!is_type(0))
		fail(type_choices, types);
	if (take_words({"text"})) {
		field.type = Field::Type::text;
		extent(field);
	} else if (take_words({"block"})) {
		field.type = Field::Type::block;
		field.base = 16;
		extent(field);
	} else if (take_words({"list"})) {
		field.type = Field::Type::list;
		if (take_words({"to", "the", "end"})) {
			field.extent = Field::Extent::to_end;
			take_words({"of"});
		} else {
			expect_words({"of"});
			field.amount = positive_amount();
		}
		scalar(field, field.is_real_list);
	} else {
		scalar(field, is_real);
		field.type = is_real ? Field::Type::real : Field::Type::integer;
	}
}

// of AMOUNT bytes | until zero | to the end
void FieldParser::extent(Field &field)
{
	if (field.type == Field::Type::text && take_words({"until", "zero"})) {
		field.extent = Field::Extent::until_zero;
	} else if (take_words({"to", "the", "end"})) {
		field.extent = Field::Extent::to_end;
	} else if (take_words({"of"})) {
		field.amount = positive_amount();
		if (!take_words({"bytes"}))
			expect_words({"byte"});
	} else {
		fail(field.type == Field::Type::text ? "`of N bytes`, `until zero` or `to the end`"
						     : "`of N bytes` or `to the end`",
		     {"of", "until", "to"});
	}
}

Amount FieldParser::amount()
{
	Amount made;
	made.position = peek().position;
	if (peek().kind == Token::Kind::number) {
		made.times = 0;
		made.plus = static_cast<std::int64_t>(number("a non-negative number"));
		if (made.plus < 0 || static_cast<std::uint64_t>(made.plus) > max_amount)
			throw ParseError(made.position, "more than 2^30 is not supported");
		return made;
	}
	made.field = name("a number or the name of a field");
	const auto bounded = [this] {
		const TextPosition where = peek().position;
		const std::uint64_t value = number("a non-negative number");
		if (value > max_amount)
			throw ParseError(where, "more than 2^30 is not supported");
		return value;
	};
	if (peek(1).kind == Token::Kind::number && take_words({"times"})) // false: a group's repetition
		made.times = bounded();
	if (take_words({"plus"}))
		made.plus = static_cast<std::int64_t>(bounded());
	else if (take_words({"minus"}))
		made.plus = -static_cast<std::int64_t>(bounded());
	return made;
}

Amount FieldParser::positive_amount()
{
	Amount made = amount();
	if (!made.field && made.plus == 0)
		throw ParseError(made.position, "an amount of 0 describes nothing; remove the line");
	return made;
}

bool FieldParser::take_byte_order(std::optional<bool> &big_endian)
{
	if (!peek().is("little") && !peek().is("big"))
		return false;
	big_endian = take().text == "big";
	expect_words({"endian"});
	return true;
}

Unit FieldParser::unit()
{
	Unit made;
	if (take_words({"ticks", "of"})) {
		made.name = "ticks of " + peek().text + " per second";
		made.per_second = positive("the number of ticks per second");
		expect_words({"per", "second"});
		return made;
	}
	made.name = name("a unit").text;
	constexpr std::pair<const char *, std::uint64_t> times[] = {
	    {"seconds", 1}, {"milliseconds", 1'000}, {"microseconds", 1'000'000}, {"nanoseconds", 1'000'000'000}};
	for (const auto &[word, per_second] : times)
		if (made.name == word)
			made.per_second = per_second;
	made.bits = made.name == "bits" ? 1 : made.name == "bytes" ? 8 : 0;
	return made;
}

void FieldParser::clause(Field &field)
{
	if (take_byte_order(field.big_endian))
		return;
	if (take_words({"in"})) {
		field.unit = unit();
	} else if (take_words({"as"})) {
		constexpr std::pair<const char *, std::uint8_t> bases[] = {
		    {"hexadecimal", 16}, {"decimal", 10}, {"octal", 8}, {"binary", 2}};
		for (const auto &[word, base] : bases)
			if (take_words({word})) {
				field.base = base;
				return;
			}
		const TextPosition where = peek().position;
		if (!take_words({"dotted", "decimal"}))
			fail("hexadecimal, decimal, octal, binary or dotted decimal",
			     {"hexadecimal", "decimal", "octal", "binary", "dotted"});
		if (field.type != Field::Type::integer || field.is_signed || field.bits != 32)
			throw ParseError(where,
					 "only an unsigned number of 32 bits, an address, is shown as dotted decimal");
		field.base = dotted_base;
	} else if (take_words({"named"})) {
		field.names = name("the name of a `names` block");
	} else if (take_words({"always"})) {
		if (peek().kind != Token::Kind::number)
			fail("the number of `always`");
		field.always = take().number;
	} else if (take_words({"hidden"})) {
		field.is_hidden = true;
	} else if (take_words({"checksum"})) {
		checksum(field);
	} else {
		fail("a property of the field (little endian, big endian, in UNIT, as BASE, named NAMES, always N, "
		     "hidden, checksum) or its meaning in quotes",
		     clauses);
	}
}

void FieldParser::checksum(Field &field)
{
	constexpr std::pair<const char *, Checksum> methods[] = {{"sum8", Checksum::sum8},
								 {"sum16", Checksum::sum16},
								 {"sum32", Checksum::sum32},
								 {"xor8", Checksum::xor8},
								 {"crc32", Checksum::crc32}};
	for (const auto &[word, method] : methods)
		if (take_words({word}))
			field.checksum = method;
	if (field.checksum == Checksum::none)
		fail("sum8, sum16, sum32, xor8 or crc32", {"sum8", "sum16", "sum32", "xor8", "crc32"});
	if (!take_words({"of"}))
		return;
	field.first = name("the first field that it covers");
	field.last = take_words({"to"}) ? name("the last field that it covers") : field.first;
}

Item FieldParser::filler()
{
	Item item;
	item.position = peek().position;
	item.kind = Item::Kind::filler;
	item.field.is_hidden = true;
	const TextPosition where = peek().position;
	if (take_words({"to"})) {
		expect_words({"a", "multiple", "of"});
		item.kind = Item::Kind::filler_to;
		item.multiple_bytes = positive("a number of bytes");
		expect_words({"bytes"});
		if (item.multiple_bytes > 4096 || (item.multiple_bytes & (item.multiple_bytes - 1)))
			throw ParseError(where, "a filler must go to a multiple of 1, 2, 4, 8 ... or 4096 bytes");
	} else if (take_words({"of"})) {
		item.field.amount = amount();
		if (take_words({"bits"}) || take_words({"bit"})) {
			if (item.field.amount.field || item.field.amount.plus < 1 || item.field.amount.plus > 64)
				throw ParseError(where, "a filler of bits must have 1 to 64");
			item.field.bits = static_cast<std::uint32_t>(item.field.amount.plus);
		} else {
			item.field.type = Field::Type::block;
			if (!take_words({"bytes"}))
				expect_words({"byte"});
		}
	} else if (take_words({"bytes"})) {
		item.field.bits = 0;
		item.field.base = 16;
		item.field.big_endian = true; // as written
		item.field.always = 0;
		for (; peek().kind == Token::Kind::number; item.field.bits += 8) {
			if (peek().number > 255 || item.field.bits == 64)
				fail("at most 8 bytes, each 0 to 255");
			item.field.always = *item.field.always << 8 | take().number;
		}
		if (item.field.bits == 0)
			fail("the bytes of the filler");
	} else {
		fail("`of N bytes`, `to a multiple of N bytes` or `bytes N N ...`", {"of", "to", "bytes"});
	}
	expect_line_end();
	return item;
}

bool FieldParser::repetition(Field &field)
{
	if (take_words({"to", "the", "end"})) {
		field.extent = Field::Extent::to_end;
		return true;
	}
	if (at_line_end() || peek().kind == Token::Kind::text)
		return false;
	field.amount = positive_amount();
	expect_words({"times"});
	return true;
}

} // namespace monitor::trace::tdl
