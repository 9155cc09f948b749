// SPDX-License-Identifier: MIT
// The stacks of a trace, or of two, as a page for a browser: flame graphs (Gregg, "The Flame Graph", ACM Queue 14/2,
// 2016) that can be searched and zoomed. One file that loads nothing else.
//
// The page is flame_graph.html with the data in place of its one mark. Names come from traces and are untrusted: they
// are JSON strings without any `<`, and the page shows them as text only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "call_tree.h"
#include "reading/ctf/clock.h"

namespace monitor::report {

// One graph of the page. With `before` it shows what became of the calls of that trace: widths are those of `tree`,
// colours the difference of shares.
struct FlameGraph {
	std::string by; // as --by calls it
	bool is_time = false;
	const CallTree *tree = nullptr, *before = nullptr;
	const trace::Clock *clock = nullptr, *clock_before = nullptr;
};

struct FlamePage {
	std::string title, before; // what was recorded; `before` is empty without a comparison
	std::vector<std::string> notes;
	std::vector<FlameGraph> graphs;
};

std::string flame_page(const FlamePage &page);

// The same in parts, for a server that allows no script within a page: it loads flame.css and flame.js.
std::string linked_flame_page(const FlamePage &page);
std::string_view flame_style();
std::string_view flame_script();

} // namespace monitor::report
