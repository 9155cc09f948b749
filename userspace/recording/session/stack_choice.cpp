// SPDX-License-Identifier: MIT
#include "stack_choice.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/suggestions.h"
#include "recording/card/classes.h"
#include "syscall_names.h" // generated: {number, "name"} of this architecture

namespace monitor::record {
namespace {

constexpr std::string_view call_prefix = "syscall:";

const std::map<std::string, std::vector<std::string>> names = {{"offcpu", {"sched_switch"}},
							       {"wake", {"sched_waking"}},
							       {"fault", {"page_fault_user", "page_fault_kernel"}},
							       {"exec", {"sched_process_exec"}}};

unsigned number_of(const std::string &name)
{
	std::vector<std::string> all;
	for (const auto &call : syscall_names) {
		if (name == call.name && call.number < EDC_STACK_CALLS)
			return call.number;
		all.emplace_back(call.name);
	}
	throw Error("--stacks: there is no system call {}.{}", name, suggestions(name, all));
}

void add(card::StackOptions &stacks, const std::string &class_name)
{
	if (std::ranges::find(stacks.events, class_name) == stacks.events.end())
		stacks.events.push_back(class_name);
}

} // namespace

card::StackOptions choose_stacks(const std::vector<std::string> &which, const std::vector<std::string> &classes,
				 unsigned rate_hz)
{
	card::StackOptions stacks;
	bool all_calls = false;
	for (const std::string &item : which) {
		if (item == "cpu") {
			stacks.timer_hz = rate_hz;
		} else if (item.starts_with(call_prefix)) {
			stacks.calls.push_back(number_of(item.substr(call_prefix.size())));
			add(stacks, "sys_enter");
		} else if (const auto known = names.find(item); known != names.end()) {
			for (const std::string &name : known->second)
				add(stacks, name);
		} else {
			throw Error("--stacks: '{}' is not one of cpu, offcpu, wake, fault, exec, syscall:NAME; a "
				    "command follows --, as in --stacks -- CMD",
				    item);
		}
	}
	for (const std::string &name : classes) {
		std::vector<std::string> all;
		for (const card::ClassRow &row : card::kernel_classes())
			if (std::string_view(row.family) != "stack" && std::string_view(row.family) != "sample")
				all.emplace_back(row.name);
		if (std::ranges::find(all, name) == all.end())
			throw Error("--stacks-on: there is no event class {}.{}", name, suggestions(name, all));
		add(stacks, name);
		all_calls |= name == "sys_enter";
	}
	if (all_calls)
		stacks.calls.clear();
	return stacks;
}

card::StackOptions samples_of_command()
{
	card::StackOptions stacks;
	stacks.timer_hz = 99; // not 100: avoid lockstep with 10 ms periods
	stacks.of_command = true;
	return stacks;
}

std::vector<std::string> families_of(const card::StackOptions &stacks)
{
	std::vector<std::string> families;
	if (stacks.any())
		families.emplace_back("stack");
	for (const std::string &name : stacks.events)
		families.push_back(card::family_of(name));
	return families;
}

} // namespace monitor::record
