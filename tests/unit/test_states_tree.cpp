// SPDX-License-Identifier: MIT
// Trees of states: what their text means, and what is refused.
#include <string>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "reading/states/tree.h"

namespace test_states_tree {

using namespace monitor;
using states::Subject;
using states::Tree;

namespace {

const char *const text = "# a comment\n"
			 "of cpu\n"
			 "\n"
			 "interrupted: mode in {\"irq\", \"softirq\"}\n"
			 "\tirq: mode == \"irq\"\n"
			 "\t# another\n"
			 "\tsoft: mode == \"softirq\"\n"
			 "\t\tnet: cpu == 1\n"
			 "idle: state == \"idle\"\n"
			 "busy: state == \"running\"\n"
			 "  soft: mode == \"user\"\n";

std::vector<std::string> paths(const Tree &tree)
{
	std::vector<std::string> all;
	for (states::State state = 0; state < tree.count(); ++state)
		all.push_back(tree.path(state));
	return all;
}

std::string refused(const std::string &wrong)
{
	try {
		states::parse_tree(wrong, "my.tree");
	} catch (const Error &error) {
		return error.what();
	}
	return "accepted";
}

} // namespace

TEST_CASE("states: the leaves of a tree are numbered, and every node with children has a REST")
{
	const Tree tree = states::parse_tree(text, "my.tree");
	CHECK(tree.subject() == Subject::cpu);
	CHECK(paths(tree) == std::vector<std::string>{"REST", "interrupted/irq", "interrupted/soft/net",
						      "interrupted/soft/REST", "interrupted/REST", "idle", "busy/soft",
						      "busy/REST", "PAUSE", "unknown"});
	CHECK(tree.nodes()[tree.leaf(Tree::rest)].depth == 0);
	CHECK(tree.nodes()[tree.leaf(2)].condition == "cpu == 1");
	CHECK(tree.nodes()[tree.leaf(2)].line == 8);
	CHECK(tree.is_of_tree(7));
	CHECK_FALSE(tree.is_of_tree(tree.pause()));
}

TEST_CASE("states: a name means all states in or below the nodes whose path ends with it")
{
	const Tree tree = states::parse_tree(text, "my.tree");
	using Found = std::vector<states::State>;
	CHECK(tree.states_of("idle") == Found{5});
	CHECK(tree.states_of("soft") == Found{2, 3, 6});
	CHECK(tree.states_of("busy/soft") == Found{6});
	CHECK(tree.states_of("interrupted") == Found{1, 2, 3, 4});
	CHECK(tree.states_of("REST") == Found{0, 3, 4, 7});
	CHECK(tree.states_of("interrupted/REST") == Found{4});
	CHECK(tree.states_of("PAUSE") == Found{8});
	CHECK(tree.states_of("unknown") == Found{9});
	CHECK(tree.states_of("rupted") == Found{});
	CHECK(tree.states_of("cpu/idle") == Found{});
}

TEST_CASE("states: a text that is no tree is refused with the line")
{
	CHECK(refused("") == "my.tree does not begin with `of cpu`, `of thread` or `of machine`");
	CHECK(refused("of cpu\n") == "my.tree has no state: a line such as idle: state == \"idle\" makes one");
	CHECK(refused("idle: cpu == 1\n").starts_with("my.tree, line 1: a tree begins with `of cpu`"));
	CHECK(refused("of process\n").starts_with("my.tree, line 1: a tree begins with `of cpu`"));
	CHECK(refused("of cpu\nidle\n").starts_with("my.tree, line 2: a colon is missing"));
	CHECK(refused("of cpu\n\tidle: cpu == 1\n") == "my.tree, line 2: the first state is not indented");
	CHECK(refused("of cpu\n: cpu == 1\n").find("line 2: \"\" is not the name of a state") != std::string::npos);
	CHECK(refused("of cpu\n1st: cpu == 1\n").find("is not the name of a state") != std::string::npos);
	CHECK(refused("of cpu\na/b: cpu == 1\n").find("is not the name of a state") != std::string::npos);
	CHECK(refused("of cpu\na:\n") == "my.tree, line 2: a condition is missing after a:");
	CHECK(refused("of cpu\nREST: cpu == 1\n").find("REST is always there") != std::string::npos);
	CHECK(refused("of cpu\na: cpu == 1\nb: cpu == 2\na: cpu == 3\n") ==
	      "my.tree, line 4: the name a was given in line 2 already");
	CHECK(refused("of cpu\na: cpu == 1\n    b: cpu == 2\n  c: cpu == 3\n") ==
	      "my.tree, line 4: no state above is indented like this one");
	CHECK(refused("of cpu\na: cpu == 1\n\tb: cpu == 2\n        c: cpu == 3\n").find("tabs and spaces are mixed") !=
	      std::string::npos);
	std::string large = "of cpu\n", deep = large;
	for (std::size_t i = 0; i <= Tree::max_nodes; ++i)
		large += "s" + std::to_string(i) + ": cpu == 1\n";
	for (std::size_t i = 0; i <= Tree::max_depth; ++i)
		deep += std::string(i, '\t') + "a: cpu == 1\n";
	CHECK(refused(large).ends_with("a tree has at most 256 states"));
	CHECK(refused(deep).ends_with("a tree has at most 32 levels"));
	CHECK(refused(std::string(Tree::max_text_bytes + 1, '\n')).find("bytes") != std::string::npos);
}

} // namespace test_states_tree
