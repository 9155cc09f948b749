// SPDX-License-Identifier: MIT
// The stack fold: how often each stack was taken at the timer and at events, and how long threads were blocked at each
// (record --stacks). An Observer of ThreadFold.
// A stack at a wake-up is the waker's, and belongs to the sleep that it ended, which was delivered just before. If the
// idle thread, so an interrupt, was the waker, the stack is not counted by itself.
// Blocked time is exact, as it comes from the switches; the stack at the switch only says where. Time without a stack,
// because the budget left it out or it was lost, has the stack 0; that of threads blocked since before stacks were
// taken, since_before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "thread_fold.h"

namespace monitor::analyze {

struct StackDescription {
	std::vector<std::uint64_t> frames; // innermost first; 0: lost
	bool is_whole = false;             // its end was seen, and no part is missing
	std::string why_ended;             // why it ended before the start of its thread; "": it did not
};

class StackFold : public Observer {
public:
	static constexpr std::uint64_t since_before = ~0ull; // StackKey::user
	static constexpr std::uint64_t no_room = ~1ull;      // StackKey::user, beyond max_stacks
	struct Ids {
		std::uint64_t address = 0, kernel = 0, user = 0; // as in StackSample

		bool operator==(const Ids &) const = default;
	};
	struct StackKey : Ids {
		const Thread *thread = nullptr;
		StackSample::At at = StackSample::At::timer;
		const std::string *event = nullptr; // as in StackSample
		// The waker, at switches, as far as known.
		Waker waker = {};
		const Thread *waker_ran = nullptr; // the thread of the stack `woken_at`
		Ids woken_at = {};

		bool operator==(const StackKey &) const = default;
	};
	struct Value {
		std::uint64_t count = 0;
		std::uint64_t blocked = 0; // ticks, at switches
		std::uint64_t time = 0;    // of the first sample
		std::uint64_t woken = 0;   // id of the last stack at a wake-up
	};
	struct Hash {
		std::size_t operator()(const StackKey &key) const;
	};

	void stack_frames(std::uint64_t id, std::uint32_t first, std::span<const std::uint64_t> frames) override;
	void stack_end(std::uint32_t cpu, std::uint64_t id, std::uint32_t frames, const std::string &why) override;
	void stack(const Thread &thread, const StackSample &sample) override;
	void blocked(const Thread &thread, std::uint64_t from, std::uint64_t to, const Waker &waker) override;
	void mapping(const MappingToken &change) override { mappings_.push_back(change); }
	void clock_read(std::uint64_t time, std::uint64_t monotonic_ns) override;

	const std::unordered_map<StackKey, Value, Hash> &values() const { return values_; }
	// Whether any stack was taken, of a selected thread or another.
	bool any() const { return any_; }
	// Whether a waker's stack was taken.
	bool has_wakers() const { return has_wakers_; }
	// Whether stacks --by other are of several classes.
	bool has_several_events() const { return others_.size() > 1; }
	// nullptr: the description was lost.
	const StackDescription *find(std::uint64_t id) const;
	const std::vector<MappingToken> &mappings() const { return mappings_; }
	// A time of CLOCK_MONOTONIC as trace time, accurate enough to order a program's own actions.
	std::uint64_t time_of(std::uint64_t monotonic_ns, const trace::Clock &clock) const;

	// For a running recording: bounds the number of stacks.
	void limit(std::size_t max_stacks) { max_stacks_ = max_stacks; }
	// With ThreadFold::begin_window(): drops the counts of the window that has ended.
	void begin_window();
	// A copy of the window's stacks and their descriptions, without mappings. `copy_of`: the copy of a thread.
	StackFold copy_of_window(const std::function<const Thread *(const Thread &)> &copy_of) const;
	std::vector<MappingToken> take_mappings() { return std::exchange(mappings_, {}); }
	void forgotten(const Thread &thread) override { at_switch_.erase(&thread); }

protected:
	// The stacks at which threads sleep.
	const std::unordered_map<const Thread *, StackSample> &at_switch() const { return at_switch_; }
	void drop(std::uint64_t id) { stacks_.erase(id); }

private:
	Value &value_of(const StackKey &key, std::uint64_t time);
	void attribute_sleep(const Thread &ran, const StackSample &sample);

	std::unordered_map<StackKey, Value, Hash> values_;
	std::unordered_map<std::uint64_t, StackDescription> stacks_;
	std::unordered_map<const Thread *, StackSample> at_switch_;
	struct Ended { // a sleep; the stack of its waker may follow
		std::uint64_t time, blocked;
		StackKey key;
	};
	std::vector<Ended> ended_;
	std::vector<MappingToken> mappings_;
	std::uint64_t first_ = 0;                 // when the first stack was taken
	std::uint64_t read_at_ = 0, read_ns_ = 0; // the first clock_read()
	std::set<const std::string *> others_;    // classes of At::other; nullptr: wakers'
	bool any_ = false, has_wakers_ = false;
	std::size_t max_stacks_ = ~std::size_t(0);
};

} // namespace monitor::analyze
