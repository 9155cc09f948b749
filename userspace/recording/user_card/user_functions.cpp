// SPDX-License-Identifier: MIT
#include "user_functions.h"

#include "monitor/function_table.h"

namespace monitor::card {

void FunctionEvents::count(const std::byte *block)
{
	if (events_.empty())
		return;
	find_classes();
	if (!entry_ && !exit_)
		return;
	const std::uint64_t end = header_of(block).content_size / 8;
	for (std::uint64_t from = EDC_BLOCK_HEADER; from < end;) {
		const std::uint64_t token = word_at(block, from);
		const std::uint32_t id = edc_token_id(token), function = edc_token_arg(token);
		if ((id == entry_ || id == exit_) && function < events_.size())
			++events_[function];
		from += 8 + 8u * words_of(classes_.words(false), id);
	}
}

void FunctionEvents::find_classes()
{
	const std::vector<UserClass> &all = classes_.all();
	for (; known_ < all.size(); ++known_) {
		if (all[known_].name == EDC_FUNCTION_ENTRY_CLASS)
			entry_ = all[known_].id;
		if (all[known_].name == EDC_FUNCTION_EXIT_CLASS)
			exit_ = all[known_].id;
	}
}

void FunctionEvents::leave_out(std::size_t number)
{
	any_left_out_ = true;
	if (number / 64 < EDC_FUNCTION_WORDS)
		left_out_[number / 64] |= 1ull << number % 64;
}

void FunctionEvents::write_left_out(edc_user_area &area) const
{
	for (std::size_t i = 0; any_left_out_ && i < EDC_FUNCTION_WORDS; ++i)
		__atomic_store_n(&area.functions_left_out[i], left_out_[i], __ATOMIC_RELAXED);
}

} // namespace monitor::card
