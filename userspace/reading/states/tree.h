// SPDX-License-Identifier: MIT
// A tree of states, as its file describes it. Documentation/states.md is the reference.
//
//     # What a CPU does
//     of cpu
//     interrupted: mode in {"irq", "softirq"}
//             hard: mode == "irq"
//     idle: state == "idle"
//
// Text -> parse_tree() -> Tree -> Classifier (classifier.h), which compiles the conditions for a trace. A line is a
// node: its name, and the condition in FDL by which it is entered from its parent; of a node's children the first one
// that matches counts. Where none does, the state is REST: every node with children has one, as its last child.
// Invariants: parents precede their children, and siblings keep the order of the file; a node has children or a state,
// never both; states are numbered from 0, the topmost REST, in the order of the nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monitor::states {

// Whose states the tree has.
enum class Subject : std::uint8_t { machine, cpu, thread };

using State = std::uint16_t;

struct Node {
	static constexpr std::uint32_t none = ~0u;

	std::string name, condition; // no condition: a REST
	std::uint32_t line = 0;      // in the file; for a REST, of its parent, or 0
	std::uint32_t parent = none, depth = 0;
	std::vector<std::uint32_t> children;
	State state = 0; // of a node without children

	bool is_leaf() const { return children.empty(); }
	bool is_rest() const { return condition.empty(); }
};

class Tree {
public:
	static constexpr std::size_t max_text_bytes = 1u << 20;
	static constexpr std::size_t max_nodes = 256, max_depth = 32;
	static constexpr State rest = 0;

	const std::string &name() const { return name_; } // of the file, for messages
	const std::string &text() const { return text_; } // of the file
	Subject subject() const { return subject_; }
	const std::vector<Node> &nodes() const { return nodes_; }
	const std::vector<std::uint32_t> &roots() const { return roots_; } // the last one is REST

	// The number of states, including two without a condition: PAUSE, when nothing was recorded, and unknown, after
	// a loss.
	State count() const { return static_cast<State>(leaves_.size() + 2); }
	State pause() const { return static_cast<State>(leaves_.size()); }
	State unknown() const { return static_cast<State>(leaves_.size() + 1); }
	bool is_of_tree(State state) const { return state < leaves_.size(); }
	// The node of a state of the tree.
	std::uint32_t leaf(State state) const { return leaves_[state]; }
	// "irq", REST, PAUSE, unknown; or with the names of its ancestors: "interrupted/irq".
	const std::string &name(State state) const;
	std::string path(State state) const;
	std::string path_of_node(std::uint32_t node) const;
	// The states in or below the nodes whose path ends with this one; empty: there are none.
	std::vector<State> states_of(std::string_view path) const;

private:
	friend class TreeParser;

	bool is_end_of(std::uint32_t node, std::string_view path) const;

	std::string name_, text_;
	Subject subject_ = Subject::cpu;
	std::vector<Node> nodes_;
	std::vector<std::uint32_t> roots_;
	std::vector<std::uint32_t> leaves_; // by state
};

// Reserved names.
inline constexpr std::string_view rest_name = "REST", pause_name = "PAUSE", unknown_name = "unknown";

std::string_view subject_name(Subject subject);

// `name` is for messages. Throws Error naming the line.
Tree parse_tree(std::string_view untrusted_text, const std::string &name);

// A file, or the name of a shipped tree. Throws Error.
Tree load_tree(const std::string &name_or_file);

} // namespace monitor::states
