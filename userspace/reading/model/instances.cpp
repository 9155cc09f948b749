// SPDX-License-Identifier: MIT
#include "instances.h"

#include <algorithm>
#include <set>

namespace monitor::model {
namespace {

Instances all_instances(const Steps &steps)
{
	Instances found;
	for (std::uint32_t thread = 0; thread < steps.threads.size(); ++thread) {
		std::vector<std::pair<std::uint32_t, Instance>> open; // the innermost last
		for (const Step &step : steps.threads[thread].steps) {
			if (step.kind == Step::Kind::run && !open.empty()) {
				open.back().second.cpu_ns += step.ns;
			} else if (step.kind == Step::Kind::begin) {
				open.push_back({step.what, {{step.key, 0}, thread, step.time, 0, 0}});
			} else if (step.kind == Step::Kind::end && !open.empty() && open.back().first == step.what) {
				open.back().second.end = step.time;
				found[steps.activities[step.what]].push_back(open.back().second);
				open.pop_back();
			}
		}
	}
	return found;
}

// Without arguments, instances are numbered.
void set_keys(std::vector<Instance> &instances, bool has_argument)
{
	std::ranges::stable_sort(instances, {}, &Instance::begin);
	std::map<std::uint64_t, std::uint32_t> occurrences;
	for (std::size_t i = 0; i < instances.size(); ++i) {
		Key &key = instances[i].key;
		if (has_argument)
			key.occurrence = occurrences[key.argument]++;
		else
			key = {i, 0};
	}
}

// A thread without activities has a role if those with activities ended at least this many of its waits.
constexpr std::size_t min_handovers = 50;

std::vector<std::string> activities_of(const Steps &steps, const ThreadSteps &thread, const Instances &instances)
{
	std::vector<std::string> done;
	for (const Step &step : thread.steps)
		if (step.kind == Step::Kind::begin) {
			const std::string &name = steps.activities[step.what];
			if (instances.contains(name) && std::ranges::find(done, name) == done.end())
				done.push_back(name);
		}
	return done;
}

std::size_t handovers(const ThreadSteps &thread, const std::set<std::uint32_t> &partners)
{
	return static_cast<std::size_t>(std::ranges::count_if(thread.steps, [&](const Step &step) {
		return step.kind == Step::Kind::wait && partners.contains(step.what);
	}));
}

// "worker" of worker-1 and worker-2
std::string without_number(std::string name)
{
	const std::size_t end = name.find_last_not_of("0123456789");
	name.resize(end == std::string::npos ? name.size() : end + 1);
	while (name.size() > 1 && std::string_view("-_:/# ").find(name.back()) != std::string_view::npos)
		name.pop_back();
	return name;
}

std::string joined(const std::vector<std::string> &names)
{
	std::string text;
	for (const std::string &name : names)
		text += (text.empty() ? "" : "+") + name;
	return text;
}

// Roles without activities keep their names, by which those of several recordings are matched.
void make_unique(std::vector<RoleThreads> &roles)
{
	std::set<std::string> used;
	for (const bool has_activities : {false, true})
		for (RoleThreads &role : roles) {
			if (role.activities.empty() == has_activities)
				continue;
			const std::string name = role.name.empty() ? "unnamed" : role.name;
			role.name = name;
			for (unsigned number = 2; !used.insert(role.name).second; ++number)
				role.name = name + '-' + std::to_string(number);
		}
}

// By its threads' name, if it is the same for all, no other role's and not the program's; else by its activities.
void name_roles(std::vector<RoleThreads> &roles, const Steps &steps)
{
	std::map<std::string, std::size_t> users;
	for (RoleThreads &role : roles) {
		std::set<std::string> names;
		for (const std::uint32_t thread : role.threads)
			names.insert(without_number(steps.threads[thread].name));
		role.name = names.size() == 1 ? *names.begin() : "";
		++users[role.name];
	}
	const std::string program = steps.threads.empty() ? "" : without_number(steps.threads.front().name);
	for (RoleThreads &role : roles)
		if (!role.activities.empty() && (role.name.empty() || users[role.name] > 1 || role.name == program))
			role.name = joined(role.activities);
	make_unique(roles);
}

} // namespace

FoundInstances find_instances(const Steps &steps)
{
	FoundInstances found;
	Instances all = all_instances(steps);
	std::map<std::string, bool> has_argument;
	for (std::size_t i = 0; i < steps.activities.size(); ++i)
		has_argument[steps.activities[i]] = steps.has_argument[i];
	for (auto &[name, instances] : all)
		if (instances.size() >= min_instances) {
			set_keys(instances, has_argument[name]);
			found.first =
			    found.first == 0 ? instances.front().begin : std::min(found.first, instances.front().begin);
			for (const Instance &instance : instances)
				found.last = std::max(found.last, instance.end);
			found.instances[name] = std::move(instances);
		}
	if (steps.end > steps.begin && steps.begin > 0)
		found.elapsed = steps.end - steps.begin;
	for (const auto &[name, instances] : all)
		if (instances.size() == 1 && instances.front().begin <= found.first &&
		    instances.front().end >= found.last && !found.instances.empty()) {
			found.elapsed = instances.front().end - instances.front().begin;
			found.elapsed_of = name;
		}
	if (found.elapsed == 0)
		found.elapsed = found.last - found.first;
	return found;
}

std::vector<RoleThreads> find_roles(const Steps &steps, const Instances &instances)
{
	std::map<std::vector<std::string>, std::size_t> known; // by sorted activities: index in roles
	std::vector<RoleThreads> roles;
	std::set<std::uint32_t> with_activities;
	for (std::uint32_t thread = 0; thread < steps.threads.size(); ++thread) {
		const std::vector<std::string> done = activities_of(steps, steps.threads[thread], instances);
		if (done.empty())
			continue;
		with_activities.insert(thread);
		std::vector<std::string> sorted = done;
		std::ranges::sort(sorted);
		const auto [entry, is_new] = known.try_emplace(sorted, roles.size());
		if (is_new)
			roles.push_back({done, "", {}});
		roles[entry->second].threads.push_back(thread);
	}
	std::map<std::string, std::size_t> by_name;
	for (std::uint32_t thread = 0; thread < steps.threads.size(); ++thread) {
		if (with_activities.contains(thread) ||
		    handovers(steps.threads[thread], with_activities) < min_handovers)
			continue;
		const auto [entry, is_new] =
		    by_name.try_emplace(without_number(steps.threads[thread].name), roles.size());
		if (is_new)
			roles.push_back({{}, entry->first, {}});
		roles[entry->second].threads.push_back(thread);
	}
	name_roles(roles, steps);
	return roles;
}

} // namespace monitor::model
