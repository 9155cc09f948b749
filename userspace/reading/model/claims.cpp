// SPDX-License-Identifier: MIT
#include "claims.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace monitor::model {
namespace {

constexpr std::size_t max_claims = 20'000; // they grow with the square of the activities at a barrier

// An operation in the sequence of all operations of a role, including those of all branches and forks.
struct Flat {
	const Operation *operation;
	std::vector<const Operation *> within; // the locks around it
};

void flatten(const Block &block, std::vector<const Operation *> &within, std::vector<Flat> &into)
{
	for (const Operation &operation : block) {
		into.push_back({&operation, within});
		const bool is_lock = operation.kind == Kind::lock;
		if (is_lock)
			within.push_back(&operation);
		for (const Block &inner : operation.blocks)
			flatten(inner, within, into);
		if (is_lock)
			within.pop_back();
	}
}

class Claims {
public:
	explicit Claims(const Model &model) : model_(model)
	{
		for (const Role &role : model.roles) {
			std::vector<const Operation *> within;
			flatten(role.body, within, flat_.emplace_back());
		}
	}

	std::vector<Relation> find()
	{
		for (std::size_t i = 0; i < flat_.size(); ++i) {
			for (std::size_t at = 0; at < flat_[i].size(); ++at)
				claim_operation(i, at);
			if (model_.roles[i].in_order)
				add({Relation::Kind::in_order, first_of(i), "", 0});
		}
		for (const auto &[name, around] : barriers_)
			for (const std::string &before : around.before)
				for (const auto &[after, is_next] : around.after)
					add({is_next ? Relation::Kind::next : Relation::Kind::barrier, before, after,
					     0});
		return std::move(claims_);
	}

private:
	static bool is_activity(const Operation &operation)
	{
		return operation.kind == Kind::cpu && !operation.name.empty();
	}

	void add(const Relation &relation)
	{
		const bool has_one_activity =
		    relation.kind == Relation::Kind::alone || relation.kind == Relation::Kind::in_order;
		if (relation.first.empty() || (!has_one_activity && relation.second.empty()))
			return; // there is no activity at that place
		if (!known_.insert(relation).second)
			return;
		if (claims_.size() == max_claims)
			throw Error("This model claims more than {} relations between its activities: give it fewer "
				    "activities at a barrier or under a lock.",
				    max_claims);
		claims_.push_back(relation);
	}

	// The last activity before this operation; activity_from(): the first one at or after it. "": there is none or,
	// with `stops_at_barrier`, a barrier is between.
	std::string activity_before(std::size_t role, std::size_t at, bool stops_at_barrier = false) const
	{
		while (at-- > 0) {
			if (is_activity(*flat_[role][at].operation))
				return flat_[role][at].operation->name;
			if (stops_at_barrier && flat_[role][at].operation->kind == Kind::barrier)
				return "";
		}
		return "";
	}

	std::string activity_from(std::size_t role, std::size_t at, bool stops_at_barrier = false) const
	{
		for (; at < flat_[role].size(); ++at) {
			if (is_activity(*flat_[role][at].operation))
				return flat_[role][at].operation->name;
			if (stops_at_barrier && flat_[role][at].operation->kind == Kind::barrier)
				return "";
		}
		return "";
	}

	std::string first_of(std::size_t role) const { return activity_from(role, 0); }

	void claim_operation(std::size_t role, std::size_t at)
	{
		const Operation &operation = *flat_[role][at].operation;
		switch (operation.kind) {
		case Kind::cpu:
			if (is_activity(operation))
				for (const Operation *lock : flat_[role][at].within)
					claim_lock(lock->name, operation.name);
			return;
		case Kind::put: {
			const Role &taker = model_.roles[operation.role];
			const std::string first = activity_before(role, at), second = first_of(operation.role);
			add({Relation::Kind::follows, first, second, 0});
			if (taker.capacity > 0)
				add(capacity_of(first, second, taker.capacity, taker.threads));
			return;
		}
		case Kind::await:
			return add({Relation::Kind::follows, operation.name, activity_from(role, at), 0});
		case Kind::call:
			return add({Relation::Kind::within, activity_before(role, at), first_of(operation.role), 0});
		case Kind::barrier:
			return claim_barrier(role, at, operation.name);
		default:
			return;
		}
	}

	void claim_lock(const std::string &name, const std::string &activity)
	{
		add({Relation::Kind::alone, activity, "", 0});
		for (const std::string &other : locks_[name])
			if (other != activity)
				add({Relation::Kind::alone, std::min(activity, other), std::max(activity, other), 0});
		locks_[name].insert(activity);
	}

	void claim_barrier(std::size_t role, std::size_t at, const std::string &name)
	{
		Around &around = barriers_[name];
		if (const std::string activity = activity_before(role, at, true); !activity.empty())
			around.before.push_back(activity);
		if (const std::string activity = activity_from(role, at + 1, true); !activity.empty())
			around.after.emplace_back(activity, false);
		else if (is_last_barrier(role, at) && model_.roles[role].loop != 1)
			around.after.emplace_back(activity_from(role, 0, true), true);
	}

	bool is_last_barrier(std::size_t role, std::size_t at) const
	{
		return std::ranges::none_of(flat_[role].begin() + static_cast<std::ptrdiff_t>(at) + 1,
					    flat_[role].end(),
					    [](const Flat &flat) { return flat.operation->kind == Kind::barrier; });
	}

	struct Around {
		std::vector<std::string> before;
		std::vector<std::pair<std::string, bool>> after; // and whether it is in the next iteration
	};

	const Model &model_;
	std::vector<std::vector<Flat>> flat_;
	std::map<std::string, Around> barriers_;
	std::map<std::string, std::set<std::string>> locks_; // their activities
	std::set<Relation> known_;
	std::vector<Relation> claims_;
};

} // namespace

std::vector<Relation> claims_of(const Model &model)
{
	return Claims(model).find();
}

std::vector<std::string> activities_of(const Model &model)
{
	std::vector<std::string> names;
	for (const Role &role : model.roles)
		for_each_operation(role.body, [&](const Operation &operation) {
			const bool is_activity = operation.kind == Kind::cpu && !operation.name.empty();
			if (is_activity && std::ranges::find(names, operation.name) == names.end())
				names.push_back(operation.name);
		});
	return names;
}

std::vector<double> times_in(const Model &model, const SampleSet &set, const std::string &activity)
{
	std::vector<double> times;
	for (std::size_t i = 0; i < model.roles.size(); ++i) {
		const RoleSamples &samples = set.roles[i];
		std::vector<double> sums(samples.items.size(), 0);
		for_each_operation(model.roles[i].body, [&](const Operation &operation) {
			if (operation.kind == Kind::cpu && operation.name == activity && operation.has_samples())
				for (std::size_t row = 0; row < sums.size(); ++row)
					sums[row] += static_cast<double>(samples.columns[operation.column][row]);
		});
		for (const double sum : sums)
			if (sum > 0)
				times.push_back(sum);
	}
	return times;
}

} // namespace monitor::model
