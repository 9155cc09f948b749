// SPDX-License-Identifier: MIT
#include "iterations.h"

#include <algorithm>
#include <map>
#include <span>

namespace monitor::model {
namespace {

// Of the latency after a delay, in ns: more is due to other programs.
constexpr std::uint32_t max_latency = 30'000;

// Makes the tree of one iteration.
class TreeBuilder {
public:
	TreeBuilder(const Recording &recording, std::size_t index, const Structure &structure, const Waits &waits)
	    : steps_(recording.steps), index_(index), structure_(structure), waits_(waits),
	      thread_roles_(thread_roles(recording))
	{
	}

	Iteration build(std::span<const Step> steps, std::size_t role)
	{
		Iteration made;
		iteration_ = &made;
		role_ = role;
		path_.clear();
		stage_ = 0;
		reply_.clear();
		for (const Step &step : steps)
			add_step(step);
		while (!path_.empty())
			close();
		if (!reply_.empty())
			reply();
		barriers(nullptr);
		return made;
	}

private:
	std::vector<Node> &nodes() { return path_.empty() ? iteration_->nodes : path_.back()->inside; }
	Gap &gap()
	{
		std::vector<Node> &here = nodes();
		if (!here.empty())
			return here.back().after;
		return path_.empty() ? iteration_->first : path_.back()->first;
	}
	Node &add(Kind kind, const std::string &name, std::size_t role = nothing)
	{
		nodes().push_back({kind, name, role, {}, {}, {}});
		return nodes().back();
	}
	// Nodes are added to the innermost node only, so pointers to those on the path stay valid.
	void open(Kind kind, const std::string &name, std::size_t role = nothing)
	{
		path_.push_back(&add(kind, name, role));
	}
	void close() { path_.pop_back(); }
	bool is_in(Kind kind) const { return !path_.empty() && path_.back()->kind == kind; }

	void add_step(const Step &step)
	{
		switch (step.kind) {
		case Step::Kind::run:
			(gap().uses.empty() ? gap().before : gap().after) += step.ns;
			return;
		case Step::Kind::begin:
			return begin(steps_.activities[step.what]);
		case Step::Kind::end:
			return end(steps_.activities[step.what]);
		case Step::Kind::wake:
			return wake(step);
		case Step::Kind::wait:
			return wait(step);
		}
	}

	void begin(const std::string &activity)
	{
		if (!structure_.role_of.contains(activity))
			return;
		barriers(&activity);
		if (const auto before = structure_.before.find(activity);
		    before != structure_.before.end() && !is_taken_by_pool(activity))
			add(Kind::await, before->second);
		if (const auto lock = structure_.locks.find(activity);
		    lock != structure_.locks.end() && !has_lock(lock->second))
			open(Kind::lock, lock->second);
		open(Kind::cpu, activity);
	}

	bool has_lock(const std::string &name) const
	{
		return std::ranges::any_of(
		    path_, [&](const Node *node) { return node->kind == Kind::lock && node->name == name; });
	}

	// Whether it is a pool's first activity, which needs no await.
	bool is_taken_by_pool(const std::string &activity) const
	{
		const RolePlan &role = structure_.roles[role_];
		return role.mode == Role::Mode::pool && role.activities.front() == activity;
	}

	void end(const std::string &activity)
	{
		const auto open = std::ranges::find_if(
		    path_, [&](const Node *node) { return node->kind == Kind::cpu && node->name == activity; });
		if (open == path_.end())
			return;
		const auto call = structure_.calls.find(activity);
		if (call != structure_.calls.end() && !has_call(**open) && is_in(Kind::cpu))
			add(Kind::call, "", structure_.role_of.at(call->second));
		while (!is_in(Kind::cpu) || path_.back()->name != activity)
			close();
		close();
		if (is_in(Kind::lock)) // taken for this activity
			close();
		if (const auto after = structure_.after.find(activity); after != structure_.after.end())
			for (const std::string &next : after->second)
				hand_over(next);
		if (structure_.called.contains(activity))
			reply_ = activity;
	}

	void hand_over(const std::string &next)
	{
		const std::size_t role = structure_.role_of.at(next);
		const bool is_queue = structure_.is_queued(next) && structure_.roles[role].activities.front() == next;
		add(is_queue ? Kind::put : Kind::signal, "", role);
	}

	static bool has_call(const Node &activity)
	{
		return std::ranges::any_of(activity.inside, [](const Node &node) { return node.kind == Kind::call; });
	}

	void reply()
	{
		add(Kind::reply, "");
		reply_.clear();
	}

	void wake(const Step &step)
	{
		const std::size_t role = step.what < thread_roles_.size() ? thread_roles_[step.what].role : nothing;
		if (role == nothing)
			return;
		const Waits::Cause cause = waits_.causes[index_][step.waking];
		if (!path_.empty() && path_.back()->kind == Kind::cpu) {
			const auto call = structure_.calls.find(path_.back()->name);
			if (call != structure_.calls.end() && !has_call(*path_.back()) &&
			    structure_.role_of.at(call->second) == role)
				return open(Kind::call, "", role);
		}
		if (!reply_.empty() && role == structure_.role_of.at(structure_.called.at(reply_)))
			return reply();
		if (cause == Waits::Cause::semaphore)
			gap().uses.push_back({false, waits_.semaphore_of[index_][step.waking]});
	}

	void wait(const Step &step)
	{
		switch (waits_.causes[index_][step.waking]) {
		case Waits::Cause::structure:
			if (is_in(Kind::call))
				close();
			else if (is_in(Kind::cpu) && !has_call(*path_.back()))
				if (const auto call = structure_.calls.find(path_.back()->name);
				    call != structure_.calls.end())
					add(Kind::call, "", structure_.role_of.at(call->second));
			return;
		case Waits::Cause::semaphore:
			gap().uses.push_back({true, waits_.semaphore_of[index_][step.waking]});
			return;
		case Waits::Cause::delay:
		case Waits::Cause::none:
			gap().delay += step.ns + std::min(step.latency, max_latency);
			return;
		}
	}

	// Adds the barriers before this activity, or, if it is null, up to the end of the iteration. A thread passes
	// all barriers of a step, including those after stages that it does not do.
	void barriers(const std::string *until)
	{
		const RolePlan &role = structure_.roles[role_];
		const auto is_of_role = [&role](const Structure::Stage &stage) {
			return std::ranges::find(role.activities, stage.activity) != role.activities.end();
		};
		for (const std::vector<Structure::Stage> &stages : structure_.steps) {
			const auto end =
			    until ? std::ranges::find(stages, *until, &Structure::Stage::activity) : stages.end();
			if (std::ranges::none_of(stages, is_of_role) || (until && end == stages.end()))
				continue;
			for (; stage_ < static_cast<std::size_t>(end - stages.begin()); ++stage_)
				if (stages[stage_].has_barrier)
					add(Kind::barrier, stages[stage_].activity);
			return;
		}
	}

	const Steps &steps_;
	const std::size_t index_;
	const Structure &structure_;
	const Waits &waits_;
	const std::vector<ThreadRole> thread_roles_;
	Iteration *iteration_ = nullptr;
	std::size_t role_ = 0;
	std::vector<Node *> path_;
	std::size_t stage_ = 0; // of its step, that it has reached
	std::string reply_;     // the called activity that has ended without a reply so far
};

// Divides the steps of a thread into iterations.
class IterationDivider {
public:
	IterationDivider(const Recording &recording, const Structure &structure)
	    : recording_(recording), structure_(structure)
	{
	}

	std::vector<std::span<const Step>> divide(std::uint32_t thread, const RolePlan &role) const
	{
		const std::vector<Step> &steps = recording_.steps.threads[thread].steps;
		return role.activities.empty() ? at_waits(steps) : at_activities(steps, first_activity(steps));
	}

private:
	bool is_modelled(const Step &step) const
	{
		return structure_.role_of.contains(recording_.steps.activities[step.what]);
	}

	std::uint32_t first_activity(const std::vector<Step> &steps) const
	{
		const auto found = std::ranges::find_if(
		    steps, [this](const Step &step) { return step.kind == Step::Kind::begin && is_modelled(step); });
		return found == steps.end() ? nothing : found->what;
	}

	// An iteration ends with a wait that a thread of the program ended.
	static std::vector<std::span<const Step>> at_waits(const std::vector<Step> &steps)
	{
		std::vector<std::span<const Step>> divided;
		std::size_t begin = 0;
		for (std::size_t i = 0; i < steps.size(); ++i)
			if (steps[i].kind == Step::Kind::wait && steps[i].what < unknown) {
				divided.push_back(std::span(steps).subspan(begin, i + 1 - begin));
				begin = i + 1;
			}
		return divided;
	}

	// An iteration begins with the first activity of the thread, or at the boundary() before that.
	std::vector<std::span<const Step>> at_activities(const std::vector<Step> &steps, std::uint32_t first) const
	{
		std::vector<std::span<const Step>> divided;
		std::size_t begin = steps.size(), gap = steps.size(), depth = 0;
		for (std::size_t i = 0; i < steps.size(); ++i) {
			const Step &step = steps[i];
			if (step.kind == Step::Kind::begin && is_modelled(step)) {
				if (depth == 0 && step.what == first) {
					const std::size_t at = begin == steps.size() ? i : boundary(steps, gap, i);
					if (begin != steps.size())
						divided.push_back(std::span(steps).subspan(begin, at - begin));
					begin = at;
				}
				++depth;
			} else if (step.kind == Step::Kind::end && is_modelled(step) && depth > 0 && --depth == 0) {
				gap = i + 1;
			}
		}
		if (begin == steps.size())
			return divided;
		std::size_t end = std::max(gap, begin); // of the last iteration: the first wait after its activities
		while (end < steps.size() && steps[end].kind != Step::Kind::wait)
			++end;
		divided.push_back(std::span(steps).subspan(begin, end - begin));
		return divided;
	}

	// After the last wait; else after the first wake-up; else in the middle.
	static std::size_t boundary(const std::vector<Step> &steps, std::size_t from, std::size_t to)
	{
		for (std::size_t i = to; i-- > from;)
			if (steps[i].kind == Step::Kind::wait)
				return i + 1;
		for (std::size_t i = from; i < to; ++i)
			if (steps[i].kind == Step::Kind::wake)
				return i + 1;
		return from + (to - from) / 2;
	}

	const Recording &recording_;
	const Structure &structure_;
};

// By thread and beginning.
using Keys = std::map<std::pair<std::uint32_t, std::uint64_t>, Key>;

Keys keys_of(const Recording &recording, const RolePlan &role)
{
	Keys keys;
	if (!role.activities.empty())
		for (const Instance &instance : recording.found.instances.at(role.activities.front()))
			keys[{instance.thread, instance.begin}] = instance.key;
	return keys;
}

} // namespace

std::vector<Iteration> find_iterations(const Recording &recording, std::size_t index, const Structure &structure,
				       const Waits &waits, std::size_t role)
{
	const RolePlan &plan = structure.roles[role];
	const Keys keys = keys_of(recording, plan);
	TreeBuilder builder(recording, index, structure, waits);
	const IterationDivider divider(recording, structure);
	std::vector<Iteration> iterations;
	for (std::uint32_t number = 0; number < plan.threads; ++number) {
		const std::uint32_t thread = recording.roles[role].threads[number];
		for (const std::span<const Step> steps : divider.divide(thread, plan)) {
			iterations.push_back(builder.build(steps, role));
			Iteration &iteration = iterations.back();
			iteration.thread = number;
			iteration.item = iterations.size() - 1;
			const auto begun = std::ranges::find_if(steps, [&](const Step &step) {
				return step.kind == Step::Kind::begin && keys.contains({thread, step.time});
			});
			if (begun != steps.end()) {
				iteration.begin = begun->time;
				iteration.item = keys.at({thread, begun->time}).item();
			}
		}
	}
	if (plan.mode != Role::Mode::each)
		std::ranges::stable_sort(iterations, {}, &Iteration::begin);
	return iterations;
}

} // namespace monitor::model
