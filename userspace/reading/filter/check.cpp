// SPDX-License-Identifier: MIT
#include "check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/parse_error.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "value_source.h"

namespace monitor::filter {
namespace {

using ExpressionKind = Expression::Kind;
using Names = std::set<std::string_view>;

// A description is untrusted: these limits bound the search for similar names.
constexpr std::size_t max_candidates = 10'000, max_wanted_length = 64;

constexpr const char *not_together = "no event of this trace has all these fields together";

std::string similar_names(std::string_view wanted, const Names &known)
{
	if (wanted.size() > max_wanted_length)
		return "";
	std::vector<std::string> candidates;
	for (const std::string_view name : known) {
		if (candidates.size() == max_candidates)
			break;
		candidates.push_back(readable(name));
	}
	return suggestions(std::string(wanted), candidates);
}

std::string in_quotes(std::string_view text)
{
	const std::string readable = monitor::readable(text);
	return readable.front() == '"' ? readable : '"' + readable + '"';
}

// What a name means in all classes of a trace.
struct Types {
	bool number = false, text = false, real = false;
	std::set<const trace::Enumeration *> labels;
};

class Checker {
public:
	Checker(std::string_view text, const trace::Description &description, const KnownNames &known, Doubts *doubts)
	    : text_(text), doubts_(doubts), known_(known)
	{
		for (const auto &cls : description.classes())
			classes_.push_back(cls.get());
		static const trace::EventClass none;
		if (classes_.empty())
			classes_.push_back(&none); // which still have the properties of every event
	}

	void condition(const Expression &condition) const
	{
		switch (condition.kind) {
		case ExpressionKind::negation:
		case ExpressionKind::conjunction:
		case ExpressionKind::disjunction:
			for (const Expression &child : condition.children)
				this->condition(child);
			return;
		case ExpressionKind::has:
			return name(condition.children[0], "");
		default:
			break;
		}
		value(condition.children[0], "");
		if (condition.kind == ExpressionKind::comparison && !condition.children[1].is_constant())
			return check_two_values(condition);
		if (condition.children[0].kind == ExpressionKind::name)
			return check_name_constants(condition);
		check_computed_constants(condition);
	}

private:
	[[noreturn]] void fail(std::size_t at, const std::string &sentence) const
	{
		throw ParseError("filter", text_, at, sentence);
	}

	// A name similar to a known one is more likely mistyped than new.
	void fail_or_doubt(std::size_t at, const std::string &sentence, const std::string &similar) const
	{
		if (!doubts_ || !similar.empty())
			fail(at, sentence + similar);
		if (std::ranges::find(*doubts_, sentence) == doubts_->end())
			doubts_->push_back(sentence);
	}

	bool is_known(const Expression &name) const
	{
		const auto has_it = [&](const trace::EventClass *cls) { return cls->find(name.text) != nullptr; };
		return is_common_property(name) || find(name, known_) || std::ranges::any_of(classes_, has_it);
	}

	// Whether the name may be that of a class that comes later.
	bool is_unknown(const Expression &value) const
	{
		if (value.kind == ExpressionKind::name)
			return doubts_ && !is_known(value);
		return std::ranges::any_of(value.children,
					   [this](const Expression &child) { return is_unknown(child); });
	}

	static bool is_text(const Expression &constant)
	{
		return constant.kind == ExpressionKind::text ||
		       (constant.kind == ExpressionKind::range && constant.children[0].kind == ExpressionKind::text);
	}

	Types types_of(const Expression &name) const
	{
		Types types;
		for (const trace::EventClass *cls : classes_) {
			const Resolved resolved = resolve(name, *cls, known_);
			types.number = types.number || resolved.type == Type::number;
			types.text = types.text || resolved.type == Type::text;
			types.real = types.real || resolved.type == Type::real;
			if (resolved.labels)
				types.labels.insert(resolved.labels);
		}
		return types;
	}

	void name(const Expression &name, const char *hint) const
	{
		const KnownName *offered = find(name, known_);
		if (offered && !offered->lacking.empty())
			fail(name.at, offered->lacking);
		if (is_known(name))
			return;
		Names known;
		for (const trace::EventClass *cls : classes_)
			for (const trace::Field &field : cls->fields)
				known.insert(field.name);
		if (!name.is_field)
			known.insert(common_properties().begin(), common_properties().end());
		for (const KnownName &each : known_)
			if (!name.is_field && each.lacking.empty())
				known.insert(each.name);
		fail_or_doubt(name.at,
			      fmt::format("no event of {} has a field {}.", source_name(), in_quotes(name.text)),
			      similar_names(name.text, known) + hint);
	}

	void value(const Expression &value, const char *hint) const
	{
		if (value.kind == ExpressionKind::name)
			name(value, hint);
		for (const Expression &child : value.children) {
			this->value(child, "");
			if (child.kind == ExpressionKind::name && !is_unknown(child) && !types_of(child).number)
				fail(child.at,
				     fmt::format("{} is {}: arithmetic is not possible with it", readable(child.text),
						 types_of(child).text ? "a text" : "not an integer"));
		}
	}

	Type type_of(const Expression &value, const trace::EventClass &cls) const
	{
		if (value.kind == ExpressionKind::name)
			return resolve(value, cls, known_).type;
		const bool all = std::ranges::all_of(
		    value.children, [&](const Expression &child) { return type_of(child, cls) == Type::number; });
		return all ? Type::number : Type::none;
	}

	void check_two_values(const Expression &condition) const
	{
		value(condition.children[1], " Strings are written in double quotes.");
		if (is_unknown(condition.children[0]) || is_unknown(condition.children[1]))
			return;
		bool together = false;
		for (const trace::EventClass *cls : classes_) {
			const Type left = type_of(condition.children[0], *cls),
				   right = type_of(condition.children[1], *cls);
			if (left == right && left != Type::none)
				return;
			together = together || (left != Type::none && right != Type::none);
		}
		fail(condition.at, together ? "a text and a number cannot be compared" : not_together);
	}

	void check_computed_constants(const Expression &condition) const
	{
		const Expression &left = condition.children[0];
		for (std::size_t i = 1; i < condition.children.size(); ++i)
			if (is_text(condition.children[i]))
				fail(condition.children[i].at, "a computed value is a number, not a string");
		if (!is_unknown(left) && std::ranges::none_of(classes_, [&](const trace::EventClass *cls) {
			    return type_of(left, *cls) == Type::number;
		    }))
			fail(left.at, not_together);
	}

	void check_name_constants(const Expression &condition) const
	{
		const Expression &left = condition.children[0];
		if (is_unknown(left))
			return;
		const Types types = types_of(left);
		const Names known = known_texts(left, types);
		for (std::size_t i = 1; i < condition.children.size(); ++i) {
			const Expression &constant = condition.children[i];
			if (is_text(constant))
				check_text_constant(condition, constant, types, known);
			else if (!types.number && !types.real && !types.text)
				fail(constant.at, fmt::format("{} is a list: only has({}) can be used with it",
							      readable(left.text), readable(left.text)));
			else if (!types.number && !types.real)
				fail(constant.at, fmt::format("{} is a text: compare it with a string in double quotes",
							      readable(left.text)));
			else if (is_common_property(left) && left.text == "time")
				expect_unit(constant);
		}
	}

	// The labels of a name that is not text, or the names of all events; empty: any text is possible.
	Names known_texts(const Expression &name, const Types &types) const
	{
		Names known;
		if (is_common_property(name) && name.text == "name") {
			for (const trace::EventClass *cls : classes_)
				known.insert(cls->name);
		} else if (!types.text) {
			for (const trace::Enumeration *labels : types.labels)
				for (const auto &label : labels->labels())
					known.insert(label.text);
		}
		return known;
	}

	void check_text_constant(const Expression &condition, const Expression &constant, const Types &types,
				 const Names &known) const
	{
		const std::string name = readable(condition.children[0].text);
		if (!types.text && types.labels.empty())
			fail(constant.at, fmt::format("{} is a number without labels: compare it with a number", name));
		const bool by_order =
		    constant.kind == ExpressionKind::range || condition.relation > Relation::not_equal;
		if (!types.text && by_order)
			fail(constant.at, fmt::format("labels have no order: compare {} with ==, !=, in or ~", name));
		if (known.empty() || by_order || condition.kind == ExpressionKind::glob ||
		    known.contains(constant.text))
			return;
		if (types.text)
			return fail_or_doubt(
			    constant.at,
			    fmt::format("no event of {} has the name {}.", source_name(), in_quotes(constant.text)),
			    similar_names(constant.text, known));
		fail(constant.at, fmt::format("no label of {} is {}.{}", name, in_quotes(constant.text),
					      similar_names(constant.text, known)));
	}

	// 5 would mean 5 ns, which is never intended.
	void expect_unit(const Expression &constant) const
	{
		if (constant.kind == ExpressionKind::number && !constant.number.has_unit &&
		    (constant.number.floor != 0 || constant.number.has_fraction))
			fail(constant.at, "a time needs a unit: ns, us, ms or s");
		for (const Expression &end : constant.children)
			expect_unit(end);
	}

	const char *source_name() const { return doubts_ ? "the kernel" : "this trace"; }

	std::string_view text_;
	Doubts *doubts_;
	const KnownNames &known_;
	std::vector<const trace::EventClass *> classes_;
};

} // namespace

void check(const Expression &condition, std::string_view text, const trace::Description &description,
	   const KnownNames &known, Doubts *doubts)
{
	Checker(text, description, known, doubts).condition(condition);
}

} // namespace monitor::filter
