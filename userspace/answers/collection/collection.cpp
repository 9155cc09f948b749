// SPDX-License-Identifier: MIT
#include "collection.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/sentence.h"
#include "base/sparse_copy.h"
#include "clock_text.h"
#include "convert.h"
#include "reading/ctf/metadata.h"
#include "reading/ctf/tsdl.h"

namespace monitor::collection {
namespace {

namespace fs = std::filesystem;

std::string shifted_metadata(const fs::path &path, std::int64_t shift_ns)
{
	std::string text, why;
	trace::TextForm form = trace::TextForm::plain;
	const std::string file = read_file(path.string(), 2 * max_description_bytes);
	if (!trace::metadata_text(std::as_bytes(std::span(file)), text, why, form))
		throw Error(path.string() + ' ' + why);
	return shifted_clocks(text, shift_ns);
}

void add_file(const fs::path &from, const fs::path &to, const Part &part, bool copy)
{
	if (from.filename() == "metadata") {
		replace_file(to.string(), shifted_metadata(from, part.shift_ns), 0644);
		return;
	}
	std::error_code error;
	if (!copy)
		fs::create_hard_link(from, to, error);
	if (copy || error)
		copy_sparse(from.string(), to.string());
}

void add_part(const fs::path &collection, const Part &part, bool copy)
{
	constexpr int max_depth = 16;
	const fs::path to = collection / part.directory;
	fs::create_directories(to);
	if (part.file)
		return convert(*part.file, to.string(), part.directory, part.shift_ns);
	for (fs::recursive_directory_iterator entry(part.source), end; entry != end; ++entry) {
		const fs::path target = to / entry->path().lexically_relative(part.source);
		if (entry.depth() > max_depth)
			throw Error(part.source + " has more than 16 levels of directories");
		if (entry->is_directory() && !entry->is_symlink())
			fs::create_directories(target);
		else if (entry->is_regular_file())
			add_file(entry->path(), target, part, copy);
	}
}

nlohmann::ordered_json json_of(const ClockLines &clock)
{
	auto nodes = nlohmann::ordered_json::array(), bounds = nlohmann::ordered_json::array();
	for (const trace::ClockNode &node : clock.nodes)
		nodes.push_back({node.ticks, node.ns});
	for (const trace::ClockBoundNs &bound : clock.bounds_ns)
		bounds.push_back(bound ? nlohmann::ordered_json(*bound) : nullptr);
	return {{"nodes", nodes},
		{"bounds_ns", bounds},
		{"rho_ppb", clock.rho_ppb},
		{"min_rho_ppb", clock.min_rho_ppb},
		{"windows", clock.windows},
		{"infeasible", clock.infeasible},
		{"own_ns", clock.own_ns ? nlohmann::ordered_json(*clock.own_ns) : nullptr},
		{"not_witnessed", clock.not_witnessed}};
}

// A directory is inside itself. Links are followed; the inner one need not exist.
bool is_inside(const fs::path &directory, const fs::path &other)
{
	const fs::path inner = fs::weakly_canonical(directory), outer = fs::weakly_canonical(other);
	return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

} // namespace

std::string parts_json(const std::vector<Part> &parts)
{
	auto all = nlohmann::ordered_json::array();
	for (const Part &part : parts) {
		all.push_back({{"directory", part.directory},
			       {"source", part.source},
			       {"shift_ns", part.shift_ns},
			       {"bound_ns", part.bound_ns ? nlohmann::ordered_json(*part.bound_ns) : nullptr},
			       {"how", part.how}});
		if (part.clock && !part.clock->nodes.empty())
			all.back()["clock"] = json_of(*part.clock);
	}
	return json_dump(nlohmann::ordered_json{{"parts", all}}, 1) + '\n';
}

void write(const std::string &directory, const std::vector<Part> &parts, bool copy)
{
	std::error_code error;
	if (directory.empty())
		throw Error("a collection needs a directory; name one with -o");
	if (fs::exists(directory, error) && !fs::is_empty(directory, error))
		throw Error(directory + " exists and is not empty; name another directory with -o");
	for (const Part &part : parts)
		if (is_inside(directory, part.source))
			throw Error(directory + " is inside of " + part.source + "; name another directory with -o");
	const bool existed = fs::exists(directory, error);
	try {
		for (const Part &part : parts)
			add_part(directory, part, copy);
		fs::create_directories(fs::path(directory) / ".monitor");
		replace_file((fs::path(directory) / ".monitor" / "collection.json").string(), parts_json(parts), 0644);
		trace::Trace::open(directory); // checks that it can be read
	} catch (const std::exception &failure) {
		for (const Part &part : parts)
			fs::remove_all(fs::path(directory) / part.directory, error);
		fs::remove_all(fs::path(directory) / ".monitor", error);
		if (!existed)
			fs::remove(directory, error);
		throw Error(std::string("cannot write the collection: ") + sentence_of(failure));
	}
}

} // namespace monitor::collection
