// SPDX-License-Identifier: MIT
// Callbacks that a library may still make after their object is gone. The library gets a number in place of a pointer;
// each call looks it up.
//
// Used by connection.cpp: libnats makes callbacks from threads that it does not join. Invariant: once remove() has
// returned, no call with this number runs or starts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace monitor::fleet {

template <class Target> class LateCalls {
public:
	// The number, in the form in which a C library hands it back.
	static void *add(Target &target)
	{
		const std::lock_guard lock(mutex_);
		entries_.emplace(++last_, std::make_shared<Entry>(&target));
		return reinterpret_cast<void *>(last_);
	}

	// Waits for a call that runs: not from within one.
	static void remove(void *number)
	{
		std::shared_ptr<Entry> entry;
		{
			const std::lock_guard lock(mutex_);
			const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(number));
			if (found == entries_.end())
				return;
			entry = std::move(found->second);
			entries_.erase(found);
		}
		const std::lock_guard running(entry->running);
		entry->target = nullptr;
	}

	// call(target), one at a time for each target; nothing if it is gone.
	template <class Call> static void call(void *number, Call &&call)
	{
		std::shared_ptr<Entry> entry;
		{
			const std::lock_guard lock(mutex_);
			const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(number));
			if (found == entries_.end())
				return;
			entry = found->second;
		}
		const std::lock_guard running(entry->running);
		if (entry->target)
			call(*entry->target);
	}

private:
	struct Entry {
		explicit Entry(Target *of) : target(of) {}
		std::mutex running;
		Target *target;
	};

	static inline std::mutex mutex_;
	static inline std::uintptr_t last_ = 0;
	static inline std::unordered_map<std::uintptr_t, std::shared_ptr<Entry>> entries_;
};

} // namespace monitor::fleet
