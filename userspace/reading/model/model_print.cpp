// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/scanner.h"
#include "model_text.h"

namespace monitor::model {
namespace {

constexpr std::array keywords = {"cpu",  "sleep", "take", "put",  "signal",  "await",  "lock",
				 "call", "reply", "wake", "wait", "barrier", "branch", "fork"};

std::string block_text(const Model &model, const Block &block);

std::string time_text(const Model &model, const Operation &operation)
{
	if (operation.ns)
		return ' ' + duration_text(*operation.ns);
	if (operation.distribution != Operation::no_index)
		return " of " + name_text(model.distributions[operation.distribution].name);
	return "";
}

std::string operation_text(const Model &model, const Operation &operation)
{
	std::string text = keyword_of(operation.kind);
	if (operation.is_own)
		text += " own";
	if (!operation.name.empty())
		text += ' ' + name_text(operation.name);
	if (operation.role != Operation::no_index)
		text += ' ' + name_text(model.roles[operation.role].name);
	if (operation.probability)
		text += fmt::format(" {}", *operation.probability);
	text += time_text(model, operation);
	if (operation.blocks.empty())
		return text;
	text += " { ";
	const char *const between = operation.kind == Kind::fork ? " | " : " } else { ";
	for (std::size_t i = 0; i < operation.blocks.size(); ++i)
		text += (i > 0 ? between : "") + block_text(model, operation.blocks[i]);
	return text + " }";
}

std::string block_text(const Model &model, const Block &block)
{
	std::string text;
	for (const Operation &operation : block)
		text += (text.empty() ? "" : "; ") + operation_text(model, operation);
	return text;
}

std::string durations_text(const std::vector<std::uint64_t> &durations)
{
	std::string text;
	for (const std::uint64_t ns : durations)
		text += ' ' + duration_text(ns);
	return text;
}

std::string distribution_text(const Distribution &distribution)
{
	constexpr std::array shapes = {"", " uniform", " exponential"};
	return fmt::format("distribution {}{}{}\n", name_text(distribution.name),
			   shapes[static_cast<std::size_t>(distribution.shape)], durations_text(distribution.ns));
}

std::string role_text(const Model &model, const Role &role)
{
	constexpr std::array modes = {"", " split", " pool"};
	std::string text =
	    fmt::format("role {}{} {}", name_text(role.name), modes[static_cast<std::size_t>(role.mode)], role.threads);
	if (role.capacity > 0)
		text += fmt::format(" capacity {}", role.capacity);
	if (role.in_order)
		text += " in order";
	text += ':';
	if (role.loop == 0)
		text += " loop";
	else if (role.loop != 1)
		text += fmt::format(" loop {}", role.loop);
	return text + " { " + block_text(model, role.body) + " }\n";
}

std::string decimal(std::uint64_t ns, std::uint64_t unit, unsigned digits, const char *name)
{
	std::string text = std::to_string(ns / unit);
	if (ns % unit > 0) {
		text += fmt::format(".{:0{}}", ns % unit, digits);
		text.resize(text.find_last_not_of('0') + 1);
	}
	return text + name;
}

} // namespace

const char *keyword_of(Kind kind)
{
	return keywords[static_cast<std::size_t>(kind)];
}

std::string name_text(std::string_view name)
{
	constexpr std::array reserved = {"of", "own", "else"};
	if (is_name(name, "+-.") && std::ranges::find(reserved, name) == reserved.end())
		return std::string(name);
	return '"' + escaped(name, Escape::quoted) + '"';
}

std::string duration_text(std::uint64_t ns)
{
	if (ns < 1000)
		return std::to_string(ns) + "ns";
	if (ns < 1'000'000)
		return decimal(ns, 1000, 3, "us");
	if (ns < 1'000'000'000)
		return decimal(ns, 1'000'000, 6, "ms");
	return decimal(ns, 1'000'000'000, 9, "s");
}

std::string model_text(const Model &model)
{
	std::string text = "# monitor model 1" + (model.about.empty() ? "" : ": " + model.about) + '\n';
	text += fmt::format("cpus {}{}", model.cpus, model.is_realtime ? " realtime" : "");
	if (model.marks_functions)
		text += "; marks functions";
	if (!model.latency_ns.empty())
		text += "; latency" + durations_text(model.latency_ns);
	if (model.wake_cost_ns > 0)
		text += "; wakecost " + duration_text(model.wake_cost_ns);
	if (model.fixed_ns > 0)
		text += "; fixed " + duration_text(model.fixed_ns);
	text += '\n';
	for (const Distribution &distribution : model.distributions)
		text += distribution_text(distribution);
	for (const Role &role : model.roles)
		text += role_text(model, role);
	for (const std::string &reason : model.because)
		text += "because " + reason + '\n';
	return text;
}

} // namespace monitor::model
