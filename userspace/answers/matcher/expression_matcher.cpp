// SPDX-License-Identifier: MIT
#include "expression_matcher.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/refusal.h"
#include "reading/filter/filter.h"
#include "tables.h"

namespace monitor::matcher {
namespace {

using Class = EventMatcher::Class;

std::string shell_quoted(std::string_view text)
{
	std::string quoted = "'";
	for (const char c : text)
		quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
	return quoted + "'";
}

class Maker {
public:
	Maker(std::string_view expression, const trace::Description &description, std::uint64_t begin_time,
	      bool more_classes)
	    : expression_(expression), description_(description), made_(std::make_unique<EventMatcher>()),
	      filter_(expression, description, begin_time, more_classes ? &made_->doubts : nullptr)
	{
	}

	std::unique_ptr<EventMatcher> made()
	{
		for (const auto &cls : description_.classes())
			made_->classes.push_back(decide(*cls));
		if (const auto kernel = tables_.find(EventMatcher::group_of(EDC_ID_KERNEL_FIRST));
		    kernel != tables_.end())
			made_->used = kernel->second.used();
		return std::move(made_);
	}

private:
	Class decide(const trace::EventClass &cls)
	{
		Class made{static_cast<unsigned>(cls.id), cls.name, EDC_MATCH_KEEP, false, {}, 0};
		const bool is_of_kernel = cls.domain == trace::Domain::kernel;
		if (cls.domain == trace::Domain::recording || (is_of_kernel && EDC_ALWAYS_KEPT(cls.id))) {
			made.is_always_kept = true;
			return made;
		}
		const filter::Program &program = filter_.program(cls);
		if (program.entry == filter::accept)
			return made;
		const std::vector<filter::Product> products = products_of(program, is_of_kernel);
		if (products.size() == 1 && products[0].empty())
			return made;
		tables_of(made.id).add(EventMatcher::slot_of(made.id), products);
		made.decision = products.empty() ? EDC_MATCH_NONE : EDC_MATCH_ASK;
		made.patterns = static_cast<unsigned>(products.size());
		made.values = names_of(products);
		return made;
	}

	std::vector<filter::Product> products_of(const filter::Program &program, bool is_of_kernel) const
	{
		filter::KnownValues known;
		known.mode = is_of_kernel ? EDC_MODE_KERNEL : EDC_MODE_USER;
		known.has_thread_names = is_of_kernel;
		if (!is_of_kernel)
			known.level = EDC_LEVEL_USER;
		try {
			return disjunction(program, known, EDC_MATCH_PATTERNS);
		} catch (const filter::Undecidable &undecidable) {
			throw Refusal("filter", expression_, undecidable.at,
				      fmt::format("{}. To select events afterwards: monitor list DIR --filter {}",
						  undecidable.why, shell_quoted(expression_)));
		}
	}

	static std::vector<std::string> names_of(const std::vector<filter::Product> &products)
	{
		std::set<std::string> names;
		for (const filter::Product &product : products)
			for (const filter::Factor &factor : product)
				names.insert(filter::name_of(factor.source));
		return {names.begin(), names.end()};
	}

	Tables &tables_of(unsigned id)
	{
		const unsigned group = EventMatcher::group_of(id);
		return tables_.try_emplace(group, made_->make_tables(group)).first->second;
	}

	std::string_view expression_;
	const trace::Description &description_;
	std::unique_ptr<EventMatcher> made_;
	filter::Filter filter_;
	std::map<unsigned, Tables> tables_;
};

} // namespace

std::unique_ptr<EventMatcher> make_matcher(std::string_view untrusted_expression, const trace::Description &description,
					   std::uint64_t begin_time, bool more_classes)
{
	return Maker(untrusted_expression, description, begin_time, more_classes).made();
}

} // namespace monitor::matcher
