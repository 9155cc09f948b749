// SPDX-License-Identifier: MIT
#include "definition.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/refusal.h"

namespace monitor::activities {
namespace {

constexpr std::string_view of_end = "end.", of_start = "start.";

// A field that only the end has means the end's, even without the prefix.
bool is_in_starts(const std::string &name, const filter::Filter &start, const trace::Description &description)
{
	filter::Expression expression;
	expression.kind = filter::Expression::Kind::name;
	expression.text = name == "thread" || name == "process" ? "tid" : name;
	return std::any_of(description.classes().begin(), description.classes().end(), [&](const auto &cls) {
		return start.can_match(*cls) &&
		       filter::resolve(expression, *cls, {}, &description).type != filter::Type::none;
	});
}

std::unique_ptr<const filter::Filter> pattern(const std::string &text, const std::string &where,
					      const trace::Description &description, std::uint64_t begin_time,
					      filter::Judge judge)
{
	try {
		return std::make_unique<const filter::Filter>(text, description, begin_time, filter::KnownNames{},
							      nullptr, judge);
	} catch (const Refusal &error) {
		throw Error(where + ": " + error.what());
	}
}

void compile_key(Definition &made, const std::string &text, const std::string &where,
		 const trace::Description &description, std::uint64_t begin_time, filter::Judge judge)
{
	const std::size_t equal = text.find('=');
	const auto side = [&](const std::string &names) {
		return Keys(split_names(names, where.c_str()), description, begin_time, where.c_str(),
			    Keys::Takes::integers_and_texts, judge);
	};
	made.start_key = side(text.substr(0, equal));
	made.end_key = equal == std::string::npos ? made.start_key : side(text.substr(equal + 1));
	const std::size_t count = made.start_key.names().size();
	if (count != made.end_key.names().size())
		throw Error(where + ": there are not as many names before = as after it");
	for (std::size_t i = 0; i < count; ++i)
		if (made.start_key.is_of_machine(i) || made.end_key.is_of_machine(i)) {
			made.start_key.set_of_machine(i);
			made.end_key.set_of_machine(i);
		}
}

} // namespace

Definition compile(const DefinitionText &text, const trace::Description &description, std::uint64_t begin_time,
		   filter::Judge judge)
{
	Definition made;
	made.name = text.name;
	made.nested = text.nested;
	if (text.start.empty() || text.end.empty())
		throw Error(text.where + ": an activity needs a start and an end");
	made.start = pattern(text.start, text.where + ", start", description, begin_time, judge);
	made.end = pattern(text.end, text.where + ", end", description, begin_time, judge);
	compile_key(made, text.key, text.where + ", key", description, begin_time, judge);
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
		const bool is_taken = std::find(starts.begin(), starts.end(), name) != starts.end();
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
