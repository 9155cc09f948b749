// SPDX-License-Identifier: MIT
// A value per thread number, such as a thread of the fold (thread_table.h). Numbers go up to four million and few are
// used, so only numbers that were set have pages; a value that was not set is T(). A number that no thread can have, in
// a damaged or hostile trace, is treated as largest_tid. Copies are deep. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/grow.h"
#include "event_kinds.h"

namespace monitor::analyze {

template <class T> class TidTable {
public:
	T find(std::int32_t tid) const
	{
		const std::size_t index = index_of(tid);
		const std::size_t page = index / values_per_page;
		return page < pages_.size() && !pages_[page].empty() ? pages_[page][index % values_per_page] : T();
	}

	T &operator[](std::int32_t tid)
	{
		const std::size_t index = index_of(tid);
		std::vector<T> &page = grow_to(pages_, index / values_per_page);
		if (page.empty())
			page.resize(values_per_page);
		return page[index % values_per_page];
	}

	// visit(T &) for all values that have a page.
	template <class Visit> void visit(Visit &&visit)
	{
		for (std::vector<T> &page : pages_)
			for (T &value : page)
				visit(value);
	}

	std::size_t bytes() const
	{
		std::size_t bytes = pages_.size() * sizeof(std::vector<T>);
		for (const std::vector<T> &page : pages_)
			bytes += page.size() * sizeof(T);
		return bytes;
	}

private:
	static constexpr std::size_t values_per_page = 1024;

	static std::size_t index_of(std::int32_t tid)
	{
		return static_cast<std::size_t>(tid < 0 || tid > largest_tid ? largest_tid : tid);
	}

	std::vector<std::vector<T>> pages_; // empty or whole
};

} // namespace monitor::analyze
