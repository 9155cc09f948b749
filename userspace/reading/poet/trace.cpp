// SPDX-License-Identifier: MIT
#include "poet/trace.hpp"

#include <set>

#include "base/ranges.h"
#include "base/suggestions.h"
#include "core.h"

namespace poet {

Error::~Error() = default;

const FieldInfo *EventClass::find(std::string_view field_name) const
{
	for (const FieldInfo &field : fields)
		if (field.name == field_name)
			return &field;
	return nullptr;
}

Trace::Trace(const std::string &directory)
    : core_(detail::guarded([&] { return std::make_shared<detail::Core>(monitor::trace::Trace::open(directory)); }))
{
}

const std::vector<EventClass> &Trace::classes() const
{
	return core_->class_list();
}

const std::vector<Stream> &Trace::streams() const
{
	return core_->stream_list();
}

const Clock &Trace::clock() const
{
	return core_->clock();
}

const std::vector<std::pair<std::string, std::string>> &Trace::environment() const
{
	return core_->trace().description().env;
}

std::vector<const EventClass *> Trace::find(std::string_view class_name) const
{
	std::vector<const EventClass *> found;
	for (const EventClass &cls : classes())
		if (cls.name == class_name)
			found.push_back(&cls);
	return found;
}

Field Trace::field(std::string_view name) const
{
	if (auto table = core_->field(name))
		return detail::Access::field(std::move(table));
	std::set<std::string> known;
	for (const EventClass &cls : classes())
		for (const FieldInfo &field : cls.fields)
			known.insert(field.name);
	throw Error("no event of the trace has a field \"" + std::string(name) + "\"." +
		    monitor::suggestions(std::string(name), {known.begin(), known.end()}));
}

std::optional<Field> Trace::find_field(std::string_view name) const
{
	auto table = core_->field(name);
	return table ? std::optional(detail::Access::field(std::move(table))) : std::nullopt;
}

std::uint64_t Trace::event_count() const
{
	return core_->index().events();
}

std::vector<std::string> Trace::problems() const
{
	return core_->use_problems([](const monitor::trace::Problems &problems) {
		return monitor::list_of<std::string>(problems.kept(),
						     [](const auto &problem) { return problem.text(); });
	});
}

std::uint64_t Trace::problem_count() const
{
	return core_->use_problems([](const monitor::trace::Problems &problems) { return problems.total(); });
}

} // namespace poet
