// SPDX-License-Identifier: MIT
// A model of a program: the roles of its threads, what each does again and again, and what they wait for.
//
// Durations are constants, distributions, or samples: sequences from recordings, a value per iteration, in the order in
// which these iterations were. A recording gives a sample set; several recordings of one program share the structure.
// As text: model_text.h. Found in a recording: inference.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monitor::model {

// Evenly drawn values, all between two, or exponentially distributed.
struct Distribution {
	enum class Shape : std::uint8_t { values, uniform, exponential };

	std::string name;
	Shape shape = Shape::values;
	std::vector<std::uint64_t> ns; // uniform: from, to; exponential: the mean

	bool operator==(const Distribution &) const = default;
};

enum class Kind : std::uint8_t {
	cpu,     // computes; `name` is the activity, "" what is in none
	sleep,   // waits for time to pass; 0 ns: does not wait
	take,    // of a pool: waits for an item in its queue; the item decides which samples this iteration has
	put,     // this iteration's item into the queue of `role`, which may be full
	signal,  // this iteration's item is ready for `role`
	await,   // waits until this iteration's item was signalled to this role; `name` is the activity before that
	lock,    // blocks[0] while no other thread has the lock `name`
	call,    // as put, then blocks[0] if there is one, then waits for the reply
	reply,   // to the caller whose item this is
	wake,    // the semaphore `name`, up
	wait,    // the semaphore `name`, down
	barrier, // waits until every thread of each role with the barrier `name` is there
	branch,  // blocks[0], or blocks[1] if there are two
	fork,    // all blocks side by side, each in a thread, until the last one has ended
};

struct Operation;
using Block = std::vector<Operation>;

struct Operation {
	static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

	Kind kind = Kind::cpu;
	std::string name;
	std::size_t role = no_index; // of put, signal and call
	// Of cpu and sleep; neither: from samples.
	std::optional<std::uint64_t> ns;
	std::size_t distribution = no_index; // in Model::distributions
	// Of branch: of blocks[0]; none: from samples, where 1 takes it.
	std::optional<double> probability;
	// Of wake and wait: not one semaphore for all, but one for the threads with the same number in their roles.
	bool is_own = false;
	std::vector<Block> blocks;
	std::size_t column = no_index; // in Role::columns, of what is from samples

	bool has_samples() const { return column != no_index; }
	bool operator==(const Operation &) const = default;
};

struct Role {
	enum class Mode : std::uint8_t {
		each,  // every thread has iterations of its own: `loop` each
		split, // the threads share `loop` iterations
		pool,  // whichever thread is free takes an item from the role's queue
	};

	std::string name;
	Mode mode = Mode::each;
	std::uint32_t threads = 1;
	std::uint32_t capacity = 0; // of a pool's queue; 0: unlimited
	bool in_order = false;      // takes items by their numbers, each once it is ready
	std::uint64_t loop = 1;     // 0: as often as the recordings have it
	Block body;
	std::vector<std::string> columns; // what its samples are of, such as "cpu check": set by number_columns()

	bool operator==(const Role &) const = default;
};

constexpr std::uint64_t max_item = std::uint64_t(1) << 63; // a replay of more iterations counts on from the last item

// What a recording says of a role, an element per iteration. Those of a thread are in their order; of a pool or split
// role all are in the order in which they started. Without samples an iteration's item is its number, from 0, counted
// through the role's threads.
struct RoleSamples {
	std::vector<std::uint32_t> threads;              // the number, within the role, of the one that ran it
	std::vector<std::uint64_t> items;                // what put, call and signal hand on, await and take refer to
	std::vector<std::vector<std::uint64_t>> columns; // by Role::columns: ns, or 1 and 0 of a branch

	bool operator==(const RoleSamples &) const = default;
};

struct SampleSet {
	std::uint64_t elapsed_ns = 0; // as recorded
	std::vector<RoleSamples> roles;

	bool operator==(const SampleSet &) const = default;
};

struct Model {
	std::string about; // of the first line
	std::uint32_t cpus = 1;
	bool is_realtime = false;     // the threads have a realtime policy (round robin), not the default one
	bool marks_functions = false; // the activities are functions (record --functions), not a program's own events
	// From a wake-up to the running of the woken thread on a CPU that was idle: evenly drawn.
	std::vector<std::uint64_t> latency_ns;
	std::uint64_t wake_cost_ns = 0; // what the waker computes more if the thread runs on another CPU
	std::uint64_t fixed_ns = 0;     // before and after all iterations
	std::vector<Distribution> distributions;
	std::vector<Role> roles;
	std::vector<std::string> because; // how this was found
	std::vector<SampleSet> sets;      // a recording each; none: nothing is from samples

	bool operator==(const Model &) const = default;
};

// Gives what has neither a duration nor a probability its column. The name of a column is that of the operation, with
// a number from its second occurrence on in the body: it stays when another operation gets a duration.
void number_columns(Role &role);

// Calls `visit(operation)` for each of the block, outer ones before those in their blocks.
template <class Operations, class Visit> void for_each_operation(Operations &block, const Visit &visit)
{
	for (auto &operation : block) {
		visit(operation);
		for (auto &inner : operation.blocks)
			for_each_operation(inner, visit);
	}
}

} // namespace monitor::model
