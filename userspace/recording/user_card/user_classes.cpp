// SPDX-License-Identifier: MIT
#include "user_classes.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/scanner.h"
#include "monitor/edc_fields.h"

namespace monitor::card {
namespace {

constexpr std::size_t max_name_length = 63;
constexpr std::size_t max_labels = 64;
constexpr std::string_view blanks = " \t";

bool is_name(std::string_view text)
{
	return !text.empty() && text.size() <= max_name_length && !is_digit(text[0]) &&
	       std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

// A name, or a provider and a name.
bool is_class_name(std::string_view text)
{
	const std::size_t colon = text.find(':');
	return colon == text.npos ? is_name(text) : is_name(text.substr(0, colon)) && is_name(text.substr(colon + 1));
}

// A recursive-descent parser of one class's fields. Every step leaves the rest to the next, or sets why and gives up.
class Parser : Scanner {
public:
	Parser(std::string_view text, std::string &why) : Scanner(text), why_(why) {}

	bool parse(UserClass &result)
	{
		result.argument = {"u16", "arg", "", {}};
		take_any(blanks);
		if (accept("arg:") && (!field(result.argument, true) || !end_of_field()))
			return false;
		while (!at_end()) {
			UserField next;
			if (!field(next, false) || !end_of_field())
				return false;
			if (next.name == result.argument.name ||
			    std::ranges::any_of(result.payload,
						[&](const auto &other) { return other.name == next.name; }))
				return fail("two fields are named " + next.name);
			result.payload.push_back(std::move(next));
			if (result.words() > EDC_MAX_WORDS)
				return fail(fmt::format("more than {} payload words", EDC_MAX_WORDS));
		}
		return true;
	}

private:
	bool fail(const std::string &what)
	{
		why_ = what;
		return false;
	}

	std::string_view word()
	{
		take_any(blanks);
		return identifier();
	}

	bool take(char c)
	{
		take_any(blanks);
		return accept({&c, 1});
	}

	bool end_of_field()
	{
		take_any(blanks);
		return at_end() || take(';') || fail(fmt::format("a semicolon is missing before '{}'", excerpt()));
	}

	std::string excerpt() const
	{
		std::string text(rest().substr(0, 20));
		std::ranges::replace_if(
		    text, [](unsigned char c) { return c < 32 || c > 126; }, '?');
		return text;
	}

	bool field(UserField &result, bool is_argument)
	{
		result.kind = word();
		static constexpr std::string_view of_argument[] = {"u16", "s16", "x16"},
						  of_payload[] = {"u64",   "s64",   "x64",   "address", "str8",
								  "str16", "str24", "str32", "str40",   "str48"};
		const std::span<const std::string_view> kinds =
		    is_argument ? std::span<const std::string_view>(of_argument) : of_payload;
		const bool labelled = result.kind == "token" || result.kind == "flags";
		if (!labelled && std::ranges::find(kinds, result.kind) == kinds.end())
			return fail(fmt::format("'{}' is not a kind of {}", result.kind,
						is_argument ? "an argument" : "a field"));
		result.name = word();
		if (!is_name(result.name))
			return fail(fmt::format("a field of kind {} has no valid name", result.kind));
		if (labelled)
			return labels(result.labels);
		if (!result.is_text() && take('(')) {
			const std::size_t end = rest().find(')');
			if (end > max_name_length /* or none */)
				return fail("a closing parenthesis after a unit is missing");
			result.unit = rest().substr(0, end);
			if (!std::ranges::all_of(result.unit,
						 [](unsigned char c) { return c >= 32 && c != '"' && c != '\\'; }))
				return fail("a unit has invalid characters");
			skip(end + 1);
		}
		return true;
	}

	bool labels(std::vector<std::pair<std::string, std::uint64_t>> &result)
	{
		if (!take('{'))
			return fail("labels in braces are missing");
		do {
			const std::string_view label = word();
			if (!is_name(label) || !take('='))
				return fail(fmt::format("'{}' is not a label", label));
			take_any(blanks);
			const auto value = is_digit(peek()) ? digits(10) : std::nullopt;
			if (!value)
				return fail(fmt::format("the label {} has no value", label));
			result.emplace_back(label, *value);
			if (result.size() > max_labels)
				return fail(fmt::format("more than {} labels", max_labels));
		} while (take(','));
		return take('}') || fail("a closing brace is missing");
	}

	std::string &why_;
};

} // namespace

unsigned UserField::words() const
{
	return static_cast<unsigned>(edc_words_of_field_(kind.c_str()));
}

unsigned UserClass::words() const
{
	unsigned words = 0;
	for (const UserField &field : payload)
		words += field.words();
	return words;
}

std::optional<UserClass> parse_user_class(std::string_view name, std::string_view fields, std::string &why)
{
	UserClass result;
	result.name = name;
	if (!is_class_name(name)) {
		why = "its name or provider is not an identifier of at most 63 characters";
		return {};
	}
	if (!Parser(fields, why).parse(result))
		return {};
	return result;
}

unsigned words_of_user_class(std::string_view fields)
{
	return static_cast<unsigned>(edc_payload_words_(std::string(fields).c_str()));
}

std::uint16_t UserClasses::new_id(std::string_view name, std::string_view fields) const
{
	if (allocate_id_)
		return allocate_id_(name, fields);
	const std::size_t id = EDC_ID_USER_FIRST + all_.size();
	return id <= EDC_ID_LAST ? static_cast<std::uint16_t>(id) : std::uint16_t{0};
}

void UserClasses::refuse(std::string_view name, const std::string &why)
{
	if (refused_++ == 0)
		why_ = is_class_name(name) ? fmt::format("{}: {}", name, why) : why;
}

// nullptr if a text of this many bytes may be added.
const char *UserClasses::why_too_much(std::size_t bytes, const Declarer &declarer) const
{
	const auto exceeds = [&](const ClassShare &share, const ClassShare &most) {
		return share.classes + 1 > most.classes || share.bytes + bytes > most.bytes;
	};
	const auto share_in = [](const auto &shares, auto who) {
		const auto found = shares.find(who);
		return found == shares.end() ? ClassShare() : found->second;
	};
	if (bytes > max_class_bytes)
		return "its text is longer than 16 KiB";
	if (exceeds(declared_, max_of_recording))
		return "this recording has no space left for another";
	if (declarer.process && exceeds(share_in(by_process_, declarer.process), max_per_process))
		return "its process has declared too many";
	if (!declarer.is_trusted && exceeds(share_in(by_user_, declarer.user), max_per_uid))
		return "its user's programs have declared too many";
	return nullptr;
}

std::uint16_t UserClasses::declare(std::string_view name, std::string_view fields, const Declarer &declarer)
{
	const auto known = ids_.find({std::string(name), std::string(fields)});
	if (known != ids_.end())
		return known->second;
	std::string why;
	const std::size_t bytes = name.size() + fields.size();
	const char *too_much = why_too_much(bytes, declarer);
	std::uint16_t id = 0;
	if (too_much)
		why = too_much;
	else if (parse_user_class(name, fields, why) && (id = new_id(name, fields)) == 0)
		why = "this recording has no ids left";
	if (id == 0) {
		refuse(name, why);
		return 0;
	}
	adopt(id, name, fields);
	for (ClassShare *share : {&by_process_[declarer.process], &by_user_[declarer.user]}) {
		++share->classes;
		share->bytes += bytes;
	}
	return id;
}

bool UserClasses::adopt(std::uint16_t id, std::string_view name, std::string_view fields)
{
	if (ids_.contains({std::string(name), std::string(fields)}))
		return true;
	std::string why;
	const std::size_t bytes = name.size() + fields.size();
	const char *too_much = why_too_much(bytes, unlimited_declarer);
	auto parsed = too_much ? std::nullopt : parse_user_class(name, fields, why);
	if (!parsed) {
		refuse(name, too_much ? too_much : why);
		return false;
	}
	++declared_.classes;
	declared_.bytes += bytes;
	parsed->id = id;
	all_.push_back(std::move(*parsed));
	ids_.emplace(std::pair(std::string(name), std::string(fields)), id);
	return true;
}

} // namespace monitor::card
