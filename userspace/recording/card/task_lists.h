// SPDX-License-Identifier: MIT
// All threads there are, as the kernel's task iterator lists them (bpf/tasks.bpf.c). Owned by BpfCard.
#pragma once

#include <vector>

#include "base/fd.h"
#include "bpf_link.h"
#include "monitor/card.h"
#include "monitor/progress.h"

struct bpf_program;

namespace monitor::card {

class TaskLists {
public:
	// Opens the file descriptors of this many lists, while the process has the privilege. `progress`: the program
	// of the other list, null if it is not wanted. Throws Error.
	void prepare(const bpf_program *tasks, unsigned lists, const bpf_program *progress);
	// A new list where the kernel opens it without the privilege (5.19), else a prepared one. Empty: there is none.
	std::vector<edc_task> tasks();
	// How far all threads have come; empty: this kernel refuses to list them again without the privilege.
	std::vector<edc_progress> progress() const;

private:
	Link tasks_link_, progress_link_;
	std::vector<Fd> prepared_;
};

} // namespace monitor::card
