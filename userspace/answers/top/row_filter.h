// SPDX-License-Identifier: MIT
// Which rows `monitor top` shows, in FDL: `top --rows 'cpu > 5 and name ~ "nginx*"'`, and the key \.
//
// The names are those of figure_columns(), the figures as they are shown: in per cent, or a second; in backquotes a
// name is rather that of what counters measured. Invariant: takes() never takes an unknown figure for 0.
#pragma once

#include <string>
#include <vector>

#include "columns.h"
#include "reading/filter/expression.h"

namespace monitor::top {

class RowFilter {
public:
	// Throws Refusal or Error: bad syntax, a name that there is not, or constants of another kind.
	RowFilter(const std::string &untrusted_text, const std::vector<FigureColumn> &columns);

	const std::string &text() const { return text_; }
	bool takes(const Refresh &refresh, const RowCells &row) const;
	// Only those rows.
	report::Table rows(const Refresh &refresh) const;

private:
	void check(const filter::Expression &comparison) const;
	const FigureColumn *column(const filter::Expression &name) const;

	std::string text_;
	std::vector<FigureColumn> columns_;
	filter::Expression condition_;
};

} // namespace monitor::top
