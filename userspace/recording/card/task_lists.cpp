// SPDX-License-Identifier: MIT
#include "task_lists.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::card {
namespace {

template <class Record> std::vector<Record> read_list(const Fd &list)
{
	std::vector<Record> records;
	std::vector<std::byte> bytes(1 << 16);
	std::size_t kept = 0;
	for (ssize_t n; (n = ::read(list.get(), bytes.data() + kept, bytes.size() - kept)) > 0;) {
		kept += static_cast<std::size_t>(n);
		const std::size_t whole = kept / sizeof(Record);
		const std::size_t before = records.size();
		records.resize(before + whole);
		std::memcpy(records.data() + before, bytes.data(), whole * sizeof(Record));
		std::memmove(bytes.data(), bytes.data() + whole * sizeof(Record), kept -= whole * sizeof(Record));
	}
	return records;
}

Link attach_iterator(const bpf_program *program)
{
	Link link(bpf_program__attach_iter(program, nullptr));
	if (!link)
		throw Error(errno, fmt::format("cannot attach the task iterator ({})", first_warning()));
	return link;
}

} // namespace

void TaskLists::prepare(const bpf_program *tasks, unsigned lists, const bpf_program *progress)
{
	tasks_link_ = attach_iterator(tasks);
	for (unsigned i = 0; i < lists; ++i) {
		prepared_.emplace_back(bpf_iter_create(bpf_link__fd(tasks_link_.get())));
		if (!prepared_.back())
			throw Error(errno, "cannot open the task iterator");
	}
	if (progress)
		progress_link_ = attach_iterator(progress);
}

std::vector<edc_task> TaskLists::tasks()
{
	Fd list(tasks_link_ ? bpf_iter_create(bpf_link__fd(tasks_link_.get())) : -1);
	if (!list && !prepared_.empty()) {
		list = std::move(prepared_.back());
		prepared_.pop_back();
	}
	return list ? read_list<edc_task>(list) : std::vector<edc_task>();
}

std::vector<edc_progress> TaskLists::progress() const
{
	const Fd list(progress_link_ ? bpf_iter_create(bpf_link__fd(progress_link_.get())) : -1);
	return list ? read_list<edc_progress>(list) : std::vector<edc_progress>();
}

} // namespace monitor::card
