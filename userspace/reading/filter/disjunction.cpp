// SPDX-License-Identifier: MIT
#include "disjunction.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace monitor::filter {
namespace {

using From = ValueSource::From;

constexpr std::size_t name_bytes = 16; // of a thread
const Ranges known_cpus = {{0, EDC_CPU_UNKNOWN - 1}};
constexpr std::uint64_t max_key = ~std::uint64_t(0);
const Ranges every_key = {{0, max_key}};

bool is_same_value(const Factor &a, const Factor &b)
{
	return a.source.from == b.source.from && a.source.field.field() == b.source.field.field() && a.word == b.word &&
	       a.shift == b.shift && a.mask == b.mask && a.flip == b.flip;
}

// A whole text as words in order; unused words are 0.
using Text = std::array<std::uint64_t, max_text_words>;

struct TextRange {
	Text first{}, last{}; // both included
};

Text greatest_text(unsigned words)
{
	Text text{};
	std::fill_n(text.begin(), words, max_key);
	return text;
}

// The next text in order; false: there is none.
bool step_up(Text &text, unsigned words)
{
	for (unsigned i = words; i-- > 0;)
		if (++text[i] != 0)
			return true;
	return false;
}

bool step_down(Text &text, unsigned words)
{
	for (unsigned i = words; i-- > 0;)
		if (text[i]-- != 0)
			return true;
	return false;
}

std::vector<TextRange> joined(std::vector<TextRange> ranges, unsigned words)
{
	std::ranges::sort(ranges, {}, &TextRange::first);
	std::vector<TextRange> made;
	for (const TextRange &next : ranges) {
		Text after = made.empty() ? Text{} : made.back().last;
		if (!made.empty() && (!step_up(after, words) || next.first <= after))
			made.back().last = std::max(made.back().last, next.last);
		else
			made.push_back(next);
	}
	return made;
}

std::vector<TextRange> complement(const std::vector<TextRange> &ranges, unsigned words)
{
	std::vector<TextRange> made;
	Text first{};
	for (const TextRange &taken : ranges) {
		if (first < taken.first) {
			Text last = taken.first;
			step_down(last, words);
			made.push_back({first, last});
		}
		first = taken.last;
		if (!step_up(first, words))
			return made;
	}
	made.push_back({first, greatest_text(words)});
	return made;
}

// The ranges of texts that a condition accepts, among those of at most words * 8 bytes without a NUL.
class TextRanges {
public:
	TextRanges(const Expression &condition, unsigned words) : condition_(condition), words_(words) {}

	std::vector<TextRange> ranges() const
	{
		std::vector<TextRange> all;
		for (auto constant = condition_.children.begin() + 1; constant != condition_.children.end();
		     ++constant) {
			if (constant->kind == Expression::Kind::range && constant->children[0].kind == text)
				add(all, from(constant->children[0]), up_to(constant->children[1], true));
			else if (constant->kind == text)
				add_one(all, *constant);
		}
		return joined(std::move(all), words_);
	}

private:
	static constexpr auto text = Expression::Kind::text;

	struct End {
		Text key{};
		bool exists = true;
	};

	static void add(std::vector<TextRange> &all, const End &first, const End &last)
	{
		if (first.exists && last.exists && first.key <= last.key)
			all.push_back({first.key, last.key});
	}

	void add_one(std::vector<TextRange> &all, const Expression &constant) const
	{
		if (condition_.kind == Expression::Kind::glob)
			return add_glob(all, constant);
		switch (condition_.relation) {
		case Relation::less:
		case Relation::less_equal:
			return add(all, {}, up_to(constant, condition_.relation == Relation::less_equal));
		case Relation::greater:
		case Relation::greater_equal: {
			End first = from(constant);
			if (condition_.relation == Relation::greater && fits(constant))
				first.exists = step_up(first.key, words_);
			return add(all, first, {greatest_text(words_), true});
		}
		default: // the caller negates
			if (fits(constant))
				add(all, from(constant), up_to(constant, true));
		}
	}

	void add_glob(std::vector<TextRange> &all, const Expression &constant) const
	{
		std::string literal;
		const std::string &pattern = constant.text;
		std::size_t at = 0;
		for (; at < pattern.size() && pattern[at] != '*'; ++at) {
			if (pattern[at] == '?' || pattern[at] == '[')
				throw Undecidable{constant.at, "the kernel compares whole texts or, with a * at the "
							       "end of the pattern, their beginnings"};
			at += pattern[at] == '\\' && at + 1 < pattern.size();
			literal += pattern[at];
		}
		const bool is_prefix = at < pattern.size();
		if (pattern.find_first_not_of('*', at) != std::string::npos)
			throw Undecidable{constant.at,
					  "the kernel compares the beginnings of texts: a * can only be at the end"};
		if (literal.size() > words_ * 8)
			return;
		add(all, {text_of(literal, '\0', constant.at), true},
		    {text_of(literal, is_prefix ? '\xff' : '\0', constant.at), true});
	}

	bool fits(const Expression &constant) const { return constant.text.size() <= words_ * 8; }

	// The first text not before the constant. A constant longer than any text is between two of them.
	End from(const Expression &constant) const
	{
		End end{text_of(constant.text, '\0', constant.at), true};
		if (!fits(constant))
			end.exists = step_up(end.key, words_);
		return end;
	}

	// The last text before the constant or, if included, not after it.
	End up_to(const Expression &constant, bool included) const
	{
		End end{text_of(constant.text, '\0', constant.at), true};
		if (!included && fits(constant))
			end.exists = step_down(end.key, words_);
		return end;
	}

	Text text_of(const std::string &characters, char pad, std::size_t at) const
	{
		if (characters.find('\0') != std::string::npos)
			throw Undecidable{at, "no text in the kernel contains a NUL character"};
		Text key{};
		for (std::size_t i = 0; i < words_ * 8; ++i)
			key[i / 8] =
			    key[i / 8] << 8 | static_cast<unsigned char>(i < characters.size() ? characters[i] : pad);
		return key;
	}

	const Expression &condition_;
	unsigned words_;
};

// A range of texts as disjoint products of ranges of their words.
class Boxes {
public:
	Boxes(const ValueSource &source, unsigned words) : source_(source), words_(words) {}

	void add(const TextRange &range) { add(range, 0, {}); }
	std::vector<Product> products() { return std::move(made_); }

private:
	void add(const TextRange &range, unsigned word, const Product &before)
	{
		std::uint64_t first = range.first[word], last = range.last[word];
		if (first == last && word + 1 < words_)
			return add(range, word + 1, and_word(before, word, {first, last}));
		TextRange rest = range;
		if (has_rest(range.first, word, 0)) {
			std::fill(rest.last.begin() + word + 1, rest.last.begin() + words_, max_key);
			add(rest, word + 1, and_word(before, word, {first, first}));
			++first; // below last
		}
		if (has_rest(range.last, word, max_key)) {
			rest = range;
			std::fill(rest.first.begin() + word + 1, rest.first.begin() + words_, 0);
			add(rest, word + 1, and_word(before, word, {last, last}));
			--last;
		}
		if (first <= last)
			made_.push_back(and_word(before, word, {first, last}));
	}

	// Whether the words after this one restrict the range.
	bool has_rest(const Text &end, unsigned word, std::uint64_t none) const
	{
		return std::any_of(end.begin() + word + 1, end.begin() + words_,
				   [none](std::uint64_t further) { return further != none; });
	}

	Product and_word(Product product, unsigned word, const Range &range) const
	{
		if (range.first == 0 && range.last == max_key)
			return product;
		Factor factor;
		factor.source = source_;
		factor.word = word;
		factor.accepted = {range};
		product.push_back(std::move(factor));
		return product;
	}

	const ValueSource &source_;
	unsigned words_;
	std::vector<Product> made_;
};

// The products that a test accepts, and those that it rejects.
struct Decided {
	std::vector<Product> holds, fails;
};

Decided split_by(Factor factor)
{
	Decided made;
	Factor other = factor;
	other.accepted = clipped(complement(factor.accepted), {0, max_key});
	for (auto [from, to] : {std::pair(&factor, &made.holds), std::pair(&other, &made.fails)})
		if (from->accepted == every_key)
			to->push_back({});
		else if (!from->accepted.empty())
			to->push_back({std::move(*from)});
	return made;
}

class ProductMaker {
public:
	ProductMaker(const Program &program, const KnownValues &known, std::size_t max_products)
	    : program_(program), known_(known), max_products_(max_products), made_(program.tests.size())
	{
	}

	// A test only refers to earlier ones, so their products exist already.
	std::vector<Product> products()
	{
		for (std::size_t i = 0; i < program_.tests.size(); ++i)
			make(program_.tests[i], made_[i]);
		return products_of(program_.entry);
	}

private:
	std::vector<Product> products_of(Target target) const
	{
		if (target == accept)
			return {Product{}};
		return target == reject ? std::vector<Product>{} : made_[target];
	}

	void make(const Test &test, std::vector<Product> &all) const
	{
		const Decided test_decided = decide(test);
		add(all, test_decided.holds, products_of(test.on_true));
		add(all, test_decided.fails, products_of(test.on_false));
		merge(all);
		if (all.size() > max_products_)
			throw Undecidable{
			    test.condition->at,
			    fmt::format("this has more than {} alternatives for one class of events", max_products_)};
	}

	Decided decide(const Test &test) const
	{
		Factor factor;
		factor.source = test.source;
		factor.flip = test.flip;
		if (test.source.from == From::thread && !known_.has_thread_names)
			return {{}, {Product{}}};
		switch (test.kind) {
		case Test::Kind::range:
		case Test::Kind::ranges:
			for (std::uint32_t i = test.first; i < test.first + test.count; ++i)
				factor.accepted.push_back({program_.keys[i].first, program_.keys[i].last});
			if (factor.source.from == From::cpu)
				factor.accepted = intersection(factor.accepted, known_cpus);
			return decide_number(std::move(factor));
		case Test::Kind::text:
			return decide_text(test);
		case Test::Kind::present:
			// An unknown CPU is the largest number.
			factor.accepted = test.source.from == From::cpu ? known_cpus : every_key;
			return split_by(std::move(factor));
		case Test::Kind::computed:
			return decide_computed(test);
		case Test::Kind::texts:
			throw Undecidable{test.condition->at, "the kernel compares a text only with constants"};
		default:
			throw Undecidable{test.condition->at, "the kernel has no real numbers"};
		}
	}

	Decided decide_number(Factor factor) const
	{
		const std::optional<std::uint64_t> constant = factor.source.from == From::mode    ? known_.mode
							      : factor.source.from == From::level ? known_.level
												  : std::nullopt;
		if (!constant)
			return split_by(std::move(factor));
		const bool holds = std::ranges::any_of(factor.accepted, [&](const Range &range) {
			return *constant >= range.first && *constant <= range.last;
		});
		return holds ? Decided{{Product{}}, {}} : Decided{{}, {Product{}}};
	}

	static Decided decide_text(const Test &test)
	{
		if (test.source.from == From::stream)
			throw Undecidable{test.condition->at,
					  "only the reader knows the streams: use cpu and level instead"};
		const std::size_t bytes =
		    test.source.from == From::thread ? name_bytes : test.source.field.field()->size_bits / 8;
		const auto words = static_cast<unsigned>((bytes + 7) / 8);
		if (words == 0 || words > max_text_words)
			throw Undecidable{test.condition->at, "this text is too long for the kernel to compare"};
		const std::vector<TextRange> accepted = TextRanges(*test.condition, words).ranges();
		Boxes taken(test.source, words), others(test.source, words);
		for (const TextRange &range : accepted)
			taken.add(range);
		for (const TextRange &range : complement(accepted, words))
			others.add(range);
		Decided made{taken.products(), others.products()};
		if (test.negated)
			std::swap(made.holds, made.fails);
		return made;
	}

	// value >> constant, value & constant, value >> constant & constant
	Decided decide_computed(const Test &test) const
	{
		Factor factor;
		std::uint32_t at = test.first;
		const std::uint32_t end = test.first + test.count;
		const auto operation = [&](Arithmetic arithmetic) {
			return at + 2 <= end && program_.steps[at].kind == Step::Kind::constant &&
			       program_.steps[at].constant >= 0 && program_.steps[at].constant <= max_integer &&
			       program_.steps[at + 1].kind == Step::Kind::arithmetic &&
			       program_.steps[at + 1].arithmetic == arithmetic;
		};
		const Step &value = program_.steps[at++];
		if (value.kind == Step::Kind::source && value.source.from != From::time &&
		    value.source.from != From::cpu) {
			factor.source = value.source;
			if (!value.source.is_signed && operation(Arithmetic::shift_right) &&
			    program_.steps[at].constant < 64) {
				factor.shift = static_cast<unsigned>(program_.steps[at].constant);
				at += 2;
			}
			if (operation(Arithmetic::bit_and)) {
				factor.mask = static_cast<std::uint64_t>(program_.steps[at].constant);
				at += 2;
			}
		}
		const bool is_known_width = !factor.source.is_signed || factor.source.from != From::field ||
					    factor.mask >> std::min(factor.source.field.field()->size_bits, 63u) == 0;
		if (at != end || at == test.first + 1 || !is_known_width)
			throw Undecidable{test.condition->at,
					  "the kernel compares a value, or VALUE & MASK, or VALUE >> N & MASK of a "
					  "value without a sign, with constants, and a mask is not negative"};
		const auto first = program_.ranges.begin() + test.range_first;
		factor.accepted = clipped(Ranges(first, first + test.range_count), {0, max_key});
		return split_by(std::move(factor));
	}

	// Combines every pair.
	static void add(std::vector<Product> &all, const std::vector<Product> &some, const std::vector<Product> &others)
	{
		for (const Product &one : some)
			for (Product product : others)
				if (restrict_to(product, one))
					all.push_back(std::move(product));
	}

	// False: no event remains.
	static bool restrict_to(Product &product, const Product &other)
	{
		for (const Factor &factor : other) {
			auto found = std::ranges::find_if(
			    product, [&](const Factor &mine) { return is_same_value(mine, factor); });
			if (found == product.end()) {
				product.push_back(factor);
				continue;
			}
			found->accepted = intersection(found->accepted, factor.accepted);
			if (found->accepted.empty())
				return false;
		}
		return true;
	}

	// Merges products that differ in one factor only.
	static void merge(std::vector<Product> &all)
	{
		for (std::size_t i = 0; i < all.size(); ++i)
			for (std::size_t k = i + 1; k < all.size();) {
				if (!merge(all[i], all[k])) {
					++k;
					continue;
				}
				all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
				k = i + 1; // another one may merge now
			}
	}

	static bool merge(Product &product, const Product &other)
	{
		if (product.size() != other.size())
			return false;
		auto differs = product.end();
		const Factor *with = nullptr;
		for (auto mine = product.begin(); mine != product.end(); ++mine) {
			const auto theirs = std::ranges::find_if(
			    other, [&](const Factor &factor) { return is_same_value(*mine, factor); });
			if (theirs == other.end())
				return false;
			if (mine->accepted == theirs->accepted)
				continue;
			if (with)
				return false;
			differs = mine;
			with = &*theirs;
		}
		if (!with)
			return true;
		differs->accepted.insert(differs->accepted.end(), with->accepted.begin(), with->accepted.end());
		differs->accepted = joined(std::move(differs->accepted));
		if (differs->accepted == every_key)
			product.erase(differs);
		return true;
	}

	const Program &program_;
	const KnownValues &known_;
	std::size_t max_products_;
	std::vector<std::vector<Product>> made_; // by test
};

} // namespace

std::vector<Product> disjunction(const Program &program, const KnownValues &known, std::size_t max_products)
{
	return ProductMaker(program, known, max_products).products();
}

} // namespace monitor::filter
