// SPDX-License-Identifier: MIT
#include "waits.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace monitor::model {
namespace {

constexpr double min_semaphore_share = 0.02; // wake-ups per iteration of the woken role, for a semaphore
constexpr double min_paired = 0.95;          // of the wake-ups between two roles, for own semaphores
constexpr double max_unexplained = 0.3;      // of the waiting time

class Explainer {
public:
	Explainer(const std::vector<Recording> &recordings, const Structure &structure)
	    : recordings_(recordings), structure_(structure)
	{
		waits_.causes.resize(recordings.size());
		waits_.semaphore_of.resize(recordings.size());
	}

	Waits explain()
	{
		for (std::size_t i = 0; i < recordings_.size(); ++i)
			explain(i);
		if (waited_ > 0 && static_cast<double>(unexplained_) > max_unexplained * static_cast<double>(waited_))
			throw Refused(
			    fmt::format("No activity or wake-up says what these threads wait for ({:.0f} % of their "
					"waits unexplained).",
					100 * static_cast<double>(unexplained_) / static_cast<double>(waited_)));
		choose_semaphores();
		waits_.because =
		    fmt::format("waits: {} explained by the above, {} sleeps, {} kept as wake-ups, {} kept as delays",
				by_structure_, sleeps_, by_semaphore_, delays_);
		return std::move(waits_);
	}

private:
	struct Between { // two roles
		std::uint64_t count = 0, paired = 0;
		std::vector<std::pair<std::size_t, std::uint32_t>> wakings; // recording, number

		void add(std::size_t recording, std::uint32_t waking, bool is_pair)
		{
			++count;
			paired += is_pair;
			wakings.emplace_back(recording, waking);
		}
	};
	// The activities around, after and before a wait; "": none.
	struct Context {
		const std::string &inside, &next, &last;
	};

	void explain(std::size_t index)
	{
		const Recording &recording = recordings_[index];
		const std::vector<ThreadRole> roles_of = thread_roles(recording);
		std::uint32_t wakings = 0;
		for (const ThreadSteps &thread : recording.steps.threads)
			for (const Step &step : thread.steps)
				wakings = std::max(wakings, step.waking);
		waits_.causes[index].assign(wakings + 1, Waits::Cause::none);
		waits_.semaphore_of[index].assign(wakings + 1, nothing);
		for (std::uint32_t thread = 0; thread < roles_of.size(); ++thread)
			if (roles_of[thread].role != nothing)
				explain(index, thread, roles_of);
	}

	bool is_modelled(const std::string &activity) const { return structure_.role_of.contains(activity); }

	void explain(std::size_t index, std::uint32_t thread, const std::vector<ThreadRole> &roles_of)
	{
		const Steps &steps = recordings_[index].steps;
		const std::vector<Step> &done = steps.threads[thread].steps;
		std::vector<std::uint32_t> next(done.size() + 1, nothing); // the next activity to begin
		for (std::size_t i = done.size(); i-- > 0;) {
			const bool begins =
			    done[i].kind == Step::Kind::begin && is_modelled(steps.activities[done[i].what]);
			next[i] = begins ? done[i].what : next[i + 1];
		}
		std::vector<std::string> open;
		std::string last;
		// Waits before its first activity and after its last one belong to its start and end.
		bool has_begun = structure_.roles[roles_of[thread].role].activities.empty();
		const bool is_by_name = has_begun;
		for (std::size_t i = 0; i < done.size(); ++i) {
			const Step &step = done[i];
			if (step.kind == Step::Kind::begin && is_modelled(steps.activities[step.what])) {
				open.push_back(steps.activities[step.what]);
				has_begun = true;
			} else if (step.kind == Step::Kind::end && !open.empty() &&
				   open.back() == steps.activities[step.what]) {
				last = open.back();
				open.pop_back();
			} else if (step.kind == Step::Kind::wait && has_begun &&
				   (is_by_name || !open.empty() || next[i] != nothing)) {
				const std::string &next_name = next[i] == nothing ? none_ : steps.activities[next[i]];
				explain_wait(index, step, roles_of[thread], roles_of,
					     {open.empty() ? none_ : open.back(), next_name, last});
			}
		}
	}

	void explain_wait(std::size_t index, const Step &wait, const ThreadRole &waiter,
			  const std::vector<ThreadRole> &roles_of, const Context &context)
	{
		waited_ += wait.ns;
		Waits::Cause &cause = waits_.causes[index][wait.waking];
		cause = Waits::Cause::delay;
		if (wait.is_timed) {
			++sleeps_;
			return;
		}
		const ThreadRole waker = wait.what < roles_of.size() ? roles_of[wait.what] : ThreadRole();
		if (waker.role == nothing) {
			unexplained_ += wait.what == interrupt ? 0 : wait.ns;
			++delays_;
		} else if (is_of_structure(waiter.role, context)) {
			cause = Waits::Cause::structure;
			++by_structure_;
		} else {
			between_[{waker.role, waiter.role}].add(index, wait.waking, waker.number == waiter.number);
		}
	}

	bool is_of_structure(std::size_t role, const Context &context) const
	{
		if (!context.inside.empty())
			return structure_.calls.contains(context.inside);
		const RolePlan &plan = structure_.roles[role];
		for (const std::string &activity : plan.activities)
			if (structure_.called.contains(activity) || structure_.before.contains(activity))
				return true;
		for (const auto &stages : structure_.steps)
			for (const Structure::Stage &stage : stages)
				if (std::ranges::find(plan.activities, stage.activity) != plan.activities.end())
					return true;
		return structure_.locks.contains(context.next) || structure_.after.contains(context.last);
	}

	std::uint64_t iterations(std::size_t role) const
	{
		const RolePlan &plan = structure_.roles[role];
		std::uint64_t count = 0;
		for (const Recording &recording : recordings_)
			if (!plan.activities.empty())
				count += recording.found.instances.at(plan.activities.front()).size();
		return count;
	}

	void choose_semaphores()
	{
		for (const auto &[roles, between] : between_) {
			const bool is_rare = static_cast<double>(between.count) <
					     min_semaphore_share * static_cast<double>(iterations(roles.second));
			if (is_rare) {
				delays_ += between.count;
				continue;
			}
			by_semaphore_ += between.count;
			const RolePlan &from = structure_.roles[roles.first], &to = structure_.roles[roles.second];
			const bool is_own =
			    &from != &to && from.threads == to.threads && to.threads > 1 &&
			    static_cast<double>(between.paired) >= min_paired * static_cast<double>(between.count);
			const auto index = static_cast<std::uint32_t>(waits_.semaphores.size());
			waits_.semaphores.push_back({roles.first, roles.second, is_own, from.name + "." + to.name});
			for (const auto &[recording, waking] : between.wakings) {
				waits_.causes[recording][waking] = Waits::Cause::semaphore;
				waits_.semaphore_of[recording][waking] = index;
			}
		}
	}

	const std::vector<Recording> &recordings_;
	const Structure &structure_;
	const std::string none_;
	Waits waits_;
	std::map<std::pair<std::size_t, std::size_t>, Between> between_;
	std::uint64_t waited_ = 0, unexplained_ = 0;
	std::uint64_t by_structure_ = 0, by_semaphore_ = 0, sleeps_ = 0, delays_ = 0;
};

} // namespace

Waits explain_waits(const std::vector<Recording> &recordings, const Structure &structure)
{
	return Explainer(recordings, structure).explain();
}

std::vector<ThreadRole> thread_roles(const Recording &recording)
{
	std::vector<ThreadRole> roles_of(recording.steps.threads.size());
	for (std::size_t role = 0; role < recording.roles.size(); ++role)
		for (std::uint32_t i = 0; i < recording.roles[role].threads.size(); ++i)
			roles_of[recording.roles[role].threads[i]] = {role, i};
	return roles_of;
}

} // namespace monitor::model
