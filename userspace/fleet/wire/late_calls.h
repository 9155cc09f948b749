// SPDX-License-Identifier: MIT
// Callbacks that a library may make after their object is gone, as libnats does from threads that it does not join: the
// library gets a number in place of a pointer, and each call looks it up.
// Invariant: once remove() has returned, no call with this number runs or starts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace monitor::fleet {

template <class Target> class LateCalls {
public:
	// Returns the number as the `closure` pointer for a C library.
	static void *add(Target &target)
	{
		Table &table = LateCalls::table();
		const std::lock_guard lock(table.mutex);
		table.entries.emplace(++table.last, std::make_shared<Entry>(&target));
		return reinterpret_cast<void *>(table.last);
	}

	// Waits for a running call, so it must not be called within one.
	static void remove(void *number)
	{
		const auto entry = find(number, true);
		if (!entry)
			return;
		const std::lock_guard running(entry->running);
		entry->target = nullptr;
	}

	// Calls call(target), one at a time per target; does nothing if the target was removed.
	template <class Call> static void call(void *number, Call &&call)
	{
		const auto entry = find(number, false);
		if (!entry)
			return;
		const std::lock_guard running(entry->running);
		if (entry->target)
			call(*entry->target);
	}

private:
	struct Entry {
		explicit Entry(Target *called_object) : target(called_object) {}
		std::mutex running;
		Target *target;
	};

	struct Table {
		std::mutex mutex;
		std::uintptr_t last = 0;
		std::unordered_map<std::uintptr_t, std::shared_ptr<Entry>> entries;
	};

	// Null: it was removed. `removes`: remove it.
	static std::shared_ptr<Entry> find(void *number, bool removes)
	{
		Table &table = LateCalls::table();
		const std::lock_guard lock(table.mutex);
		const auto found = table.entries.find(reinterpret_cast<std::uintptr_t>(number));
		if (found == table.entries.end())
			return nullptr;
		const std::shared_ptr<Entry> entry = found->second;
		if (removes)
			table.entries.erase(found);
		return entry;
	}

	// Never destroyed: the library's threads use it until the process ends.
	static Table &table()
	{
		static Table &all = *new Table;
		return all;
	}
};

} // namespace monitor::fleet
