// SPDX-License-Identifier: MIT
// The rules of the path of a command or a thread: what its time was made of.
#pragma once

#include <string>
#include <vector>

#include "claims.h"

namespace monitor::explain {

class PathRules final : Claims {
public:
	using Claims::Claims; // there is a path

	// By rule.
	std::vector<Finding> found();

private:
	std::string functions_of(const std::string &name, Json &evidence) const;
	void own_code(const char *key, const std::string &name, double share, const std::string &what,
		      const Command &more);
	const PathThread *only_thread() const;
	void one_thread(const PathThread &thread);
	void code();
	void interrupts();
	void sleeps();
	Amounts without_inversions(Amounts behind) const;
	void waits();
	void ready();
	void handover();
	void inversion();
};

} // namespace monitor::explain
