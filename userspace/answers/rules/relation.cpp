// SPDX-License-Identifier: MIT
#include "relation.h"

#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/quoting.h"
#include "base/text.h"
#include "reading/filter/text_match.h"

namespace monitor::rules {
namespace {

using FilterRelation = filter::Relation;

// Longer operators first.
constexpr std::pair<std::string_view, FilterRelation> operators[] = {
    {"!=", FilterRelation::not_equal}, {"<=", FilterRelation::less_equal}, {">=", FilterRelation::greater_equal},
    {"==", FilterRelation::equal},     {"=", FilterRelation::equal},       {"<", FilterRelation::less},
    {">", FilterRelation::greater}};

// Removes "+ N" or "- N" from the end.
filter::Integer take_offset(std::string &side, const std::string &where)
{
	const std::size_t sign = side.find_first_of("+-");
	if (sign == std::string::npos)
		return 0;
	std::int64_t value = 0;
	const std::size_t digits = side.find_first_not_of(" \t", sign + 1);
	const char *const end = side.data() + side.size();
	const char *const begin = digits == std::string::npos ? end : side.data() + digits;
	const auto [stopped, error] = std::from_chars(begin, end, value);
	if (error != std::errc() || stopped != end || value < 0)
		throw Error("{}: a number is missing after {}", where, side[sign]);
	const bool is_minus = side[sign] == '-';
	side.resize(sign);
	return is_minus ? -filter::Integer(value) : filter::Integer(value);
}

std::string activity_of(const std::string &event)
{
	for (const std::string_view suffix : {"_begin", "_end"})
		if (event.ends_with(suffix))
			return event.substr(0, event.size() - suffix.size());
	return "";
}

std::string one_name(const std::string &side, const std::string &where)
{
	auto names = activities::split_names(side, where.c_str());
	if (names.size() != 1)
		throw Error(where + ": a field is missing; a relation is written LATER = EARLIER");
	return names[0];
}

std::string shown(const Value &value)
{
	if (!value.is_number())
		return '"' + readable(value.text) + '"';
	return value.number() < 0 ? std::to_string(static_cast<std::int64_t>(value.bits)) : std::to_string(value.bits);
}

} // namespace

Name::Name(const std::string &name, const trace::Description &description, const std::string &where)
{
	if (name != "activity")
		keys_ = activities::Keys({name}, description, 0, where.c_str(), activities::Keys::Takes::as_filters);
	else
		for (const auto &cls : description.classes())
			activities_.push_back(activity_of(cls->name));
}

Value Name::value(const trace::Event &event, const filter::Running &running) const
{
	if (!keys_.empty())
		return keys_.cell(0, event, running);
	Value value;
	value.text = activities_[event.cls->index];
	value.kind = value.text.empty() ? Value::Kind::none : Value::Kind::text;
	return value;
}

Relation::Relation(const std::string &text, const trace::Description &description, const std::string &where)
    : text_(text)
{
	std::string later = text, earlier = text;
	for (const auto &[sign, relation] : operators) {
		const std::size_t at = text.find(sign);
		if (at == std::string::npos)
			continue;
		relation_ = relation;
		later = text.substr(0, at);
		earlier = text.substr(at + sign.size());
		break;
	}
	offset_ = take_offset(earlier, where);
	later_name_ = one_name(later, where);
	earlier_name_ = one_name(earlier, where);
	later_.emplace(later_name_, description, where);
	earlier_.emplace(earlier_name_, description, where);
}

std::optional<bool> Relation::holds(const trace::Event &later, const filter::Running &running,
				    const Value &earlier) const
{
	const Value value = later_->value(later, running);
	if (value.kind == Value::Kind::none || earlier.kind == Value::Kind::none ||
	    value.is_number() != earlier.is_number())
		return std::nullopt;
	return value.is_number() ? filter::holds(relation_, value.number(), earlier.number() + offset_)
				 : filter::holds(relation_, value.text, earlier.text);
}

std::string Relation::violation_text(const trace::Event &later, const filter::Running &running,
				     const Value &earlier) const
{
	return fmt::format("{} does not hold: {} is {}, {} was {}", text_, later_name_,
			   shown(later_->value(later, running)), earlier_name_, shown(earlier));
}

std::vector<Relation> relations(const Word *word, const trace::Description &description)
{
	std::vector<Relation> made;
	if (!word)
		return made;
	for (const Outside::Part &relation : Outside(word->text).split({","}))
		made.emplace_back(relation.text, description, word->where);
	return made;
}

} // namespace monitor::rules
