// SPDX-License-Identifier: MIT
// parse_entry(): a list reads the small files of thousands of measurements, so no tree of JSON is made of each. Those
// without an escape in them, which are nearly all, are not even copied character by character, as the library does.
// PlainJson saves 5 to 7 of 84 to 94 ms, the medians of finding and listing 10,000 measurements (tools/bench archive);
// the bar is 100 ms.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/escape.h"
#include "base/json.h"
#include "base/scanner.h"
#include "entry.h"

namespace monitor::archive {
namespace {

// Fills an entry from its JSON as it is parsed: a list reads thousands of them. Members that it does not know are
// skipped. Called by the JSON library; false ends the parsing.
class EntryReader : public nlohmann::json_sax<nlohmann::json> {
public:
	explicit EntryReader(Entry &entry) : entry_(entry) {}

	bool is_sound() const { return has_version_; }

	bool key(std::string &name) override
	{
		key_ = std::move(name);
		if (depth_ == 1)
			find_member();
		return true;
	}
	bool start_object(std::size_t) override
	{
		const bool is_first = depth_ == 0 && !std::exchange(begun_, true);
		is_in_figures_ = is_in_figures_ || (depth_ == 1 && member_ == Member::figures);
		return (is_first || (depth_ > 0 && (is_in_figures_ ? depth_ == 1 : is_unknown()))) &&
		       ++depth_ <= max_depth;
	}
	bool end_object() override
	{
		--depth_;
		is_in_figures_ = is_in_figures_ && depth_ > 1;
		return true;
	}
	bool start_array(std::size_t) override { return is_unknown() && ++depth_ <= max_depth; }
	bool end_array() override { return depth_-- > 0; }
	bool null() override
	{
		if (is_in_figures_)
			entry_.figures[key_];
		return is_in_figures_ || is_unknown() || member_ == Member::count || member_ == Member::elapsed;
	}
	bool boolean(bool value) override
	{
		if (!is_in_figures_ && depth_ == 1 && member_ == Member::complete) {
			entry_.complete = value;
			return true;
		}
		return is_unknown();
	}
	bool string(std::string &value) override
	{
		if (is_in_figures_ || depth_ != 1 || member_ != Member::text)
			return is_unknown();
		*text_ = std::move(value);
		return true;
	}
	bool number_unsigned(std::uint64_t value) override
	{
		if (is_in_figures_ || depth_ != 1)
			return real(static_cast<double>(value));
		if (member_ == Member::count)
			*count_ = value;
		else if (member_ == Member::version)
			has_version_ = value == format_version;
		else
			return real(static_cast<double>(value));
		return member_ == Member::count || has_version_;
	}
	bool number_integer(std::int64_t value) override { return real(static_cast<double>(value)); }
	bool number_float(double value, const std::string &) override { return real(value); }
	bool binary(nlohmann::json::binary_t &) override { return false; }
	bool parse_error(std::size_t, const std::string &, const nlohmann::json::exception &) override { return false; }

private:
	static constexpr int max_depth = 64;
	enum class Member : std::uint8_t { unknown, version, text, count, elapsed, complete, figures };

	// Of the whole: what the key stands for, and where its value goes.
	void find_member()
	{
		static constexpr std::pair<std::string_view, Member> members[] = {{"version", Member::version},
										  {"complete", Member::complete},
										  {"figures", Member::figures},
										  {"elapsed_ns", Member::elapsed}};
		static constexpr std::pair<std::string_view, std::string Entry::*> texts[] = {
		    {"note", &Entry::note},      {"added", &Entry::added}, {"date", &Entry::date},
		    {"user", &Entry::user},      {"host", &Entry::host},   {"kernel", &Entry::kernel},
		    {"command", &Entry::command}};
		static constexpr std::pair<std::string_view, std::optional<std::uint64_t> Entry::*> counts[] = {
		    {"tokens", &Entry::tokens}, {"lost", &Entry::lost}, {"bytes", &Entry::bytes}};
		const std::string_view key = key_;
		member_ = Member::unknown;
		for (const auto &[name, member] : members)
			if (key == name)
				member_ = member;
		for (const auto &[name, text] : texts)
			if (key == name) {
				member_ = Member::text;
				text_ = &(entry_.*text);
			}
		for (const auto &[name, count] : counts)
			if (key == name) {
				member_ = Member::count;
				count_ = &(entry_.*count);
			}
	}
	// In a member that is not known, however deep.
	bool is_unknown() const { return depth_ > 0 && !is_in_figures_ && member_ == Member::unknown; }
	bool real(double value)
	{
		if (is_in_figures_)
			entry_.figures[key_] = value;
		else if (depth_ == 1 && member_ == Member::elapsed)
			entry_.elapsed_ns = value;
		else
			return is_unknown();
		return true;
	}

	Member member_ = Member::unknown;
	std::string *text_ = nullptr;
	std::optional<std::uint64_t> *count_ = nullptr;
	Entry &entry_;
	std::string key_;
	int depth_ = 0;
	bool is_in_figures_ = false, has_version_ = false, begun_ = false;
};

// The tokens of JSON without escapes and arrays. False: it has some, or is no JSON; then the library decides.
class PlainJson {
public:
	PlainJson(std::string_view text, EntryReader &reader) : text_(text), reader_(reader) {}

	bool read() { return value() && (skip_blanks(), text_.empty()); }

private:
	void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }
	bool take(std::string_view token)
	{
		const bool is_next = text_.starts_with(token);
		text_.remove_prefix(is_next ? token.size() : 0);
		return is_next;
	}
	bool quoted(std::string &text)
	{
		const std::size_t end = take("\"") ? text_.find('"') : std::string_view::npos;
		if (end == std::string_view::npos)
			return false;
		text = text_.substr(0, end);
		text_.remove_prefix(end + 1);
		return std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == '\\'; });
	}
	// Without a sign, an exponent or anything else that is rare.
	bool number()
	{
		const std::size_t size = std::min(text_.find_first_not_of("0123456789."), text_.size());
		const std::string_view digits = text_.substr(0, size), whole = digits.substr(0, digits.find('.'));
		const bool is_sound = !whole.empty() && digits.back() != '.' && (whole.size() == 1 || whole[0] != '0');
		text_.remove_prefix(size);
		double real = 0;
		std::uint64_t integer = 0;
		const char *const begin = digits.data(), *const end = begin + digits.size();
		if (!is_sound)
			return false;
		if (whole.size() == digits.size()) {
			const auto [stopped, failed] = std::from_chars(begin, end, integer);
			return failed == std::errc() && stopped == end && reader_.number_unsigned(integer);
		}
		const auto [stopped, failed] = std::from_chars(begin, end, real);
		return failed == std::errc() && stopped == end && reader_.number_float(real, {});
	}
	bool object()
	{
		std::string name;
		if (!take("{") || !reader_.start_object(0))
			return false;
		skip_blanks();
		if (take("}"))
			return reader_.end_object();
		do {
			skip_blanks();
			if (!quoted(name) || !reader_.key(name))
				return false;
			skip_blanks();
			if (!take(":") || !value())
				return false;
			skip_blanks();
		} while (take(","));
		return take("}") && reader_.end_object();
	}
	// Calls itself as deep as the reader accepts.
	bool value()
	{
		skip_blanks();
		if (text_.starts_with('{'))
			return object();
		if (text_.starts_with('"')) {
			std::string text;
			return quoted(text) && reader_.string(text);
		}
		if (take("null"))
			return reader_.null();
		if (take("true"))
			return reader_.boolean(true);
		if (take("false"))
			return reader_.boolean(false);
		return number();
	}

	std::string_view text_;
	EntryReader &reader_;
};

} // namespace

std::unique_ptr<Entry> parse_entry(const std::string &untrusted_json)
{
	auto entry = std::make_unique<Entry>();
	EntryReader plain(*entry);
	if (is_utf8(untrusted_json) && PlainJson(untrusted_json, plain).read() && plain.is_sound())
		return entry;
	entry = std::make_unique<Entry>();
	EntryReader reader(*entry);
	const char *const begin = untrusted_json.data();
	if (!nlohmann::json::sax_parse(begin, begin + untrusted_json.size(), &reader) || !reader.is_sound())
		entry.reset();
	return entry;
}

} // namespace monitor::archive
