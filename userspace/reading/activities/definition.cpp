// SPDX-License-Identifier: MIT
#include "definition.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/parse_error.h"
#include "base/within.h"

namespace monitor::activities {
namespace {

constexpr std::string_view of_end = "end.", of_start = "start.";

// A field that only the end event has is the end's, even without the prefix.
bool is_in_starts(const std::string &name, const filter::Filter &start, const trace::Description &description)
{
	const auto expression = filter::name_expression(name == "thread" || name == "process" ? "tid" : name);
	return std::ranges::any_of(description.classes(), [&](const auto &cls) {
		return start.can_match(*cls) &&
		       filter::resolve(expression, *cls, {}, &description).type != filter::Type::none;
	});
}

filter::PairText pair_of(const DefinitionText &text)
{
	const bool has_both = !text.start.empty() && !text.end.empty();
	if (text.pair.empty() ? !has_both : !(text.start + text.end + text.key).empty())
		throw Error(text.where + ": an activity needs a start and an end, or a pair");
	if (text.pair.empty()) {
		const auto key = filter::split_key(text.key, text.where + ", key");
		return {filter::PairText::Kind::then, text.start, text.end, key.front(), key.back()};
	}
	filter::PairText pair = filter::parse_pair(text.pair, text.where);
	if (pair.kind != filter::PairText::Kind::then)
		throw Error(text.where + ": an activity lasts from one event to another: write A then B");
	return pair;
}

} // namespace

std::unique_ptr<const filter::Filter> pattern(const std::string &text, const std::string &where,
					      const trace::Description &description, std::uint64_t begin_time,
					      filter::Evaluator evaluator)
{
	try {
		return std::make_unique<const filter::Filter>(text, description, begin_time, filter::KnownNames{},
							      nullptr, evaluator);
	} catch (const ParseError &error) {
		throw Error(where + ": " + error.what());
	}
}

Definition compile(const DefinitionText &text, const trace::Description &description, std::uint64_t begin_time,
		   filter::Evaluator evaluator)
{
	Definition made;
	made.name = text.name;
	made.nested = text.nested;
	const filter::PairText pair = pair_of(text);
	made.start = pattern(pair.start, text.where + ", start", description, begin_time, evaluator);
	made.end = pattern(pair.end, text.where + ", end", description, begin_time, evaluator);
	if (pair.within_ns)
		made.within = ticks_within(pair.within_ns, description.clock.frequency_hz);
	const std::string key = text.where + ", key";
	constexpr auto takes = Keys::Takes::integers_and_texts;
	Keys keys[] = {{pair.start_key, description, begin_time, key.c_str(), takes, evaluator},
		       {pair.end_key, description, begin_time, key.c_str(), takes, evaluator}};
	share_machines(keys);
	const KeySide sides[] = {{&keys[0], made.start.get(), "starts it"}, {&keys[1], made.end.get(), "ends it"}};
	expect_comparable(sides, description, key);
	made.start_key = std::move(keys[0]);
	made.end_key = std::move(keys[1]);
	const std::string by = text.where + ", by";
	std::vector<std::string> starts, ends;
	for (const std::string &name : split_names(text.by, by.c_str())) {
		const bool says_end = name.starts_with(of_end);
		const std::string plain = says_end                     ? name.substr(of_end.size())
					  : name.starts_with(of_start) ? name.substr(of_start.size())
								       : name;
		(says_end || !is_in_starts(plain, *made.start, description) ? ends : starts).push_back(plain);
	}
	made.start_by = Keys(starts, description, begin_time, by.c_str());
	made.end_by = Keys(ends, description, begin_time, by.c_str());
	made.columns = starts;
	for (const std::string &name : ends) {
		const bool is_taken = std::ranges::find(starts, name) != starts.end();
		made.columns.push_back(is_taken ? std::string(of_end) + name : name);
	}
	made.needs_threads = made.start_key.needs_threads() || made.end_key.needs_threads() ||
			     made.start_by.needs_threads() || made.end_by.needs_threads() ||
			     made.start->needs_threads() || made.end->needs_threads();
	made.needs_names = made.start->needs_names() || made.end->needs_names();
	for (const auto &cls : description.classes())
		made.needs_names =
		    made.needs_names ||
		    (made.start->can_match(*cls) && (made.start_key.derives(*cls) || made.start_by.derives(*cls))) ||
		    (made.end->can_match(*cls) && (made.end_key.derives(*cls) || made.end_by.derives(*cls)));
	return made;
}

} // namespace monitor::activities
