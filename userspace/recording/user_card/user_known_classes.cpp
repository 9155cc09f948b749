// SPDX-License-Identifier: MIT
#include "user_known_classes.h"

#include <algorithm>
#include <span>

#include "base/scanner.h"
#include "user_module.h"

namespace monitor::card {

KnownClasses::KnownClasses(UserModule *module, std::size_t counters)
    : module_(module),
      classes_(module ? UserClasses([module](auto name, auto fields) { return module->id_of(name, fields); })
		      : UserClasses())
{
	words_.fill(unknown_class);
	words_[EDC_ID_THREAD] = 1;
	if (counters != 0)
		words_[EDC_ID_USER_COUNTERS] = static_cast<std::uint8_t>(counters);
	device_words_ = words_;
}

std::vector<std::uint16_t> KnownClasses::ids_of(std::string_view texts, std::uint32_t count, const Declarer &declarer)
{
	const std::size_t known_before = all().size();
	std::vector<std::uint16_t> ids;
	while (ids.size() < count && !texts.empty()) {
		const std::string_view name = take_until(texts, '\0');
		ids.push_back(classes_.declare(name, take_until(texts, '\0'), declarer));
	}
	add_words(known_before);
	return ids;
}

bool KnownClasses::learn()
{
	const std::size_t known_before = all().size();
	while (const auto declared = module_->next_class())
		if (!classes_.adopt(declared->id, declared->name, declared->fields))
			refuse(declared->id, words_of_user_class(declared->fields));
	add_words(known_before);
	return all().size() != known_before;
}

void KnownClasses::add_words(std::size_t known_before)
{
	for (std::size_t i = known_before; i < all().size(); ++i)
		words_[all()[i].id] = device_words_[all()[i].id] = static_cast<std::uint8_t>(all()[i].words());
}

// Refuses a class that has an id from the module: its events can be counted, but not recorded.
void KnownClasses::refuse(std::uint16_t id, unsigned words)
{
	if (words <= EDC_MAX_WORDS)
		device_words_[id] = static_cast<std::uint8_t>(refused_class | words);
}

bool KnownClasses::has_undescribed(const std::vector<std::uint16_t> &ids) const
{
	const std::span late = std::span(all()).subspan(described_);
	return std::ranges::any_of(late, [&](const UserClass &cls) { return std::ranges::count(ids, cls.id) != 0; });
}

void KnownClasses::add_counts(UserCounts &counts) const
{
	counts.classes = all().size();
	counts.classes_refused = classes_.refused();
	counts.why_refused = classes_.why_refused();
}

} // namespace monitor::card
