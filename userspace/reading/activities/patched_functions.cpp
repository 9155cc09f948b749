// SPDX-License-Identifier: MIT
#include "patched_functions.h"

#include <algorithm>

#include "monitor/function_table.h"

namespace monitor::activities {

PatchedFunctions::PatchedFunctions(const trace::Description &description)
{
	is_report_.resize(description.classes().size());
	is_call_.resize(description.classes().size());
	for (const auto &cls : description.classes()) {
		if (cls->domain != trace::Domain::user)
			continue;
		is_call_[cls->index] = cls->name == EDC_FUNCTION_ENTRY_CLASS || cls->name == EDC_FUNCTION_EXIT_CLASS;
		if (cls->name != EDC_FUNCTIONS_PATCHED_CLASS)
			continue;
		is_report_[cls->index] = true;
		first_ = trace::FieldRef(*cls, "function");
		functions_ = trace::FieldRef(*cls, "functions");
		refused_sleds_ = trace::FieldRef(*cls, "refused_sleds");
	}
}

void PatchedFunctions::user_event(const analyze::Thread &, const trace::Event &event)
{
	events_ += is_call_[event.cls->index];
	if (!is_report_[event.cls->index])
		return;
	refused_ += refused_sleds_.get(event);
	const std::uint64_t first = first_.get(event), end = first + std::min(functions_.get(event), max_functions);
	if (first >= max_functions)
		return;
	patched_.resize(std::max<std::size_t>(patched_.size(), std::min(end, max_functions)));
	for (std::uint64_t function = first; function < end && function < max_functions; ++function)
		patched_[function] = true;
}

} // namespace monitor::activities
