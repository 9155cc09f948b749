// SPDX-License-Identifier: MIT
#include "flame_graph.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "flame_graph_page.h"

namespace monitor::report {
namespace {

constexpr std::string_view mark = "/*data*/null";

// The nodes of a graph, each before its children, as the page reads them: for each its depth, its name and how much is
// spent there and below, then before. Children of both trees are the same if they have the same name.
class Merged {
public:
	Merged(const FlameGraph &graph, std::map<std::pair<std::string, std::string>, std::size_t> &names)
	    : graph_(graph), names_(names)
	{
		add(0, graph.tree ? &graph.tree->nodes()[0] : nullptr,
		    graph.before ? &graph.before->nodes()[0] : nullptr);
	}

	nlohmann::json json() const
	{
		nlohmann::json value = {{"by", graph_.by},
					{"unit", graph_.is_time ? "ns" : "stacks"},
					{"depth", depth_},
					{"name", name_},
					{"total", total_}};
		if (graph_.before)
			value["before"] = before_;
		return value;
	}

private:
	std::uint64_t amount(const CallNode *node, const trace::Clock *clock) const
	{
		return !node ? 0 : graph_.is_time ? clock->to_ns(node->total) : node->total;
	}

	std::size_t name_of(const symbols::FrameName &name)
	{
		return names_
		    .try_emplace({name.text(), name.is_kernel ? "kernel " + name.module : name.module}, names_.size())
		    .first->second;
	}

	void add(unsigned depth, const CallNode *node, const CallNode *old)
	{
		const CallTree &tree = node ? *graph_.tree : *graph_.before;
		depth_.push_back(depth);
		name_.push_back(depth == 0 ? name_of({"all", "", "", false}) : name_of(tree.name(node ? *node : *old)));
		total_.push_back(amount(node, graph_.clock));
		before_.push_back(amount(old, graph_.clock_before));

		std::map<std::size_t, const CallNode *> of_old;
		if (old)
			for (const std::uint32_t child : old->children) {
				const CallNode &its = graph_.before->nodes()[child];
				of_old[name_of(graph_.before->name(its))] = &its;
			}
		if (node)
			for (const std::uint32_t child : node->children) {
				const CallNode &its = graph_.tree->nodes()[child];
				const auto same = of_old.find(name_of(graph_.tree->name(its)));
				add(depth + 1, &its, same == of_old.end() ? nullptr : same->second);
				if (same != of_old.end())
					of_old.erase(same);
			}
		for (const auto &[name, its] : of_old)
			add(depth + 1, nullptr, its);
	}

	const FlameGraph &graph_;
	std::map<std::pair<std::string, std::string>, std::size_t> &names_;
	std::vector<unsigned> depth_;
	std::vector<std::size_t> name_;
	std::vector<std::uint64_t> total_, before_;
};

// Text in a script element ends at the next `<`, wherever it is.
std::string for_script(const std::string &json)
{
	std::string text;
	text.reserve(json.size());
	for (const char c : json)
		if (c == '<')
			text += "\\u003c";
		else
			text += c;
	return text;
}

// What is between these two, without them.
std::string_view between(std::string_view begin, std::string_view end)
{
	const std::string_view page = flame_graph_page;
	const std::size_t from = page.find(begin) + begin.size();
	return page.substr(from, page.find(end, from) - from);
}

constexpr std::string_view policy_begin = "<meta http-equiv=\"Content-Security-Policy\"";
// Both as they stand in the page: the script's data is in another element.
constexpr std::string_view style_begin = "<style>\n", style_end = "</style>", script_begin = "<script>\n",
			   script_end = "</script>";

void replace(std::string &text, std::string_view from, const std::string &to)
{
	text.replace(text.find(from), from.size(), to);
}

} // namespace

std::string_view flame_style()
{
	return between(style_begin, style_end);
}

std::string_view flame_script()
{
	return between(script_begin, script_end);
}

std::string linked_flame_page(const FlamePage &page)
{
	std::string text = flame_page(page);
	replace(text, fmt::format("{}{}\">\n", policy_begin, between(policy_begin, "\">\n")),
		""); // the server has its own
	replace(text, fmt::format("{}{}{}", style_begin, flame_style(), style_end),
		"<link rel=\"stylesheet\" href=\"flame.css\">");
	replace(text, fmt::format("{}{}{}", script_begin, flame_script(), script_end),
		"<script src=\"flame.js\"></script>");
	return text;
}

std::string flame_page(const FlamePage &page)
{
	std::map<std::pair<std::string, std::string>, std::size_t> numbers;
	nlohmann::json data = {
	    {"title", page.title}, {"before", page.before}, {"notes", page.notes}, {"graphs", nlohmann::json::array()}};
	for (const FlameGraph &graph : page.graphs)
		data["graphs"].push_back(Merged(graph, numbers).json());
	std::vector<std::pair<std::string, std::string>> names(numbers.size());
	for (const auto &[name, number] : numbers)
		names[number] = name;
	data["names"] = names;
	std::string text(flame_graph_page);
	replace(text, mark, for_script(json_dump(data)));
	return text;
}

} // namespace monitor::report
