// SPDX-License-Identifier: MIT
#include "activity_names.h"

#include <array>
#include <utility>

#include "monitor/function_table.h"

namespace monitor::activities {
namespace {

constexpr std::uint32_t no_function = 65535; // the description names it `unknown`

} // namespace

ActivityNames::ActivityNames(const analyze::FoldInput &input, const analyze::CounterFold *counters)
    : partial_(input.partial)
{
	add(input.description);
	for (const analyze::FunctionLeftOut &left_out : input.functions_left_out)
		if (const std::uint32_t name = function(static_cast<std::uint32_t>(left_out.function));
		    name != no_activity)
			left_out_.emplace(name, left_out.time);
	if (counters)
		find_boundaries(input.description, counters->info());
}

// A name may have several layouts, and thus several classes, at either end.
void ActivityNames::find_names(const trace::Description &description)
{
	roles_.resize(description.classes().size());
	std::map<std::string, std::array<std::vector<const trace::EventClass *>, 2>> by_name;
	for (const auto &cls : description.classes())
		for (const auto &[suffix, at_end] : {std::pair("_begin", 0u), std::pair("_end", 1u)})
			if (cls->domain == trace::Domain::user && cls->name.ends_with(suffix) &&
			    !partial_.contains(cls->name))
				by_name[cls->name.substr(0, cls->name.rfind('_'))][at_end].push_back(cls.get());
	for (const auto &[name, classes] : by_name) {
		if (name.empty() || classes[0].empty() || classes[1].empty())
			continue;
		const std::uint32_t number = number_of(name, classes[0].front()->id);
		for (const unsigned at_end : {0u, 1u})
			for (const trace::EventClass *cls : classes[at_end]) {
				Role &role = roles_[cls->index];
				role.activity = number;
				role.begins = at_end == 0;
				if (role.begins)
					numbers_by_id_[cls->id] = number;
				if (cls->fields.empty())
					continue;
				role.argument = trace::FieldRef(*cls, cls->fields.front());
				role.kind = cls->fields.front().kind;
				role.base = cls->fields.front().base;
			}
	}
}

std::uint32_t ActivityNames::number_of(const std::string &name, std::uint32_t id)
{
	const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
	if (is_new) {
		names_.push_back(name);
		ids_.push_back(id);
	}
	return entry->second;
}

std::string ActivityNames::label(std::uint32_t number) const
{
	return number == other_activities ? "other" : number < names_.size() ? names_[number] : "-";
}

std::uint32_t ActivityNames::id_of(std::uint32_t number) const
{
	return number == other_activities ? EDC_ACTIVITY_OTHER : number < ids_.size() ? ids_[number] : EDC_NO_ACTIVITY;
}

std::uint32_t ActivityNames::number_with(std::uint32_t id) const
{
	if (id == EDC_NO_ACTIVITY)
		return no_activity;
	const auto found = numbers_by_id_.find(id);
	return found == numbers_by_id_.end() ? other_activities : found->second;
}

void ActivityNames::add(const trace::Description &description)
{
	find_names(description);
	find_functions(description);
}

// The kernel's probes and patched functions (recording/preload/post.c) report the same in events of their own.
void ActivityNames::find_functions(const trace::Description &description)
{
	for (const auto &cls : description.classes()) {
		const bool is_user = cls->domain == trace::Domain::user;
		const bool begins = cls->name == (is_user ? EDC_FUNCTION_ENTRY_CLASS : "function_entry");
		const bool ends = cls->name == (is_user ? EDC_FUNCTION_EXIT_CLASS : "function_exit");
		const trace::Field *function = cls->find("function"), *stack_pointer = cls->find("stack_pointer");
		if (partial_.contains(cls->name) || (!begins && !ends) || !function || !function->labels ||
		    !stack_pointer)
			continue;
		name_functions(*function->labels);
		if (!is_user)
			continue;
		Role &role = roles_[cls->index];
		role.is_function = true;
		role.begins = begins;
		role.argument = trace::FieldRef(*cls, *function);
		role.stack_pointer = trace::FieldRef(*cls, *stack_pointer);
	}
}

void ActivityNames::name_functions(const trace::Enumeration &labels)
{
	for (const auto &label : labels.labels()) {
		const auto number = static_cast<std::uint32_t>(label.first);
		if (number == no_function || !functions_.try_emplace(number, names_.size()).second)
			continue;
		const bool has_id = number < EDC_MAX_FUNCTIONS;
		if (has_id)
			numbers_by_id_[EDC_ACTIVITY_FUNCTION + number] = static_cast<std::uint32_t>(names_.size());
		names_.push_back(label.text);
		ids_.push_back(has_id ? EDC_ACTIVITY_FUNCTION + number : EDC_ACTIVITY_OTHER);
	}
}

std::uint32_t ActivityNames::function(std::uint32_t number) const
{
	const auto known = functions_.find(number);
	return known == functions_.end() ? no_activity : known->second;
}

bool ActivityNames::is_left_out(std::uint32_t activity, std::uint64_t time) const
{
	const auto found = left_out_.find(activity);
	return found != left_out_.end() && time >= found->second;
}

void ActivityNames::find_boundaries(const trace::Description &description, const analyze::CountersInfo &info)
{
	for (const auto &cls : description.classes()) {
		if (info.user_id == 0 || cls->id != info.user_id || info.sets.empty())
			continue;
		boundary_id_ = cls->id;
		for (std::size_t i = 0; i < info.sets[0].count; ++i)
			boundary_fields_.emplace_back(*cls, info.counters[info.sets[0].first + i].field);
	}
}

} // namespace monitor::activities
