// SPDX-License-Identifier: MIT
#include "leaf_functions.h"

#include <algorithm>
#include <unordered_map>

namespace monitor::report {

LeafFunctions leaf_functions(const analyze::StackFold &fold, symbols::Symbolizer &symbolizer,
			     const IncludesSample &includes)
{
	LeafFunctions found;
	std::vector<std::pair<const analyze::StackFold::StackKey *, const analyze::StackFold::Value *>> in_programs;
	for (const auto &[key, value] : fold.values()) {
		if (key.at != analyze::StackSample::At::timer || (includes && !includes(*key.thread, value.time)))
			continue;
		const bool is_in_program = key.address && !key.kernel;
		(is_in_program ? found.in_programs : found.in_kernel) += value.count;
		if (is_in_program)
			in_programs.emplace_back(&key, &value);
	}
	if (found.in_programs < LeafFunctions::min_samples)
		return found; // without reading files
	std::unordered_map<symbols::Name, std::uint64_t> samples;
	for (const auto &[key, value] : in_programs)
		samples[symbolizer.user(key->thread->tgid, value->time, key->address, false).back()] += value->count;
	for (const auto &[name, count] : samples) {
		LeafFunction &function = found.functions.emplace_back();
		function.name = symbolizer.names()[name];
		function.is_named =
		    !function.name.module.empty() && !function.name.function.starts_with(function.name.module + "+0x");
		function.samples = count;
		function.share = static_cast<double>(count) / static_cast<double>(found.in_programs);
		function.interval = share_interval(count, found.in_programs, 0);
	}
	std::ranges::sort(found.functions, [](const LeafFunction &a, const LeafFunction &b) {
		return a.samples != b.samples ? a.samples > b.samples : a.name.function < b.name.function;
	});
	return found;
}

} // namespace monitor::report
