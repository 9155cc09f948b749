// SPDX-License-Identifier: MIT
#include "filter.h"

#include <algorithm>

#include <fmt/format.h>

#include "check.h"
#include "compile.h"
#include "parser.h"

namespace monitor::filter {
namespace {

bool uses_name(const Expression &expression, std::string_view name)
{
	if (expression.kind == Expression::Kind::name && !expression.is_field && expression.text == name)
		return true;
	return std::ranges::any_of(expression.children,
				   [name](const Expression &child) { return uses_name(child, name); });
}

} // namespace

Filter::Filter(std::string_view untrusted_text, const trace::Description &description, std::uint64_t begin_time,
	       const KnownNames &known, std::vector<std::string> *doubts, Evaluator evaluator)
    : condition_(std::make_unique<const Expression>(parse(untrusted_text))), programs_(description.classes().size()),
      is_derived_(description.classes().size())
{
	check(*condition_, untrusted_text, description, known, doubts);
	uses_time_ = uses_name(*condition_, "time");
	Common common;
	common.clock = &description.clock;
	common.begin_time = begin_time;
	common.known = &known;
	common.derives_from = evaluator == Evaluator::reader ? &description : nullptr;
	find_uses(*condition_, known);
	for (const auto &cls : description.classes()) {
		programs_[cls->index] = compile(*condition_, *cls, common);
		is_derived_[cls->index] = programs_[cls->index].is_derived();
		derives_ = derives_ || is_derived_[cls->index];
	}
	needs_names_ = derives_ || uses_name(*condition_, "thread");
	needs_threads_ = needs_names_ || uses_name(*condition_, "tid");
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
	return std::ranges::find(used_, name) != used_.end();
}

LeftOut left_out(const Filter &filter, const trace::Description &description,
		 const std::function<bool(const trace::EventClass &)> &takes)
{
	const trace::EventClass *accepted = nullptr;
	for (const auto &cls : description.classes())
		if (takes(*cls)) {
			if (accepted && accepted->name != cls->name)
				return {};
			accepted = cls.get();
		}
	for (const auto &other : description.classes())
		for (const std::string &name : filter.names())
			if (accepted && other->name == accepted->name && accepted->find(name) && !other->find(name) &&
			    !takes(*other))
				return {other.get(), name};
	return {};
}

std::string left_out_text(const LeftOut &left_out)
{
	return left_out.form ? fmt::format("some events of {} have no {}, so the expression is not true for them",
					   left_out.form->name, left_out.name)
			     : "";
}

const char *const undecided_warning =
    "whether some events match is unknown, so they are left out: it depends on earlier events, which were "
    "lost or not recorded";

} // namespace monitor::filter
