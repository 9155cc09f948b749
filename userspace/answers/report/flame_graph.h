// SPDX-License-Identifier: MIT
// A web page with the stacks of a trace, or of two: flame graphs (Gregg, "The Flame Graph", ACM Queue 14/2, 2016) that
// can be searched and zoomed. A single file without external resources.
// The page is flame_graph.html with the data inserted at its mark. Names come from traces and are untrusted: they are
// JSON strings without any `<`, and the page shows them as text only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "call_tree.h"
#include "reading/ctf/clock.h"

namespace monitor::report {

// One graph of the page. `before`: for a comparison; widths are those of `tree`, colours show the difference of shares.
struct FlameGraph {
	std::string by; // as in --by
	bool is_time = false;
	const CallTree *tree = nullptr, *before = nullptr;
	const trace::Clock *clock = nullptr, *clock_before = nullptr;
};

struct FlamePage {
	std::string title, before; // of the recording; `before` is empty without a comparison
	std::vector<std::string> notes;
	std::vector<FlameGraph> graphs;
};

std::string flame_page(const FlamePage &page);

// The same as separate files, for a server that forbids inline scripts: it loads flame.css and flame.js.
std::string linked_flame_page(const FlamePage &page);
std::string_view flame_style();
std::string_view flame_script();

} // namespace monitor::report
