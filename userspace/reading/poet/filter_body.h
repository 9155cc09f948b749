// SPDX-License-Identifier: MIT
// What a poet::Filter holds: FDL compiled for the classes of one trace.
//
// Used per event by cursors and visits. Const: any number of threads.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core.h"
#include "poet/filter.hpp"
#include "reading/filter/filter.h"

namespace poet {

class Filter::Body {
public:
	Body(const Trace &trace, std::string_view expression);

	bool can_match(std::uint32_t cls) const { return can_match_[cls]; }
	bool asks_who_runs() const { return asks_who_runs_; }
	bool matches(const Event &event) const
	{
		return can_match(event.class_index()) && filter_.matches(detail::Access::internal(event));
	}
	const monitor::filter::Filter &filter() const { return filter_; }
	// Throws Error if the filter was made for another trace.
	void require_trace_of(const detail::Core &core) const
	{
		if (&core != core_.get())
			throw Error("the filter was made for another trace; make one for this trace");
	}

private:
	std::shared_ptr<const detail::Core> core_;
	monitor::filter::Filter filter_;
	std::vector<bool> can_match_; // by class
	bool asks_who_runs_;
};

} // namespace poet
