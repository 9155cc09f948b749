// SPDX-License-Identifier: MIT
// parse_entry(), which builds no JSON tree, because a list may read the small files of thousands of measurements.
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "entry.h"

namespace monitor::archive {
namespace {

// Fills an entry while its JSON is parsed. Skips unknown members. Called by the JSON library; false ends the parsing.
class EntryReader : public nlohmann::json_sax<nlohmann::json> {
public:
	explicit EntryReader(Entry &entry) : entry_(entry) {}

	bool has_known_version() const { return has_version_; }

	bool key(std::string &name) override
	{
		key_ = std::move(name);
		if (depth_ == 1)
			find_member();
		return true;
	}
	bool start_object(std::size_t) override
	{
		const bool is_first = depth_ == 0 && !std::exchange(has_object_, true);
		is_in_figures_ = is_in_figures_ || (depth_ == 1 && member_ == Member::figures);
		return (is_first || (depth_ > 0 && (is_in_figures_ ? depth_ == 1 : is_in_unknown_member()))) &&
		       ++depth_ <= max_depth;
	}
	bool end_object() override
	{
		--depth_;
		is_in_figures_ = is_in_figures_ && depth_ > 1;
		return true;
	}
	bool start_array(std::size_t) override { return is_in_unknown_member() && ++depth_ <= max_depth; }
	bool end_array() override { return depth_-- > 0; }
	bool null() override
	{
		if (is_in_figures_)
			entry_.figures[key_];
		return is_in_figures_ || is_in_unknown_member() || member_ == Member::count ||
		       member_ == Member::elapsed;
	}
	bool boolean(bool value) override
	{
		if (!is_in_figures_ && depth_ == 1 && member_ == Member::complete) {
			entry_.complete = value;
			return true;
		}
		return is_in_unknown_member();
	}
	bool string(std::string &value) override
	{
		if (is_in_figures_ || depth_ != 1 || member_ != Member::text)
			return is_in_unknown_member();
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

	// Finds the member of a top-level key, and where its value goes.
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
	// Inside an unknown member, at any depth.
	bool is_in_unknown_member() const { return depth_ > 0 && !is_in_figures_ && member_ == Member::unknown; }
	bool real(double value)
	{
		if (is_in_figures_)
			entry_.figures[key_] = value;
		else if (depth_ == 1 && member_ == Member::elapsed)
			entry_.elapsed_ns = value;
		else
			return is_in_unknown_member();
		return true;
	}

	Member member_ = Member::unknown;
	std::string *text_ = nullptr;
	std::optional<std::uint64_t> *count_ = nullptr;
	Entry &entry_;
	std::string key_;
	int depth_ = 0;
	bool is_in_figures_ = false, has_version_ = false, has_object_ = false;
};

} // namespace

std::unique_ptr<Entry> parse_entry(const std::string &untrusted_json)
{
	auto entry = std::make_unique<Entry>();
	EntryReader reader(*entry);
	const char *const begin = untrusted_json.data();
	if (!nlohmann::json::sax_parse(begin, begin + untrusted_json.size(), &reader) || !reader.has_known_version())
		entry.reset();
	return entry;
}

} // namespace monitor::archive
