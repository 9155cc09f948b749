// SPDX-License-Identifier: MIT
// The stack fold: how often each stack was taken at the timer and at events, and for how long threads were blocked at
// each (record --stacks). Fed by ThreadFold as an Observer; named and printed by answers/report/call_tree.cpp.
//
// A stack at a wake-up is the waker's, and belongs to the sleep that it ended, which was delivered just before. It is
// not counted by itself where the idle thread, so an interrupt, did it.
//
// Blocked time is exact: it comes from the switches, and the stack that was taken at the switch only says where. What
// has no stack, because the budget left it out or it was lost, is counted under the stack 0; who was blocked since
// before stacks were taken, under since_before.
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
	std::string why_ended;             // before the start of its thread; "": there
};

class StackFold : public Observer {
public:
	static constexpr std::uint64_t since_before = ~0ull; // Key::user
	static constexpr std::uint64_t no_room = ~1ull;      // Key::user, of what was more than max_stacks
	struct Ids {
		std::uint64_t address = 0, kernel = 0, user = 0; // as in StackSample

		bool operator==(const Ids &) const = default;
	};
	struct StackKey : Ids {
		const Thread *thread = nullptr;
		StackSample::At at = StackSample::At::timer;
		const std::string *event = nullptr; // as in StackSample
		// At switches, as far as they are known.
		Waker waker = {};
		const Thread *waker_ran = nullptr; // where `woken_at` was taken
		Ids woken_at = {};

		bool operator==(const StackKey &) const = default;
	};
	struct Value {
		std::uint64_t count = 0;
		std::uint64_t blocked = 0; // ticks, at switches
		std::uint64_t time = 0;    // of the first
		std::uint64_t woken = 0;   // of the last stack at a wake-up
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
	// Whether a stack was taken at all, by a selected thread or another.
	bool any() const { return any_; }
	// Whether a waker's stack was taken.
	bool has_wakers() const { return has_wakers_; }
	// Stacks --by other are of several classes.
	bool has_several_events() const { return others_.size() > 1; }
	// nullptr: it was lost.
	const StackDescription *find(std::uint64_t id) const;
	const std::vector<MappingToken> &mappings() const { return mappings_; }
	// Trace time of a time of CLOCK_MONOTONIC, near enough to order what a program did by itself.
	std::uint64_t time_of(std::uint64_t monotonic_ns, const trace::Clock &clock) const;

	// Of a recording that is running:
	void limit(std::size_t max_stacks) { max_stacks_ = max_stacks; }
	// With ThreadFold::begin_window(): what was counted so far is of a window that has ended.
	void begin_window();
	// The stacks of the window with what describes them, and without mappings. `place`: of the copy of a thread.
	StackFold copy_of_window(const std::function<const Thread *(const Thread &)> &place) const;
	std::vector<MappingToken> take_mappings() { return std::exchange(mappings_, {}); }
	void forgotten(const Thread &thread) override { at_switch_.erase(&thread); }

protected:
	// Those at which threads sleep.
	const std::unordered_map<const Thread *, StackSample> &at_switch() const { return at_switch_; }
	void drop(std::uint64_t id) { stacks_.erase(id); }

private:
	Value &at(const StackKey &key, std::uint64_t time);
	void wake(const Thread &ran, const StackSample &sample);

	std::unordered_map<StackKey, Value, Hash> values_;
	std::unordered_map<std::uint64_t, StackDescription> stacks_;
	std::unordered_map<const Thread *, StackSample> at_switch_;
	struct Ended { // a sleep, whose waker's stack may follow
		std::uint64_t time, blocked;
		StackKey key;
	};
	std::vector<Ended> ended_;
	std::vector<MappingToken> mappings_;
	std::uint64_t first_ = 0;                 // when the first stack was taken
	std::uint64_t read_at_ = 0, read_ns_ = 0; // the first clock_read()
	std::set<const std::string *> others_;    // nullptr: wakers'
	bool any_ = false, has_wakers_ = false;
	std::size_t max_stacks_ = ~std::size_t(0);
};

} // namespace monitor::analyze
