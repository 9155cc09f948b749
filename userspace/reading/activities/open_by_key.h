// SPDX-License-Identifier: MIT
// Open activities by key: per key the starts without an end so far, and other state of the user.
// The one bounded store for all that pairs events of untrusted traces: Pairs (pairs.h) and the rules' Judge. `OfKey`
// has is_idle(): nothing waits for an end, so it may be dropped to make space. Invariant: at most `max_keys` entries;
// only idle entries are dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <unordered_map>

namespace monitor::activities {

template <class OfKey> class OpenByKey {
public:
	explicit OpenByKey(std::size_t max_keys) : max_keys_(max_keys) {}

	OfKey *find(const std::string &key)
	{
		const auto found = entries_.find(key);
		return found == entries_.end() ? nullptr : &found->second;
	}
	// nullptr: the limit is reached, which is counted.
	OfKey *find_or_make(const std::string &key, std::uint64_t &too_many)
	{
		if (OfKey *found = find(key))
			return found;
		if (entries_.size() < max_keys_ || drop_idle())
			return &entries_[key];
		++too_many;
		return nullptr;
	}
	// Whether idle entries were dropped: a missing key may be one of these.
	bool has_dropped() const { return has_dropped_; }

	bool contains(const std::string &key) const { return entries_.contains(key); }
	void erase(const std::string &key) { entries_.erase(key); }
	void clear() { entries_.clear(); }
	// Calls visit(key, entry); erase_if() erases those for which it returns true.
	template <class Visit> void visit(Visit &&visit) const
	{
		for (const auto &[key, of_key] : entries_)
			visit(key, of_key);
	}
	template <class Visit> void erase_if(Visit &&visit)
	{
		for (auto entry = entries_.begin(); entry != entries_.end();)
			entry = visit(entry->first, entry->second) ? entries_.erase(entry) : std::next(entry);
	}

private:
	// Visits all keys; if that freed little, it waits some calls before it tries again.
	bool drop_idle()
	{
		if (wait_ > 0) {
			--wait_;
			return false;
		}
		has_dropped_ |= std::erase_if(entries_, [](const auto &entry) { return entry.second.is_idle(); }) != 0;
		const std::size_t enough = max_keys_ / 8;
		wait_ = entries_.size() > max_keys_ - enough ? enough : 0;
		return entries_.size() < max_keys_;
	}

	std::size_t max_keys_;
	std::size_t wait_ = 0; // calls
	bool has_dropped_ = false;
	std::unordered_map<std::string, OfKey> entries_;
};

} // namespace monitor::activities
