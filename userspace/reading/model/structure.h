// SPDX-License-Identifier: MIT
// The fourth stage of inference: the structure of a program (modes of roles, queues, locks, calls, barriers), from the
// relations in all its recordings.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "instances.h"
#include "model.h"
#include "relations.h"

namespace monitor::model {

struct Recording {
	Steps steps;
	FoundInstances found;
	std::vector<RoleThreads> roles; // in the order of Structure::roles
};

struct RolePlan {
	std::string name;
	std::vector<std::string> activities;
	std::size_t threads = 0;
	Role::Mode mode = Role::Mode::each;
	bool in_order = false;
	std::uint32_t capacity = 0;
};

struct Structure {
	std::vector<RolePlan> roles;
	// By activity:
	std::map<std::string, std::size_t> role_of;
	std::map<std::string, std::string> locks;              // the lock under which it is done
	std::map<std::string, std::string> before;             // the one that it follows
	std::map<std::string, std::vector<std::string>> after; // those that follow it
	std::map<std::string, std::string> calls, called;      // the one called during it; the one that calls it

	// Several threads do the stages of a step in parallel, with barriers in between.
	struct Stage {
		std::string activity;
		bool has_barrier = false; // after it
	};
	std::vector<std::vector<Stage>> steps;
	std::vector<std::string> because;

	// Whether its items come by a queue; else they are signalled.
	bool is_queued(const std::string &activity) const
	{
		return roles[role_of.at(activity)].mode == Role::Mode::pool;
	}
};

// Sorts the roles of all recordings as those of the first. Throws Refused if the structures differ.
Structure find_structure(std::vector<Recording> &recordings);

} // namespace monitor::model
