// SPDX-License-Identifier: MIT
#include "model_rules.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "model_text.h"

namespace monitor::model {
namespace {

class Rules {
public:
	Rules(const Model &model, std::size_t role) : model_(model), index_(role), role_(model.roles[role]) {}

	std::string first_broken()
	{
		if (const std::string wrong = broken_by_mode(); !wrong.empty())
			return wrong;
		check_block(role_.body);
		return wrong_;
	}

private:
	std::string broken_by_mode() const
	{
		const bool is_pool = role_.mode == Role::Mode::pool;
		if (is_pool && (role_.body.empty() || role_.body[0].kind != Kind::take))
			return "the first operation of a pool is `take`";
		if (is_pool && role_.loop != 1)
			return "a pool has no `loop`: it has an iteration for each item that it takes";
		if (!is_pool && role_.capacity > 0)
			return "only a pool has a capacity: write `pool` before the number of threads";
		return "";
	}

	void refuse(const std::string &sentence)
	{
		if (wrong_.empty())
			wrong_ = sentence;
	}

	void check_block(const Block &block)
	{
		for (const Operation &operation : block) {
			check_operation(operation);
			const bool is_lock = operation.kind == Kind::lock;
			if (is_lock)
				held_.push_back(operation.name);
			for (const Block &inner : operation.blocks)
				check_block(inner);
			if (is_lock)
				held_.pop_back();
		}
	}

	void check_operation(const Operation &operation)
	{
		const bool is_pool = role_.mode == Role::Mode::pool;
		switch (operation.kind) {
		case Kind::take:
			if (!is_pool || &operation != role_.body.data())
				refuse("`take` is the first operation of a pool, and nowhere else");
			return;
		case Kind::reply:
			if (!is_pool)
				refuse("only a pool replies: write `pool` before the number of threads");
			return;
		case Kind::put:
		case Kind::call:
			return check_queue(operation);
		case Kind::signal:
			if (!has(model_.roles[operation.role], Kind::await))
				refuse(fmt::format("it signals {}, which has no `await`", target(operation)));
			return;
		case Kind::await:
			if (!is_signalled())
				refuse(fmt::format("it awaits {}, but no role has `signal {}`",
						   name_text(operation.name), name_text(role_.name)));
			return;
		case Kind::lock:
			if (std::ranges::find(held_, operation.name) != held_.end())
				refuse(fmt::format("it would wait for the lock {} that it has",
						   name_text(operation.name)));
			return;
		case Kind::barrier:
			if (is_pool)
				refuse("a pool cannot take part in a barrier: nobody knows which of its threads do");
			return;
		default:
			return;
		}
	}

	void check_queue(const Operation &operation)
	{
		const Role &other = model_.roles[operation.role];
		if (other.mode != Role::Mode::pool)
			refuse(fmt::format("{0} is not a pool: write `role {0} pool N: {{ take; ... }}`",
					   target(operation)));
		else if (operation.kind == Kind::call && !has(other, Kind::reply))
			refuse(fmt::format("it calls {}, which has no `reply`", target(operation)));
	}

	std::string target(const Operation &operation) const { return name_text(model_.roles[operation.role].name); }

	static bool has(const Role &role, Kind kind)
	{
		bool found = false;
		for_each_operation(role.body, [&](const Operation &operation) { found |= operation.kind == kind; });
		return found;
	}

	bool is_signalled() const
	{
		bool found = false;
		for (const Role &role : model_.roles)
			for_each_operation(role.body, [&](const Operation &operation) {
				found |= operation.kind == Kind::signal && operation.role == index_;
			});
		return found;
	}

	const Model &model_;
	std::size_t index_;
	const Role &role_;
	std::vector<std::string> held_;
	std::string wrong_;
};

} // namespace

std::string broken_rule(const Model &model, std::size_t role)
{
	return Rules(model, role).first_broken();
}

} // namespace monitor::model
