// SPDX-License-Identifier: MIT
#include "description.h"

namespace monitor::trace {

const Field *EventClass::find(std::string_view field_name) const
{
	for (const Field &field : fields)
		if (field.name == field_name)
			return &field;
	return nullptr;
}

std::vector<const EventClass *> Description::find(std::string_view name) const
{
	std::vector<const EventClass *> found;
	for (const auto &cls : classes_)
		if (cls->name == name)
			found.push_back(cls.get());
	return found;
}

const std::string *Description::find_env(std::string_view name) const
{
	for (const auto &[key, value] : env)
		if (key == name)
			return &value;
	return nullptr;
}

bool Description::add_token(EventClass added)
{
	if (added.id == 0 || added.id >= max_tokens || by_id_[added.id] || added.size_bytes == 0 ||
	    added.size_bytes > 8 * (1 + EDC_MAX_WORDS))
		return false;
	added.index = first_index + static_cast<std::uint32_t>(classes_.size());
	auto made = std::make_shared<const EventClass>(std::move(added));
	by_id_[made->id] = made.get();
	size_by_id_[made->id] = static_cast<std::uint8_t>(made->size_bytes);
	classes_.push_back(std::move(made));
	return true;
}

} // namespace monitor::trace
