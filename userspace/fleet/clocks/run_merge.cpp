// SPDX-License-Identifier: MIT
#include "run_merge.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/sentence.h"
#include "base/sparse_copy.h"
#include "run_clocks.h"

namespace monitor::fleet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *accounts_file = "/.monitor/fleet.json";
constexpr int max_levels = 8;
constexpr std::size_t max_accounts_bytes = 256u << 20;
constexpr unsigned max_shard_count = 4096;

// A shard, from its accounts, an untrusted file.
struct ShardRun {
	std::string directory, run, shard; // shard: "K/N"
	std::vector<std::string> hosts;
	Json accounts = Json::array(); // of the hosts
};

bool is_directory_name(const std::string &name)
{
	return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos && name != "metadata";
}

ShardRun read_shard(const std::string &directory)
{
	const std::string path = directory + accounts_file;
	const Json json = parse_json<Json>(read_file(path, max_accounts_bytes));
	if (!json.is_object() || !json.contains("hosts") || !json["hosts"].is_array())
		throw Error(printable(path) + " is not what a fleet's collector writes");
	ShardRun shard{
	    directory, text_field(json, "run").value_or(""), text_field(json, "shard").value_or(""), {}, Json::array()};
	for (const Json &host : json["hosts"])
		if (const std::string name = text_field(host, "host").value_or("");
		    is_directory_name(name) && fs::is_directory(fs::path(directory) / name)) {
			shard.hosts.push_back(name);
			shard.accounts.push_back(host);
		}
	return shard;
}

void link_or_copy_tree(const fs::path &from, const fs::path &to, bool copy)
{
	fs::create_directories(to);
	for (fs::recursive_directory_iterator entry(from), end; entry != end; ++entry) {
		const fs::path target = to / entry->path().lexically_relative(from);
		if (entry.depth() > max_levels)
			throw Error("{} has more than {} levels of directories", from.string(), max_levels);
		const fs::file_type type = entry->symlink_status().type();
		if (type == fs::file_type::directory)
			fs::create_directories(target);
		if (type != fs::file_type::regular)
			continue;
		std::error_code error;
		if (!copy)
			fs::create_hard_link(entry->path(), target, error);
		if (copy || error)
			copy_sparse(entry->path().string(), target.string());
	}
}

// Two shards with exchanges have two reference clocks, whose relation is unknown.
void expect_one_reference(const std::vector<ShardRun> &shards)
{
	const ShardRun *first = nullptr;
	for (const ShardRun &shard : shards) {
		std::error_code error;
		const fs::path clocks = fs::path(shard.directory) / ".monitor" / "clocks";
		if (!fs::is_directory(clocks, error) || fs::is_empty(clocks, error))
			continue;
		if (first)
			throw Error("{} and {} have reference clocks of their own: only the shards of one run can be "
				    "merged, of which number 0 has the exchanges of all hosts",
				    printable(first->directory), printable(shard.directory));
		first = &shard;
	}
}

void expect_shards(const std::vector<ShardRun> &shards)
{
	std::map<std::string, const ShardRun *> of_host;
	for (const ShardRun &shard : shards) {
		if (!shard.run.empty() && !shards.front().run.empty() && shard.run != shards.front().run)
			throw Error("{} is the run {}, and {} is {}: they cannot be merged into one",
				    printable(shards.front().directory), printable(shards.front().run),
				    printable(shard.directory), printable(shard.run));
		for (const std::string &host : shard.hosts)
			if (const auto [other, is_new] = of_host.emplace(host, &shard); !is_new)
				throw Error("host {} is in {} and in {}: they are not the shards of one run",
					    printable(host), printable(other->second->directory),
					    printable(shard.directory));
	}
	expect_one_reference(shards);
}

// The missing shards, of the number that the first one states.
std::vector<std::string> missing_of(const std::vector<ShardRun> &shards)
{
	std::set<std::string> given;
	for (const ShardRun &shard : shards)
		given.insert(shard.shard);
	const std::string &first = shards.front().shard;
	const std::size_t slash = first.find('/');
	unsigned count = 0;
	if (slash != std::string::npos)
		std::from_chars(first.data() + slash + 1, first.data() + first.size(), count);
	std::vector<std::string> missing;
	for (unsigned number = 0; number < std::min(count, max_shard_count); ++number)
		if (const std::string shard = fmt::format("{}/{}", number, count); !given.contains(shard))
			missing.push_back(shard);
	return missing;
}

void write_merged_accounts(const fs::path &own, const MergedRuns &merged, const std::vector<ShardRun> &shards)
{
	Json names = Json::array(), hosts = Json::array();
	for (const ShardRun &shard : shards) {
		names.push_back(shard.shard);
		hosts.insert(hosts.end(), shard.accounts.begin(), shard.accounts.end());
	}
	const Json json = {{"version", 1}, {"run", merged.run}, {"merged", names}, {"hosts", hosts}};
	replace_file((own / "fleet.json").string(), json_dump(json, 1) + '\n', 0644);
}

void add_shard(const ShardRun &shard, const fs::path &output, bool copy)
{
	for (const std::string &host : shard.hosts)
		link_or_copy_tree(fs::path(shard.directory) / host, output / host, copy);
	const fs::path own = fs::path(shard.directory) / ".monitor";
	for (const char *const name : {"clocks", "clock_loops", "system_clocks", "conflicts"})
		if (fs::is_directory(own / name))
			link_or_copy_tree(own / name, output / ".monitor" / name, copy);
	if (fs::is_regular_file(own / "clocks.json") && !fs::is_empty(own / "clocks"))
		fs::copy_file(own / "clocks.json", output / ".monitor" / "clocks.json");
}

} // namespace

bool is_shard(const std::string &directory)
{
	const Json json = parse_json<Json>(read_text(directory + accounts_file, max_accounts_bytes));
	const std::string shard = text_field(json, "shard").value_or("");
	return !shard.empty() && !shard.ends_with("/1");
}

MergedRuns merge_runs(const std::string &output, const std::vector<std::string> &runs, bool copy)
{
	std::error_code error;
	if (fs::exists(output, error) && !fs::is_empty(output, error))
		throw Error(printable(output) + " exists and is not empty; name another directory with -o");
	std::vector<ShardRun> shards;
	for (const std::string &run : runs)
		shards.push_back(read_shard(run));
	expect_shards(shards);
	MergedRuns merged;
	merged.run = shards.front().run;
	merged.missing = missing_of(shards);
	const bool was_there = fs::exists(output, error);
	try {
		for (const ShardRun &shard : shards) {
			add_shard(shard, output, copy);
			merged.hosts.insert(merged.hosts.end(), shard.hosts.begin(), shard.hosts.end());
		}
		fs::create_directories(fs::path(output) / ".monitor");
		write_merged_accounts(fs::path(output) / ".monitor", merged, shards);
		write_run_clocks(output);
	} catch (const std::exception &failure) {
		for (const fs::directory_entry &left : fs::directory_iterator(output, error))
			fs::remove_all(left.path(), error);
		if (!was_there)
			fs::remove(output, error);
		throw Error(std::string("cannot write the run: ") + sentence_of(failure));
	}
	return merged;
}

} // namespace monitor::fleet
