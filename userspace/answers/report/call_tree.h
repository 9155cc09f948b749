// SPDX-License-Identifier: MIT
// The stacks of a trace as a call tree: from the process down to the innermost function, with the amount spent there.
// Built from StackFold with the names of Symbolizer; printed by stacks_table.cpp.
// A program's functions come first, then the kernel's. With `wait` the waker follows below the sleeper, with its own
// stack if that was taken. With `other`, the event comes first if there are several classes: [at sys_enter].
// Pseudo-frames stand for what is missing: [truncated: WHY] where a walk ended early, [kernel] where the kernel's stack
// was not recorded, [no stack] for time without a stack, [other] for stacks beyond the limit of a running recording. So
// the sums are the fold's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reading/analyze/stacks.h"
#include "reading/symbols/symbolizer.h"

namespace monitor::report {

// Which stacks. Of those taken at the timer (cpu), at faults and at other events, amounts are numbers of stacks; of
// those taken at switches (offcpu, wait), the ticks that threads were blocked.
enum class StackBy : std::uint8_t { cpu, offcpu, wait, fault, other };

inline bool is_time(StackBy by)
{
	return by == StackBy::offcpu || by == StackBy::wait;
}

struct CallNode {
	symbols::Name name = 0;
	std::uint32_t parent = 0; // of the root: itself
	bool is_waker = false;    // the waker is below this node
	std::uint64_t self = 0, total = 0;
	std::vector<std::uint32_t> children; // largest first, after build()
};

// What a tree uses of the fold with the threads of its stacks.
struct StackOwners {
	std::function<bool(const analyze::Thread &)> has_run;
	std::function<const std::string &(const analyze::Thread &)> command;
	std::function<std::string(std::uint32_t interrupt, std::uint32_t number)> interrupt_label;
};

class CallTree {
public:
	static constexpr std::size_t max_depth = 1000;  // of a stack, and again of its waker's
	static constexpr const char *other = "[other]"; // for stacks beyond the limit

	using Includes = std::function<bool(const analyze::StackFold::StackKey &, const analyze::StackFold::Value &)>;

	// Nodes[0] is the root; processes are below it. `includes`: whether a thread is in the tree; empty: all are.
	CallTree(const analyze::ThreadFold &thread_fold, const analyze::StackFold &fold,
		 symbols::Symbolizer &symbolizer, StackBy by, const Includes &includes = {});
	CallTree(const StackOwners &owners, const analyze::StackFold &fold, symbols::Symbolizer &symbolizer, StackBy by,
		 const Includes &includes = {});

	const std::vector<CallNode> &nodes() const { return nodes_; }
	const symbols::FrameName &name(symbols::Name name) const { return symbolizer_.names()[name]; }
	const symbols::FrameName &name(const CallNode &node) const { return name(node.name); }
	bool has_lines() const { return symbolizer_.has_lines(); }
	std::uint64_t total() const { return nodes_[0].total; }
	std::uint64_t truncated() const; // part of the total without the program's start
	std::uint64_t without_stack() const { return without_stack_; }
	std::uint64_t since_before() const { return since_before_; } // amount blocked since before stacks were taken
	std::uint64_t beyond_limit() const { return beyond_limit_; } // amount beyond the fold's limit of stacks

	struct Truncated {
		std::string why; // "[truncated: no rule in libfoo.so]"
		std::uint64_t amount = 0;
	};
	// The parts of truncated(), largest first.
	std::vector<Truncated> truncated_by() const;

	struct Function {
		symbols::Name name = 0;
		std::uint64_t self = 0, total = 0; // total: including callees; counted once per stack despite recursion
	};
	// By descending self. Without processes and wakers, whose time is the sleepers'.
	std::vector<Function> functions() const;

private:
	void add(const analyze::StackFold::StackKey &key, const analyze::StackFold::Value &value, std::uint64_t amount,
		 const StackOwners &owners, const analyze::StackFold &fold);
	// Appends the frames of a stack to `path`, outermost first.
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
	std::uint64_t without_stack_ = 0, since_before_ = 0, beyond_limit_ = 0;
};

} // namespace monitor::report
