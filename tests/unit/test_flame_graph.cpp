// SPDX-License-Identifier: MIT
// Stacks as trees of calls and as a page: who waited for whom, what a second trace has more of, and names that would
// like to be a part of the page. One tick is one nanosecond.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "answers/report/flame_graph.h"
#include "base/json.h"
#include "reading/analyze/stacks.h"
#include "stack_history.h"

namespace test_flame_graph {

using namespace monitor;
using namespace history;
using report::StackBy;
namespace fs = std::filesystem;

namespace {

struct Folded {
	explicit Folded(Stacks &history, const std::string &directory = "/nowhere")
	    : info(make_info(0, 1000, true, false)), trace(samples::trace(history.all(), events + stack_events)),
	      fold(trace, info), symbolizer(directory)
	{
		fold.add(stacks);
		feed(trace, fold);
	}
	report::CallTree tree(StackBy by) { return {fold, stacks, symbolizer, by}; }
	// "function;function amount", as --folded has it, without the process.
	std::vector<std::string> folded(StackBy by)
	{
		const report::CallTree tree = this->tree(by);
		std::vector<std::string> lines;
		for (std::uint32_t i = 1; i < tree.nodes().size(); ++i) {
			if (!tree.nodes()[i].self)
				continue;
			std::string line;
			for (std::uint32_t at = i; tree.nodes()[at].parent; at = tree.nodes()[at].parent)
				line.insert(0, tree.name(tree.nodes()[at]).function + (line.empty() ? "" : ";"));
			lines.push_back(line + " " + std::to_string(tree.nodes()[i].self));
		}
		std::ranges::sort(lines);
		return lines;
	}

	analyze::RecordingInfo info;
	trace::Trace trace;
	analyze::ThreadFold fold;
	symbols::Symbolizer symbolizer;
	analyze::StackFold stacks;
};

// 7 sleeps twice in the same place: from 300 until 8 wakes it, and from 500 until an interrupt does.
Stacks sleeper(bool has_second_stack = true)
{
	Stacks history;
	history.describe(0xa, {0x1001, 0x2001});
	history.describe(0xb, {0x3001, 0x2001});
	history.switches(0, 100, 0, running, 7);
	history.sample(0, 110, 0, 7, 0x1500, 0xa);
	history.sample(0, 120, 0, 7, 0x1500, 0xa);
	history.switches(0, 300, 7, sleeping, 0);
	history.sample(0, 300, EDC_ID_SCHED_SWITCH, 7, 0, 0xa);
	history.switches(1, 310, 0, running, 8);
	history.wakes(1, 340, 7);
	history.sample(1, 340, EDC_ID_SCHED_WAKING, 8, 0, 0xb);
	history.switches(0, 350, 0, running, 7);
	history.switches(0, 500, 7, sleeping, 0);
	if (has_second_stack)
		history.sample(0, 500, EDC_ID_SCHED_SWITCH, 7, 0, 0xa);
	history.posts(0, 520, EDC_ID_IRQ_HANDLER_ENTRY, 3);
	history.wakes(0, 525, 7);
	history.posts(0, 530, EDC_ID_IRQ_HANDLER_EXIT, 1);
	history.switches(0, 550, 0, running, 7);
	return history;
}

// A directory with the names of the kernel's functions.
class NamedFunctions {
public:
	explicit NamedFunctions(const std::string &list)
	    : path_(fs::temp_directory_path() / fmt::format("flame-graph-{}-{}", ::getpid(), count_++))
	{
		fs::create_directories(path_ / ".monitor");
		std::ofstream(path_ / ".monitor" / "kallsyms") << list;
	}
	~NamedFunctions() { fs::remove_all(path_); }
	NamedFunctions(const NamedFunctions &) = delete;
	operator std::string() const { return path_; }

private:
	static inline int count_ = 0;
	fs::path path_;
};

nlohmann::json data_of(const std::string &page)
{
	const std::string mark = "id=\"data\" type=\"application/json\">";
	const std::size_t from = page.find(mark) + mark.size();
	return parse_json<nlohmann::json>(page.substr(from, page.find("</script>", from) - from));
}

// "before now" of each function of the first graph.
std::map<std::string, std::string> amounts_of(const nlohmann::json &data)
{
	const nlohmann::json &graph = data["graphs"][0];
	std::map<std::string, std::string> amounts;
	for (std::size_t i = 0; i < graph["name"].size(); ++i)
		amounts[data["names"][graph["name"][i].get<std::size_t>()][0]] =
		    graph["before"][i].dump() + " " + graph["total"][i].dump();
	return amounts;
}

} // namespace

TEST_CASE("stacks: the waker follows below what slept, and the sums stay")
{
	Stacks history = sleeper();
	Folded folded(history);
	CHECK(folded.folded(StackBy::cpu) == std::vector<std::string>{"kernel+0x2000;kernel+0x1000;kernel+0x1500 2"});
	CHECK(folded.folded(StackBy::offcpu) == std::vector<std::string>{"kernel+0x2000;kernel+0x1000 65"});
	CHECK(folded.folded(StackBy::wait) ==
	      std::vector<std::string>{"kernel+0x2000;kernel+0x1000;[woken by ?];kernel+0x2000;kernel+0x3000 40",
				       "kernel+0x2000;kernel+0x1000;[woken by irq:3] 25"});
	CHECK(folded.stacks.has_wakers());
	// What the waker did is not what the sleeper did.
	for (const report::CallTree::Function &function : folded.tree(StackBy::wait).functions()) {
		const std::string &name = folded.symbolizer.names()[function.name].function;
		CHECK((name == "kernel+0x1000" || name == "kernel+0x2000"));
		CHECK(function.total == 65);
		CHECK(function.self == (name == "kernel+0x1000" ? 65 : 0));
	}
}

TEST_CASE("stacks: a sleep whose stack was not taken does not have that of the one before")
{
	Stacks history = sleeper(false);
	CHECK(Folded(history).folded(StackBy::offcpu) ==
	      std::vector<std::string>{"[no stack] 25", "kernel+0x2000;kernel+0x1000 40"});
}

TEST_CASE("stacks: a wake-up's stack belongs to the sleep that it ended")
{
	Stacks history = sleeper();
	history.sample(0, 560, EDC_ID_SCHED_WAKING, 7, 0, 0xb); // it woke nobody who is known
	Folded folded(history);
	CHECK(folded.folded(StackBy::wait).size() == 2);
	CHECK(folded.tree(StackBy::wait).total() == 65);
	CHECK(folded.folded(StackBy::other) == std::vector<std::string>{"kernel+0x2000;kernel+0x3000 2"});
}

TEST_CASE("flame graph: the page has what the tree has")
{
	Stacks history = sleeper();
	Folded folded(history);
	const report::CallTree tree = folded.tree(StackBy::offcpu);
	const trace::Clock &clock = folded.trace.description().clock;
	const std::string page = report::flame_page(
	    {"</script><script>alert(1)</script>", "", {"<b>"}, {{"offcpu", true, &tree, nullptr, &clock, nullptr}}});
	CHECK(page.find("alert(1)</script>") == std::string::npos);
	CHECK(page.find("<b>") == std::string::npos);
	const nlohmann::json data = data_of(page);
	CHECK(data["title"] == "</script><script>alert(1)</script>");
	const nlohmann::json &graph = data["graphs"][0];
	CHECK(graph["unit"] == "ns");
	CHECK(graph["depth"] == nlohmann::json({0, 1, 2, 3}));
	CHECK(graph["total"] == nlohmann::json({65, 65, 65, 65}));
	CHECK_FALSE(graph.contains("before"));
	CHECK(data["names"][graph["name"][3].get<std::size_t>()] == nlohmann::json({"kernel+0x1000", "kernel kernel"}));
}

TEST_CASE("flame graph: two traces are one tree, with what each has")
{
	Stacks history = sleeper(), other;
	other.describe(0xc, {0x1001, 0x2001});
	other.describe(0xd, {0x4001, 0x2001});
	other.switches(0, 100, 0, running, 9);
	other.sample(0, 110, 0, 9, 0x1500, 0xc); // other ids and threads, the same functions
	other.sample(0, 120, 0, 9, 0x5000, 0xd);
	Folded before(history), now(other);
	const report::CallTree old_tree = before.tree(StackBy::cpu), tree = now.tree(StackBy::cpu);
	const trace::Clock &clock = now.trace.description().clock;
	const nlohmann::json data =
	    data_of(report::flame_page({"now", "before", {}, {{"cpu", false, &tree, &old_tree, &clock, &clock}}}));
	const nlohmann::json &graph = data["graphs"][0];
	CHECK(amounts_of(data) == std::map<std::string, std::string>{{"all", "2 2"},
								     {"?", "2 2"},
								     {"kernel+0x2000", "2 2"},
								     {"kernel+0x1000", "2 1"},
								     {"kernel+0x1500", "2 1"},
								     {"kernel+0x4000", "0 1"},
								     {"kernel+0x5000", "0 1"}});
	CHECK(graph["depth"].size() == 7);
}

TEST_CASE("flame graph: a function of two builds is one, whatever compilers add to its name")
{
	Stacks history = sleeper(), other;
	other.describe(0xc, {0x1001, 0x2001});
	other.describe(0xd, {0x3001, 0x2001});
	other.switches(0, 100, 0, running, 9);
	other.sample(0, 110, 0, 9, 0x1500, 0xc);
	other.sample(0, 115, 0, 9, 0x1500, 0xc);
	other.sample(0, 120, 0, 9, 0x1500, 0xd);
	const NamedFunctions old_names("1000 work.llvm.1\n1500 leaf\n2000 caller\n"),
	    names("1000 work.llvm.2\n1500 leaf\n2000 caller\n3000 work.part.0\n");
	Folded before(history, old_names), now(other, names);
	const report::CallTree old_tree = before.tree(StackBy::cpu), tree = now.tree(StackBy::cpu);
	const trace::Clock &clock = now.trace.description().clock;
	const nlohmann::json data =
	    data_of(report::flame_page({"now", "before", {}, {{"cpu", false, &tree, &old_tree, &clock, &clock}}}));
	CHECK(amounts_of(data) ==
	      std::map<std::string, std::string>{
		  {"all", "2 3"}, {"?", "2 3"}, {"caller", "2 3"}, {"work.llvm.2", "2 3"}, {"leaf", "2 3"}});
	// Of one trace the clones are two.
	const nlohmann::json alone =
	    data_of(report::flame_page({"now", "", {}, {{"cpu", false, &tree, nullptr, &clock, nullptr}}}));
	CHECK(alone["graphs"][0]["total"] == nlohmann::json({3, 3, 3, 2, 2, 1, 1}));
}

} // namespace test_flame_graph
