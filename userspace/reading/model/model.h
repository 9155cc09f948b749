// SPDX-License-Identifier: MIT
// A model of a program: the roles of its threads, the operations that each role repeats, and what threads wait for.
//
// Durations are constants, distributions, or samples: a value for each iteration of a recording. Each recording is a
// sample set; several recordings of one program share the structure.
// model_text.h reads and prints models, inference.h learns them from recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monitor::model {

struct Distribution {
	enum class Shape : std::uint8_t { values, uniform, exponential };

	std::string name;
	Shape shape = Shape::values;
	std::vector<std::uint64_t> ns; // values: equally probable ones; uniform: both ends; exponential: the mean

	bool operator==(const Distribution &) const = default;
};

enum class Kind : std::uint8_t {
	cpu,     // computes; `name` is the activity, "" outside of activities
	sleep,   // for a time; 0 ns: does not sleep
	take,    // of a pool: takes an item from its queue, or waits for one; the item selects the row of the samples
	put,     // puts this iteration's item into the queue of `role`; waits while that is full
	signal,  // marks this iteration's item as ready for `role`
	await,   // waits for the signal of this iteration's item; `name` is the activity before that signal
	lock,    // does blocks[0] with the lock `name`
	call,    // as put, then does blocks[0] if there is one, then waits for the reply
	reply,   // to the caller of the item; no effect if the item was put
	wake,    // increments the semaphore `name`
	wait,    // decrements the semaphore `name`
	barrier, // waits until all threads of all roles with the barrier `name` have reached it
	branch,  // does blocks[0], or else blocks[1] if there is one
	fork,    // does all blocks in parallel, each in a thread, and waits until the last one has ended
};

struct Operation;
using Block = std::vector<Operation>;

struct Operation {
	static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

	Kind kind = Kind::cpu;
	std::string name;
	std::size_t role = no_index; // of put, signal and call
	// Of cpu and sleep: a constant, or an index in Model::distributions; with neither it has samples.
	std::optional<std::uint64_t> ns;
	std::size_t distribution = no_index;
	// Of branch: to do blocks[0]; without it, it has samples, where 1 does blocks[0].
	std::optional<double> probability;
	// Of wake and wait: the semaphore is shared only by threads with the same number in their roles.
	bool is_own = false;
	std::vector<Block> blocks;
	std::size_t column = no_index; // of its samples, in Role::columns

	bool has_samples() const { return column != no_index; }
	bool operator==(const Operation &) const = default;
};

struct Role {
	enum class Mode : std::uint8_t {
		each,  // every thread does `loop` iterations
		split, // the threads share `loop` iterations
		pool,  // an iteration for each item in the role's queue, by any free thread
	};

	std::string name;
	Mode mode = Mode::each;
	std::uint32_t threads = 1;
	std::uint32_t capacity = 0; // of a pool's queue; 0: unlimited
	bool in_order = false;      // handles items in the order of their numbers
	std::uint64_t loop = 1;     // 0: as often as recorded
	Block body;
	std::vector<std::string> columns; // names of its samples, such as "cpu check": set by number_columns()

	bool operator==(const Role &) const = default;
};

constexpr std::uint64_t max_item = std::uint64_t(1) << 63; // items are below; a replay adds new ones after the last

// A role's iterations in a recording, an element for each. Those of one thread are in their order; those of pools and
// split roles are in the order in which they began. Without samples, an iteration's item is its number, from 0, among
// those of all threads of the role.
struct RoleSamples {
	std::vector<std::uint32_t> threads;              // numbers within the role
	std::vector<std::uint64_t> items;                // passed by put, call and signal to take and await
	std::vector<std::vector<std::uint64_t>> columns; // by Role::columns: ns; of a branch 1 or 0

	bool operator==(const RoleSamples &) const = default;
};

struct SampleSet {
	std::uint64_t elapsed_ns = 0; // as recorded
	std::vector<RoleSamples> roles;

	bool operator==(const SampleSet &) const = default;
};

struct Model {
	std::string about; // from the first line of the text
	std::uint32_t cpus = 1;
	bool is_realtime = false;     // scheduled as SCHED_RR, not as SCHED_OTHER
	bool marks_functions = false; // the activities are functions (record --functions), not events of edc.h
	// From a wake-up until the woken thread runs on an idle CPU: equally probable values.
	std::vector<std::uint64_t> latency_ns;
	std::uint64_t wake_cost_ns = 0; // CPU time of the waker, if the woken thread runs on another CPU
	std::uint64_t fixed_ns = 0;     // elapsed before and after all iterations
	std::vector<Distribution> distributions;
	std::vector<Role> roles;
	std::vector<std::string> because; // the reasons for this structure
	std::vector<SampleSet> sets;      // one for each recording; none if no operation has samples

	bool operator==(const Model &) const = default;
};

// Assigns columns to the operations with samples. A column is named after the operation, with a number from the second
// such operation in the body on. Operations without samples count, too: so giving one a duration renames no column.
void number_columns(Role &role);

// Calls `visit(operation)` for each operation of the block and of those within it, in the order of the text.
template <class Operations, class Visit> void for_each_operation(Operations &block, const Visit &visit)
{
	for (auto &operation : block) {
		visit(operation);
		for (auto &inner : operation.blocks)
			for_each_operation(inner, visit);
	}
}

} // namespace monitor::model
