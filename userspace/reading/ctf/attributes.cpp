// SPDX-License-Identifier: MIT
#include "attributes.h"

#include <algorithm>
#include <set>

namespace monitor::trace {
namespace {

using Attribute = KnownAttribute::Kind;
using tsdl::Value;

bool is_boolean(const tsdl::Value &value)
{
	if (value.kind == Value::Kind::integer)
		return !value.negative && value.magnitude <= 1;
	static constexpr std::string_view words[] = {"true", "TRUE", "false", "FALSE"};
	return value.kind == Value::Kind::word &&
	       std::find(std::begin(words), std::end(words), value.text) != std::end(words);
}

// Which kind is expected instead, or nullptr.
const char *wrong_kind(const tsdl::Value &value, Attribute kind)
{
	switch (kind) {
	case Attribute::count:
		return value.kind == Value::Kind::integer && !value.negative ? nullptr : "a non-negative number";
	case Attribute::integer:
		return value.kind == Value::Kind::integer ? nullptr : "a number";
	case Attribute::boolean:
		return is_boolean(value) ? nullptr : "true or false";
	case Attribute::word:
		return value.kind == Value::Kind::word ? nullptr : "a keyword, without quotes";
	case Attribute::base:
		return value.kind != Value::Kind::text ? nullptr : "a base, without quotes";
	case Attribute::text:
		return value.kind == Value::Kind::text ? nullptr : "a string";
	case Attribute::name:
		break;
	}
	return value.kind != Value::Kind::integer ? nullptr : "a name";
}

} // namespace

void Warnings::add(TextPosition position, const std::string &what)
{
	if (count_++ == 0)
		first_ = position.in_words() + ": " + what;
}

std::string Warnings::text() const
{
	if (count_ <= 1)
		return first_ + (count_ ? " is unknown and ignored" : "");
	return first_ + " is unknown and ignored, as " +
	       (count_ == 2 ? "is 1 other" : "are " + std::to_string(count_ - 1) + " others");
}

void check_attributes(const std::vector<tsdl::Attribute> &attributes, const char *owner, Warnings &warnings,
		      std::initializer_list<KnownAttribute> known)
{
	std::set<std::string_view> seen;
	for (const tsdl::Attribute &attribute : attributes) {
		const auto named = [&](const KnownAttribute &each) { return each.name == attribute.name; };
		const auto *const found = std::ranges::find_if(known, named);
		if (found == known.end()) {
			warnings.add(attribute.position, "the attribute " + attribute.name + " of " + owner);
			continue;
		}
		if (const char *expected = wrong_kind(attribute.value, found->kind))
			throw ParseError(attribute.value.position, std::string("expected ") + expected + " here");
		if (!seen.insert(attribute.name).second)
			throw ParseError(attribute.position, "the attribute " + attribute.name + " appears twice");
	}
}

} // namespace monitor::trace
