// SPDX-License-Identifier: MIT
// The programs of a BPF card: opens them, selects those to load according to what is recorded and what the kernel has,
// sets their constants, and loads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "card_memory.h"
#include "function_probes.h"

struct card;
struct bpf_program;

namespace monitor::card {

class CardPrograms {
public:
	// Opens them. Throws Error, as load() does with the remedy if the kernel rejects them.
	explicit CardPrograms(const CardMemory &memory);
	~CardPrograms();
	CardPrograms(const CardPrograms &) = delete;
	CardPrograms &operator=(const CardPrograms &) = delete;

	::card *skeleton() const { return skeleton_; }
	// The BPF object that they are opened from.
	static std::string_view object();

	// Between opening and loading.
	void configure(FunctionProbes &functions);
	// After all others have set their constants: which classes need the shortest way only (bpf/ring.bpf.h). With
	// MONITOR_FULL_PROBES in the environment, none.
	void choose_plain();
	void load();

	// Whether the class that this program posts is recorded.
	bool wanted(const std::string &program) const;
	bool is_of_module(const std::string &event) const;
	// What is attached by its own name: classes of the module, and programs that are loaded.
	std::vector<std::string> names() const;
	bpf_program *find(const std::string &name) const; // null: there is none
	bpf_program *reset(std::size_t number) const;     // of CardOptions::resets
	bpf_program *trial_reset() const;
	// Requested classes that this kernel lacks.
	const std::vector<std::string> &lacking() const { return lacking_; }

private:
	void configure_constants();
	void configure_maps();
	void configure_counters();
	void select(bpf_program *program);

	const CardMemory &memory_;
	const CardOptions &options_;
	::card *skeleton_;
	std::vector<std::string> lacking_;
};

} // namespace monitor::card
