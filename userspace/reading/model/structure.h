// SPDX-License-Identifier: MIT
// The fourth stage of inference: how roles work together, decided from the relations of all recordings of a program.
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
	Found found;
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
	std::map<std::string, std::size_t> role_of;            // activity: place in roles
	std::map<std::string, std::string> locks;              // activity: the lock that it is done under
	std::map<std::string, std::string> before;             // activity: the one that it follows
	std::map<std::string, std::vector<std::string>> after; // and the other way round
	std::map<std::string, std::string> calls, called;      // activity: the one within it, the one around it
	// Steps of parallel activities, each a list of stages; a barrier after those that are true.
	struct Stage {
		std::string activity;
		bool has_barrier = false;
	};
	std::vector<std::vector<Stage>> steps;
	std::vector<std::string> because;

	// Items for it come in a queue, or are signalled.
	bool is_queued(const std::string &activity) const
	{
		return roles[role_of.at(activity)].mode == Role::Mode::pool;
	}
};

// Throws Refused: the recordings are not of one structure.
Structure find_structure(std::vector<Recording> &recordings);

} // namespace monitor::model
