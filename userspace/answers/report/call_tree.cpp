// SPDX-License-Identifier: MIT
#include "call_tree.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/ranges.h"

namespace monitor::report {
namespace {

// The kernel's frames between an event and its probe, and the monitor's own functions; also a kernel entry function
// that calls nothing, which adds nothing to the event.
bool is_probe(const std::string &function)
{
	for (const char *name : {"entry_SYSCALL_64_after_hwframe", "do_syscall_64", "asm_exc_page_fault",
				 "exc_page_fault", "syscall_trace_enter", "try_to_wake_up"})
		if (function == name)
			return true;
	for (const char *prefix : {"bpf_", "__bpf_", "__traceiter_", "trace_call_bpf", "perf_trace_", "perf_call_bpf",
				   "trace_event_raw_event_", "stack_trace_save", "arch_stack_walk",
				   "get_perf_callchain", "perf_tp_event", "perf_swevent"})
		if (function.starts_with(prefix))
			return true;
	return false;
}

// `why`: the reason in the trace's description; `module`: of the outermost frame, at which the walk ended.
std::string truncated_text(const std::string &why, const std::string &module)
{
	const bool is_of_file = why == "no rule" || why == "unknown rule" || why == "unreadable";
	return is_of_file && !module.empty() ? fmt::format("[truncated: {} in {}]", why, module)
					     : fmt::format("[truncated: {}]", why);
}

void append(std::vector<symbols::Name> &path, std::span<const symbols::Name> frames)
{
	path.insert(path.end(), frames.begin(), frames.end());
}

bool is_taken_for(StackBy by, analyze::StackSample::At at)
{
	using At = analyze::StackSample::At;
	switch (by) {
	case StackBy::cpu:
		return at == At::timer;
	case StackBy::offcpu:
	case StackBy::wait:
		return at == At::sched_switch;
	case StackBy::fault:
		return at == At::fault;
	case StackBy::other:
		break;
	}
	return at == At::other || at == At::sched_waking;
}

StackOwners owners_of(const analyze::ThreadFold &thread_fold)
{
	return {
	    [ran = thread_fold.scheduled_threads()](const analyze::Thread &thread) { return ran.contains(&thread); },
	    [&thread_fold](const analyze::Thread &thread) -> const std::string & {
		    return thread_fold.leader(thread).name;
	    },
	    [&thread_fold](std::uint32_t interrupt, std::uint32_t number) {
		    return thread_fold.kinds().interrupt_label(interrupt, number);
	    }};
}

} // namespace

CallTree::CallTree(const analyze::ThreadFold &thread_fold, const analyze::StackFold &fold,
		   symbols::Symbolizer &symbolizer, StackBy by, const Includes &includes)
    : CallTree(owners_of(thread_fold), fold, symbolizer, by, includes)
{
}

CallTree::CallTree(const StackOwners &owners, const analyze::StackFold &fold, symbols::Symbolizer &symbolizer,
		   StackBy by, const Includes &includes)
    : symbolizer_(symbolizer), by_(by), nodes_(1)
{
	for (const auto &[key, value] : fold.values())
		if (is_taken_for(by, key.at) && (!is_time(by) || owners.has_run(*key.thread)) &&
		    (!includes || includes(key, value)))
			add(key, value, is_time(by) ? value.blocked : value.count, owners, fold);
	sum_up();
}

std::uint32_t CallTree::child(std::uint32_t parent, symbols::Name name)
{
	const auto [found, is_new] = children_.try_emplace({parent, name}, static_cast<std::uint32_t>(nodes_.size()));
	if (is_new) {
		CallNode node;
		node.name = name;
		node.parent = parent;
		nodes_.push_back(node);
	}
	return found->second;
}

void CallTree::add_frames(std::vector<symbols::Name> &path, const analyze::StackFold::Ids &ids, std::int32_t process,
			  std::uint64_t time, const analyze::StackFold &fold, bool &is_truncated)
{
	const analyze::StackDescription *stack = ids.user ? fold.find(ids.user) : nullptr;
	is_truncated = ids.user && (!stack || !stack->is_whole || !stack->why_ended.empty());
	const std::size_t first_of_user = path.size();
	if (is_truncated)
		path.emplace_back();
	// A program's innermost frame is the address of its next instruction; all others are return addresses.
	for (std::size_t i = stack ? stack->frames.size() : 0; i-- > 0;)
		if (stack->frames[i])
			append(path, symbolizer_.user(process, time, stack->frames[i],
						      i > 0 || (ids.address && !ids.kernel)));
	if (ids.address && !ids.kernel)
		append(path, symbolizer_.user(process, time, ids.address, false));
	if (is_truncated) {
		const bool is_whole = stack && stack->is_whole;
		path[first_of_user] = symbolizer_.other(truncated_text(
		    is_whole ? stack->why_ended : "lost", is_whole && path.size() > first_of_user + 1
							      ? symbolizer_.names()[path[first_of_user + 1]].module
							      : ""));
	}
	if (ids.address && !ids.kernel)
		return;
	const std::size_t first_of_kernel = path.size();
	if (const analyze::StackDescription *stack = fold.find(ids.kernel))
		for (std::size_t i = stack->frames.size(); i-- > 0;)
			if (stack->frames[i])
				path.push_back(symbolizer_.kernel(stack->frames[i], true));
	if (ids.address) {
		path.push_back(symbolizer_.kernel(ids.address, false));
		return;
	}
	while (path.size() > first_of_kernel && is_probe(symbolizer_.names()[path.back()].function))
		path.pop_back();
}

// An interrupt's stack has kernel frames only: the interrupted program is unrelated.
void CallTree::add_waker(std::vector<symbols::Name> &path, const analyze::StackFold::StackKey &key, std::uint64_t time,
			 const StackOwners &owners, const analyze::StackFold &fold)
{
	const analyze::Waker &waker = key.waker;
	std::string name = "[waker unknown]";
	if (waker.interrupt >= 0)
		name = fmt::format("[woken by {}]",
				   owners.interrupt_label(static_cast<std::uint32_t>(waker.interrupt), waker.number));
	else if (waker.thread)
		name = fmt::format("[woken by {}]", waker.thread->name.empty() ? "?" : waker.thread->name);
	path.push_back(symbolizer_.other(name));
	if (!key.waker_ran)
		return;
	analyze::StackFold::Ids ids = key.woken_at;
	if (waker.interrupt >= 0)
		ids.user = 0;
	bool is_truncated = false;
	std::vector<symbols::Name> frames;
	add_frames(frames, ids, key.waker_ran->tgid, time, fold, is_truncated);
	shorten(frames);
	append(path, frames);
}

// Limits the depth, so that the tree can be walked recursively, whatever an untrusted file says was inlined.
void CallTree::shorten(std::vector<symbols::Name> &path)
{
	if (path.size() <= max_depth)
		return;
	const std::size_t left_out = path.size() - max_depth + 1;
	const auto first = path.begin() + max_depth / 2;
	*first = symbolizer_.other(fmt::format("[{} functions left out]", left_out));
	path.erase(first + 1, first + static_cast<std::ptrdiff_t>(left_out));
}

void CallTree::add(const analyze::StackFold::StackKey &key, const analyze::StackFold::Value &value,
		   std::uint64_t amount, const StackOwners &owners, const analyze::StackFold &fold)
{
	if (amount == 0)
		return;
	const std::string &name = owners.command(*key.thread);
	bool is_truncated = false;
	std::vector<symbols::Name> path;
	if (key.user == analyze::StackFold::since_before) {
		path.push_back(symbolizer_.other("[blocked since before stacks were taken]"));
		since_before_ += amount;
	} else if (key.user == analyze::StackFold::no_room) {
		path.push_back(symbolizer_.other(other));
		beyond_limit_ += amount;
	} else {
		add_frames(path, key, key.thread->tgid, value.time, fold, is_truncated);
		if (key.at == analyze::StackSample::At::timer && !key.address && !key.kernel)
			path.push_back(symbolizer_.other("[kernel]")); // its stack was not recorded
	}
	if (path.empty()) {
		path.push_back(symbolizer_.other("[no stack]"));
		without_stack_ += amount;
	}
	if (is_truncated)
		truncated_by_[path.front()] += amount;
	shorten(path);
	std::size_t before_waker = path.size() + 1;
	if (by_ == StackBy::wait)
		add_waker(path, key, value.woken, owners, fold);
	std::uint32_t node = child(0, symbolizer_.other(name.empty() ? "?" : name));
	if (by_ == StackBy::other && fold.has_several_events())
		node = child(node, symbolizer_.other(fmt::format("[at {}]", key.event ? *key.event : "sched_waking")));
	for (const symbols::Name frame : path) {
		node = child(node, frame);
		if (--before_waker == 0)
			nodes_[node].is_waker = true;
	}
	nodes_[node].self += amount;
}

// A node comes after its parent.
void CallTree::sum_up()
{
	for (std::uint32_t i = static_cast<std::uint32_t>(nodes_.size()); i-- > 0;) {
		nodes_[i].total += nodes_[i].self;
		if (i == 0)
			break;
		nodes_[nodes_[i].parent].total += nodes_[i].total;
		nodes_[nodes_[i].parent].children.push_back(i);
	}
	for (CallNode &node : nodes_)
		std::ranges::stable_sort(node.children, [&](std::uint32_t a, std::uint32_t b) {
			return nodes_[a].total != nodes_[b].total ? nodes_[a].total > nodes_[b].total
								  : symbolizer_.names()[nodes_[a].name].function <
									symbolizer_.names()[nodes_[b].name].function;
		});
}

std::uint64_t CallTree::truncated() const
{
	return sum_of_all<std::uint64_t>(truncated_by_, [](const auto &each) { return each.second; });
}

std::vector<CallTree::Truncated> CallTree::truncated_by() const
{
	std::vector<Truncated> found;
	for (const auto &[name, amount] : truncated_by_)
		found.push_back({symbolizer_.names()[name].function, amount});
	std::ranges::stable_sort(found, std::greater<>(), &Truncated::amount);
	return found;
}

std::vector<CallTree::Function> CallTree::functions() const
{
	std::unordered_map<symbols::Name, Function> by_name;
	std::unordered_map<symbols::Name, unsigned> on_path;
	const auto visit = [&](const auto &self, std::uint32_t number) -> void {
		const CallNode &node = nodes_[number];
		Function &function = by_name[node.name];
		function.name = node.name;
		function.self += node.self;
		if (on_path[node.name]++ == 0)
			by_name[node.name].total += node.total;
		for (const std::uint32_t child : node.children)
			if (nodes_[child].is_waker)
				by_name[node.name].self += nodes_[child].total;
			else
				self(self, child);
		--on_path[node.name];
	};
	for (const std::uint32_t process : nodes_[0].children)
		for (const std::uint32_t function : nodes_[process].children)
			visit(visit, function);
	auto all = list_of<Function>(by_name, [](const auto &each) { return each.second; });
	std::ranges::sort(all, [&](const Function &a, const Function &b) {
		return a.self != b.self ? a.self > b.self
		       : a.total != b.total
			   ? a.total > b.total
			   : symbolizer_.names()[a.name].function < symbolizer_.names()[b.name].function;
	});
	return all;
}

} // namespace monitor::report
