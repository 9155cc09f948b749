// SPDX-License-Identifier: MIT
// Lists all threads by the kernel's task iterator (bpf/tasks.bpf.c). Owned by BpfCard.
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
	// Opens iterators for this many lists, while the process has the privilege. `progress`: the program of
	// progress(), or null. Throws Error.
	void prepare(const bpf_program *tasks, unsigned lists, const bpf_program *progress);
	// Uses a new iterator if the kernel needs no privilege (5.19), else a prepared one. Empty: none left.
	std::vector<edc_task> tasks();
	// Progress of all threads; empty: the kernel needs the privilege to list them again.
	std::vector<edc_progress> progress() const;

private:
	Link tasks_link_, progress_link_;
	std::vector<Fd> prepared_;
};

} // namespace monitor::card
