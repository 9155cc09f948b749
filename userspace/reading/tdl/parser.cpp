// SPDX-License-Identifier: MIT
#include "parser.h"

#include <algorithm>

#include "field_parser.h"

namespace monitor::trace::tdl {
namespace {

const std::vector<std::string> block_words = {"trace", "little",  "big",    "magic", "the",
					      "every", "segment", "record", "names"};
const std::vector<std::string> statements = {"filler", "when", "group", "end",    "length", "content",
					     "time",   "cpu",  "begin", "finish", "lost",   "number"};

class Parser : public FieldParser {
public:
	using FieldParser::FieldParser;

	Model parse()
	{
		expect_words({"trace"});
		model_.name = name("the name of the format").text;
		model_.meaning = optional_text();
		expect_line_end();
		while (peek().kind != Token::Kind::end)
			top_level();
		if (model_.records.empty())
			fail("`record NAME` (a description needs at least one)");
		return std::move(model_);
	}

private:
	void count(std::size_t limit)
	{
		if (++items_ > limit)
			throw ParseError(peek().position, "a description has at most 10000 lines of fields and names");
	}

	void top_level()
	{
		const TextPosition where = peek().position;
		std::optional<bool> big_endian;
		if (take_byte_order(big_endian)) {
			if (has_byte_order_)
				throw ParseError(where, "the byte order of all fields appears twice; that of one field "
							"comes after its type");
			has_byte_order_ = true;
			model_.big_endian = *big_endian;
			expect_line_end();
		} else if (take_words({"magic"})) {
			magic(where);
		} else if (take_words({"the"})) {
			expect_words({"file", "begins", "with"});
			header(model_.file, where);
		} else if (take_words({"every"})) {
			const bool is_segment = take_words({"segment"});
			if (!is_segment && !take_words({"record"}))
				fail("`every segment begins with` or `every record begins with`",
				     {"segment", "record"});
			expect_words({"begins", "with"});
			header(is_segment ? model_.segment : model_.common, where);
		} else if (take_words({"record"})) {
			record(where);
		} else if (take_words({"names"})) {
			names(where);
		} else {
			fail("a block: magic, the file begins with, every segment begins with, every record begins "
			     "with, record NAME, names NAME",
			     block_words);
		}
	}

	void header(std::optional<Block> &block, TextPosition where)
	{
		if (block)
			throw ParseError(where, "this block appears twice");
		block.emplace();
		block->position = where;
		expect_line_end();
		items(*block, block->items, 0, "the block" + line(where));
	}

	void record(TextPosition where)
	{
		Block block;
		block.position = where;
		block.name = name("the name of the record").text;
		if (take_words({"when"}))
			conditions(block.conditions);
		block.meaning = optional_text();
		expect_line_end();
		items(block, block.items, 0, "record " + block.name + line(where));
		for (const Block &other : model_.records)
			if (other.name == block.name)
				throw ParseError(where, "two records are called " + block.name);
		count(max_items);
		model_.records.push_back(std::move(block));
	}

	static std::string line(TextPosition where) { return " of line " + std::to_string(where.line); }

	// Called at the start of a line: if no line in the block `open` can start like this, `end` is missing.
	void expect_inside(const std::string &open)
	{
		const bool is_outer = peek().kind == Token::Kind::word &&
				      std::ranges::find(block_words, peek().text) != block_words.end();
		if (is_outer || peek().kind == Token::Kind::end)
			fail("the `end` of " + open);
	}

	// Parses up to and including the `end` of the block `open`.
	void items(Block &block, std::vector<Item> &into, unsigned depth, const std::string &open)
	{
		for (;;) {
			count(max_items);
			if (is_type(1)) {
				into.push_back(field());
				continue;
			}
			expect_inside(open);
			if (take_words({"end"})) {
				return expect_line_end();
			} else if (take_words({"filler"})) {
				into.push_back(filler());
			} else if (peek().is("when") || peek().is("group")) {
				if (depth == max_depth)
					throw ParseError(peek().position, "blocks are nested too deeply");
				const std::string inner = peek().text + line(peek().position);
				into.push_back(peek().is("when") ? when() : group());
				items(block, into.back().items, depth + 1, inner);
			} else if (peek(1).is("is") && depth == 0) {
				statement(block);
			} else {
				line_expected();
			}
		}
	}

	[[noreturn]] void line_expected()
	{
		if (peek(1).kind == Token::Kind::word &&
		    std::ranges::find(statements, peek().text) == statements.end()) {
			take();
			fail("a type: unsigned, signed, real, comp_t, text, block or list",
			     {"unsigned", "signed", "real", "comp_t", "text", "block", "list"});
		}
		fail("a field (NAME TYPE), filler, when, group, a statement (length is, time is ...) or end",
		     statements);
	}

	Item when()
	{
		Item item;
		item.position = take().position;
		item.kind = Item::Kind::when;
		conditions(item.conditions);
		expect_line_end();
		return item;
	}

	Item group()
	{
		Item item;
		item.position = take().position;
		item.kind = Item::Kind::group;
		item.name = name("the name of the group").text;
		item.is_repeated = repetition(item.field);
		item.meaning = optional_text();
		expect_line_end();
		return item;
	}

	Constant constant()
	{
		Constant made;
		made.name.position = peek().position;
		if (peek().kind == Token::Kind::number) {
			made.is_negative = peek().is_negative;
			made.number = take().number;
		} else if (peek().kind == Token::Kind::word || peek().kind == Token::Kind::text) {
			made.name.text = take().text;
		} else {
			fail("a number, or the name of one");
		}
		return made;
	}

	// FIELD is [not] V [or V ...] | is at least N | is at most N | has V | lacks V, joined by `and`
	void conditions(std::vector<Condition> &into)
	{
		using Relation = Condition::Relation;
		do {
			Condition made;
			made.field = name("the name of a field");
			if (take_words({"has"}))
				made.relation = Relation::has;
			else if (take_words({"lacks"}))
				made.relation = Relation::lacks;
			else if (!take_words({"is"}))
				fail("`is`, `has` or `lacks`", {"is", "has", "lacks"});
			else if (take_words({"at", "least"}))
				made.relation = Relation::at_least;
			else if (take_words({"at", "most"}))
				made.relation = Relation::at_most;
			else if (take_words({"not"}))
				made.relation = Relation::is_not;
			made.values.push_back(constant());
			while (made.relation <= Relation::is_not && take_words({"or"}))
				made.values.push_back(constant());
			count(max_items);
			into.push_back(std::move(made));
		} while (take_words({"and"}));
	}

	void statement(Block &block)
	{
		const Token what = take();
		expect_words({"is"});
		const auto refuse_second = [&](bool is_set) {
			if (is_set)
				throw ParseError(what.position, "this appears twice");
		};
		const auto set_field = [&](Name &into) {
			refuse_second(static_cast<bool>(into));
			into = name("the name of a field");
			expect_line_end();
		};
		if (what.is("length") || what.is("content")) {
			std::optional<Size> &into = what.is("length") ? block.length : block.content;
			refuse_second(into.has_value());
			into = size();
		} else if (what.is("time")) {
			refuse_second(block.time.has_value());
			block.time = time(what.position);
		} else if (what.is("cpu")) {
			set_field(block.cpu);
		} else if (what.is("begin")) {
			set_field(block.begin);
		} else if (what.is("finish")) {
			set_field(block.end);
		} else if (what.is("lost")) {
			set_field(block.lost);
		} else if (what.is("number")) {
			set_field(block.number);
		} else {
			throw ParseError(what.position,
					 "unknown statement: a block can have length, content, time, cpu, "
					 "begin, finish, lost and number; a field needs a type");
		}
	}

	Size size()
	{
		Size made;
		made.amount = amount();
		if (take_words({"bits"})) {
			made.has_unit = true;
			made.unit_bits = 1;
		} else {
			made.has_unit = take_words({"bytes"});
		}
		if (take_words({"rounded", "up", "to"})) {
			const TextPosition where = peek().position;
			made.multiple_bytes = positive("a number of bytes");
			if (made.multiple_bytes > 1u << 20)
				throw ParseError(where, "a length can be rounded up to at most 2^20 bytes");
			expect_words({"bytes"});
		}
		expect_line_end();
		return made;
	}

	Time time(TextPosition where)
	{
		Time made;
		made.position = where;
		made.parts.push_back(name("the field that holds the time"));
		if (take_words({"plus"}))
			made.parts.push_back(name("the field that holds the rest of the time"));
		while (!at_line_end()) {
			if (take_words({"wrapping"}))
				made.wraps = true;
			else if (take_words({"may", "step", "back"}))
				made.may_step_back = true;
			else if (take_words({"since"}))
				made.origin = origin();
			else
				fail("`plus FIELD`, `since ...`, `wrapping` or `may step back`",
				     {"plus", "since", "wrapping", "may"});
		}
		expect_line_end();
		return made;
	}

	Time::Origin origin()
	{
		if (peek().kind == Token::Kind::number && peek().number == 1970) {
			take();
			return Time::Origin::epoch;
		}
		if (take_words({"boot"}))
			return Time::Origin::boot;
		if (take_words({"the", "first", "record"}))
			return Time::Origin::first;
		if (take_words({"the", "segment"}))
			return Time::Origin::segment;
		if (take_words({"the", "record", "before"}))
			return Time::Origin::before;
		fail("1970, boot, the first record, the segment or the record before", {"boot", "the"});
	}

	// bytes N N ... | "text" [at byte N] [means little endian | big endian | FIELD in UNIT ...]
	void magic(TextPosition where)
	{
		Magic made;
		made.position = where;
		if (peek().kind == Token::Kind::text) {
			made.bytes = take().text;
		} else if (take_words({"bytes"})) {
			for (; peek().kind == Token::Kind::number; take()) {
				if (peek().number > 255)
					fail("bytes, each 0 to 255");
				made.bytes += static_cast<char>(peek().number);
			}
		}
		if (made.bytes.empty() || made.bytes.size() > 64)
			fail("`bytes N N ...` or a text, of 1 to 64 bytes", {"bytes"});
		if (take_words({"at", "byte"}))
			made.at_byte = number("the number of bytes before it");
		if (made.at_byte > 1u << 20)
			throw ParseError(where, "a magic must be within the first 2^20 bytes");
		if (take_words({"means"}))
			while (!at_line_end()) {
				if (take_byte_order(made.big_endian))
					continue;
				const Name field = name("little endian, big endian or FIELD in UNIT");
				expect_words({"in"});
				made.units.emplace_back(field, unit());
			}
		expect_line_end();
		if (model_.magics.size() == 100)
			throw ParseError(where, "a description has at most 100 magics");
		model_.magics.push_back(std::move(made));
	}

	// N [to N] means LABEL ["meaning"], or bit N means LABEL
	void names(TextPosition where)
	{
		Names made;
		made.position = where;
		made.name = name("a name for this block").text;
		made.meaning = optional_text();
		expect_line_end();
		while (!take_words({"end"})) {
			expect_inside("names " + made.name + line(where));
			count(max_items);
			made.labels.push_back(label());
			if (made.labels.back().is_bit != made.labels.front().is_bit)
				throw ParseError(made.labels.back().position,
						 "a block must name either values only or bits only");
		}
		expect_line_end();
		if (made.labels.empty())
			throw ParseError(where, "there are no names in this block");
		check_overlap(made);
		for (const Names &other : model_.names)
			if (other.name == made.name)
				throw ParseError(where, "two blocks of names are called " + made.name);
		model_.names.push_back(std::move(made));
	}

	// A number must not have two names.
	static void check_overlap(const Names &names)
	{
		const bool is_signed =
		    std::ranges::any_of(names.labels, [](const Label &label) { return label.is_negative; });
		const std::uint64_t bias = is_signed ? std::uint64_t(1) << 63 : 0; // orders signed values
		std::vector<const Label *> sorted;
		for (const Label &label : names.labels)
			sorted.push_back(&label);
		std::ranges::stable_sort(sorted, {}, [&](const Label *label) { return label->first + bias; });
		for (std::size_t i = 1; i < sorted.size(); ++i) {
			const Label &a = *sorted[i - 1], &b = *sorted[i];
			const auto [earlier, later] = std::minmax(a.position.line, b.position.line);
			if (b.first + bias <= a.last + bias)
				throw ParseError(a.position.line == later ? a.position : b.position,
						 "a number has two names, the other one on line " +
						     std::to_string(earlier) + "; remove one of them");
		}
	}

	Label label()
	{
		Label made;
		made.position = peek().position;
		made.is_bit = take_words({"bit"});
		if (peek().kind != Token::Kind::number || (made.is_bit && (peek().is_negative || peek().number > 63)))
			fail(made.is_bit ? "the number of a bit, 0 to 63" : "a number, `bit N` or `end`",
			     {"bit", "end"});
		made.is_negative = peek().is_negative;
		made.first = made.last = take().number;
		if (!made.is_bit && take_words({"to"})) {
			if (peek().kind != Token::Kind::number)
				fail("the last number of this name");
			made.is_negative = made.is_negative || peek().is_negative;
			made.last = take().number;
		}
		expect_words({"means"});
		if (peek().kind != Token::Kind::word && peek().kind != Token::Kind::text)
			fail("a name: a word, or a text in quotes");
		made.text = take().text;
		made.meaning = optional_text();
		expect_line_end();
		return made;
	}

	Model model_;
	std::size_t items_ = 0;
	bool has_byte_order_ = false;
};

} // namespace

Model parse(std::string_view untrusted_text)
{
	return Parser(tokens_of(untrusted_text)).parse();
}

} // namespace monitor::trace::tdl
