// SPDX-License-Identifier: MIT
// The rules of the path of a command or a thread: what its time was made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "claims.h"

namespace monitor::explain {

class PathRules final : Claims {
public:
	// There is a path.
	PathRules(const Evidence &evidence, const Thresholds &thresholds);

	// In the order of the rules.
	std::vector<Finding> found();
	// After found(): the parts of the path that no finding is about, and the share of them that findings about file
	// locks have, which belongs to no single part.
	const std::vector<PathPart> &rest() const { return rest_; }
	double claimed_of_rest() const { return claimed_of_rest_; }

private:
	std::string functions_of(const std::string &name, Json &evidence) const;
	using NameOf = std::function<std::string(const PathPart &)>;
	void own_code(const char *key, What what, const NameOf &name_of, const std::string &text, const Command &more);
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

	// A finding is about these parts, or about this share of one: they are no longer in rest().
	void mark_claimed(What what, const std::function<bool(const PathPart &)> &is_one = {});
	void mark_claimed(const PathPart &part, double share);

	std::vector<PathPart> rest_;
	double claimed_of_rest_ = 0;
};

} // namespace monitor::explain
