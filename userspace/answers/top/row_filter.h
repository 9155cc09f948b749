// SPDX-License-Identifier: MIT
// Selects rows of `monitor top` by FDL: `top --rows 'cpu > 5 and name ~ "nginx*"'`, and the key \.
// Names are those of figure_columns(), values as shown: in percent, or per second. A name in backquotes means the
// measurement if a figure has the same name. Invariant: matches() never treats an unknown figure as 0.
#pragma once

#include <string>
#include <vector>

#include "columns.h"
#include "reading/filter/expression.h"

namespace monitor::top {

class RowFilter {
public:
	// Throws ParseError or Error: bad syntax, an unknown name, or constants of another kind.
	RowFilter(const std::string &untrusted_text, const std::vector<FigureColumn> &columns);

	const std::string &text() const { return text_; }
	bool matches(const Refresh &refresh, const RowCells &row) const;
	// The selected rows.
	report::Table rows(const Refresh &refresh) const;

private:
	void check(const filter::Expression &comparison) const;
	const FigureColumn *column(const filter::Expression &name) const;

	std::string text_;
	std::vector<FigureColumn> columns_;
	filter::Expression condition_;
};

} // namespace monitor::top
