// SPDX-License-Identifier: MIT
// The stacks of a trace as a tree of calls: from the process down to the innermost function, with what was spent there.
// Built from StackFold with the names of Symbolizer; printed by stacks_table.cpp.
//
// A program's functions come first, then the kernel's. With `wait` the waker follows below what slept, with its own
// stack if that was taken. With `other`, what was counted comes first if there are several classes: [at sys_enter].
// What is missing has a frame of its own: [truncated: WHY] where a walk ended early, [kernel] where it was not recorded
// what a thread did there, [no stack] where time has none, [other] where a running recording had no room for more
// stacks. So the sums are those of the fold.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reading/analyze/stacks.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::report {

// Which stacks: at the timer (cpu), faults and other events they are counted, at switches (offcpu, wait) it is the
// ticks that threads were blocked.
enum class StackBy : std::uint8_t { cpu, offcpu, wait, fault, other };

inline bool is_time(StackBy by)
{
	return by == StackBy::offcpu || by == StackBy::wait;
}

struct CallNode {
	symbols::Name name = 0;
	std::uint32_t parent = 0; // of the root: itself
	bool is_waker = false;    // below here is who ended the wait
	std::uint64_t self = 0, total = 0;
	std::vector<std::uint32_t> children; // the largest first, after build()
};

// What a tree asks of the fold that the stacks are of.
struct StackOwners {
	std::function<bool(const analyze::Thread &)> has_run;
	std::function<const std::string &(const analyze::Thread &)> command;
	std::function<std::string(std::uint32_t interrupt, std::uint32_t number)> interrupt_label;
};

class CallTree {
public:
	static constexpr std::size_t max_depth = 1000;  // of a stack, and as much of its waker's
	static constexpr const char *other = "[other]"; // where there was no room for the stack

	using Includes = std::function<bool(const analyze::StackFold::StackKey &, const analyze::StackFold::Value &)>;

	// Nodes[0] is the root; processes are below it. Without `includes` all are in it.
	CallTree(const analyze::ThreadFold &thread_fold, const analyze::StackFold &fold,
		 symbols::Symbolizer &symbolizer, StackBy by, const Includes &includes = {});
	CallTree(const StackOwners &owners, const analyze::StackFold &fold, symbols::Symbolizer &symbolizer, StackBy by,
		 const Includes &includes = {});

	const std::vector<CallNode> &nodes() const { return nodes_; }
	const symbols::FrameName &name(symbols::Name name) const { return symbolizer_.names()[name]; }
	const symbols::FrameName &name(const CallNode &node) const { return name(node.name); }
	bool has_lines() const { return symbolizer_.has_lines(); }
	std::uint64_t total() const { return nodes_[0].total; }
	std::uint64_t truncated() const; // of the total: without the program's start
	std::uint64_t without_stack() const { return without_stack_; }
	std::uint64_t since_before() const { return since_before_; } // blocked before there were stacks
	std::uint64_t without_room() const { return without_room_; } // of which the fold kept the sum alone

	struct Truncated {
		std::string why; // "[truncated: no rule in libfoo.so]"
		std::uint64_t amount = 0;
	};
	// The parts of truncated(), the largest first.
	std::vector<Truncated> truncated_by() const;

	struct Function {
		symbols::Name name = 0;
		std::uint64_t self = 0, total = 0; // total: with what it called, once however often it is on a stack
	};
	// By descending self. Processes are none, and neither are wakers: their time is that of who slept.
	std::vector<Function> functions() const;

private:
	void add(const analyze::StackFold::StackKey &key, const analyze::StackFold::Value &value, std::uint64_t amount,
		 const StackOwners &owners, const analyze::StackFold &fold);
	// Adds the frames of a stack to `path`, the outermost first.
	void add_frames(std::vector<symbols::Name> &path, const analyze::StackFold::Ids &ids, std::int32_t process,
			std::uint64_t time, const analyze::StackFold &fold, bool &is_truncated);
	void add_waker(std::vector<symbols::Name> &path, const analyze::StackFold::StackKey &key, std::uint64_t time,
		       const StackOwners &owners, const analyze::StackFold &fold);
	void shorten(std::vector<symbols::Name> &path);
	std::uint32_t child(std::uint32_t parent, symbols::Name name);
	void sum_up();

	symbols::Symbolizer &symbolizer_;
	StackBy by_;
	std::vector<CallNode> nodes_;
	std::map<std::pair<std::uint32_t, symbols::Name>, std::uint32_t> children_;
	std::map<symbols::Name, std::uint64_t> truncated_by_;
	std::uint64_t without_stack_ = 0, since_before_ = 0, without_room_ = 0;
};

} // namespace monitor::report
