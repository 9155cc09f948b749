// SPDX-License-Identifier: MIT
#include "filter.h"

#include <algorithm>

#include "check.h"
#include "compile.h"
#include "parser.h"

namespace monitor::filter {
namespace {

bool asks_for(const Expression &expression, std::string_view name)
{
	if (expression.kind == Expression::Kind::name && !expression.is_field && expression.text == name)
		return true;
	return std::any_of(expression.children.begin(), expression.children.end(),
			   [name](const Expression &child) { return asks_for(child, name); });
}

} // namespace

Filter::Filter(std::string_view untrusted_text, const trace::Description &description, std::uint64_t begin_time,
	       const KnownNames &known, std::vector<std::string> *doubts)
    : condition_(std::make_unique<const Expression>(parse(untrusted_text))), programs_(description.classes().size())
{
	check(*condition_, untrusted_text, description, known, doubts);
	needs_names_ = asks_for(*condition_, "thread");
	uses_time_ = asks_for(*condition_, "time");
	needs_threads_ = needs_names_ || asks_for(*condition_, "tid");
	Common common;
	common.clock = &description.clock;
	common.begin_time = begin_time;
	common.known = &known;
	find_uses(*condition_, known);
	for (const auto &cls : description.classes())
		programs_[cls->index] = compile(*condition_, *cls, common);
}

void Filter::find_uses(const Expression &expression, const KnownNames &known)
{
	for (const Expression &child : expression.children)
		find_uses(child, known);
	if (expression.kind != Expression::Kind::name)
		return;
	const KnownName *found = find(expression, known);
	if (found && found->lacking.empty()) {
		used_.push_back(found->name);
		return;
	}
	uses_event_ = true;
	names_.push_back(expression.text);
}

bool Filter::uses_known(std::string_view name) const
{
	return std::find(used_.begin(), used_.end(), name) != used_.end();
}

} // namespace monitor::filter
