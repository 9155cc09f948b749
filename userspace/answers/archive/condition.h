// SPDX-License-Identifier: MIT
// A condition in FDL over the metadata of measurements: `monitor archive find 'command ~ "*pgbench*" and date >
// 2026-11-01'`.
// The names are those of an Entry. A date needs no quotes, and has the precision as written: all moments of a day equal
// that day. Invariant: matches() never treats an unknown value as 0.
#pragma once

#include <string>
#include <vector>

#include "entry.h"
#include "reading/filter/expression.h"

namespace monitor::archive {

class Condition {
public:
	// Throws ParseError or Error: bad syntax, an unknown name, or constants of another kind.
	explicit Condition(const std::string &untrusted_text);

	bool matches(const Entry &entry) const;
	// Figures in the expression, as `p99 of fsync` in backquotes: entries need their values before matches().
	const std::vector<std::string> &figures() const { return figures_; }

private:
	void check(filter::Expression &comparison);
	void check_name(filter::Expression &name);

	std::vector<std::string> figures_;
	filter::Expression condition_;
};

} // namespace monitor::archive
