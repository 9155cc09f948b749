// SPDX-License-Identifier: MIT
// Follows a function's control flow from its entry and landing pads: reached bytes are instructions, others may be
// data. Architecture-independent; a Decoder decodes instructions and jump tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exit_search.h"

namespace monitor::functions {

struct Instruction {
	enum class Flow : std::uint8_t {
		next,
		call,
		jump,
		branch,   // a conditional jump
		indirect, // a jump through a register or memory
		leave,    // a return
		stop      // a trap: no fall-through
	};

	unsigned size = 0;
	Flow flow = Flow::next;
	std::uint64_t target = 0; // of a call, jump or branch; 0: unknown
	std::uint8_t condition = 0;
	const char *no_exit = nullptr; // why the instruction cannot be probed as an exit
	bool can_be_probed = true, can_be_passed_over = false;
	std::uint64_t data = 0,
		      data_bytes = 0; // the operand's address; bytes 0: a number, possibly an address
};

struct JumpTable {
	std::uint64_t address = 0, bytes = 0;
	std::vector<std::uint64_t> targets; // empty: unknown
};

class Decoder {
public:
	Decoder() = default;
	Decoder(const Decoder &) = delete;
	Decoder &operator=(const Decoder &) = delete;
	virtual ~Decoder() = default;

	// `bytes`: up to the end of the part. False: there is no instruction.
	virtual bool decode(std::uint64_t address, std::span<const std::byte> bytes, Instruction &into) = 0;
	virtual bool is_padding(std::uint64_t address, std::span<const std::byte> bytes) = 0;
	// The table of the indirect jump at the end of `path`, one possible path to it.
	virtual JumpTable table_of(const std::vector<std::uint64_t> &path, const FunctionCode &code) = 0;
};

class ControlFlow {
public:
	ControlFlow(const FunctionCode &code, Decoder &decoder) : code_(code), decoder_(decoder) {}

	Exits run();

private:
	struct Reached {
		Instruction instruction;
		std::uint64_t from; // a predecessor; 0: none
	};

	void follow_all();
	void follow(std::uint64_t address, std::uint64_t from);
	bool follow_instruction(std::uint64_t address, std::uint64_t from);
	bool is_after_call(std::uint64_t end, std::uint64_t from) const;
	void add_jump(std::uint64_t address, const Instruction &instruction);
	void jump_to(std::uint64_t target, std::uint64_t from);
	void add_exit(std::uint64_t address, const Instruction &instruction);
	void follow_table(std::uint64_t jump);
	bool is_all_reached() const;
	bool is_part_reached(const CodePart &part) const;
	bool is_reached(std::uint64_t begin, std::uint64_t end) const;
	void find_entry();
	void check_result();
	void refuse(const char *why);
	const CodePart *part_of(std::uint64_t address) const;
	std::uint64_t start() const { return code_.parts.front().address; }

	const FunctionCode &code_;
	Decoder &decoder_;
	std::unordered_map<std::uint64_t, Reached> reached_;
	std::vector<std::pair<std::uint64_t, std::uint64_t>> waiting_; // address, from
	std::vector<std::uint64_t> targets_, indirect_;                // of jumps; jumps that are not resolved yet
	std::vector<std::pair<std::uint64_t, std::uint64_t>> data_;    // address, bytes
	std::vector<std::pair<std::uint64_t, std::uint64_t>> tables_;  // address, bytes
	bool is_unresolved_ = false;
	Exits found_;
};

} // namespace monitor::functions
