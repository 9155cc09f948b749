// SPDX-License-Identifier: MIT
// The shards of a fleet's run as one: fleet/clocks/run_merge.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "fleet/clocks/run_merge.h"

using namespace monitor;
using Catch::Matchers::Contains;
using fleet::merge_runs;
namespace fs = std::filesystem;

namespace {

class ShardFolder {
public:
	ShardFolder()
	{
		std::string name = (fs::temp_directory_path() / "run-merge-XXXXXX").string();
		REQUIRE(::mkdtemp(name.data()));
		path_ = name;
	}
	~ShardFolder() { fs::remove_all(path_); }

	std::string at(const std::string &name) const { return path_ + '/' + name; }
	void write(const std::string &name, const std::string &text) const
	{
		fs::create_directories(fs::path(at(name)).parent_path());
		std::ofstream(at(name)) << text;
	}
	// As a collector leaves one; only the first of a run has exchanges.
	std::string shard(const std::string &name, const std::string &number, const std::vector<std::string> &hosts,
			  bool has_clocks) const
	{
		nlohmann::json accounts = nlohmann::json::array();
		for (const std::string &host : hosts) {
			write(name + '/' + host + "/kernel_cpu0", "blocks of " + host);
			write(name + '/' + host + "/.monitor/recording.json", "{}");
			accounts.push_back({{"host", host}, {"blocks", 1}});
		}
		write(name + "/.monitor/fleet.json",
		      nlohmann::json({{"version", 1}, {"run", "r"}, {"shard", number}, {"hosts", accounts}}).dump());
		fs::create_directories(at(name + "/.monitor/clocks"));
		fs::create_directories(at(name + "/.monitor/conflicts"));
		if (has_clocks) {
			write(name + "/.monitor/clocks/web1", "monitor-clock 1 web1 clock=tsc\n");
			write(name + "/.monitor/clocks.json", "{\"offset_ns\": 7}");
		}
		return at(name);
	}

private:
	std::string path_;
};

std::string refusal_of(const std::string &output, const std::vector<std::string> &runs)
{
	try {
		merge_runs(output, runs, false);
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

} // namespace

TEST_CASE("merge of shards: every host, the clocks and the conflicts are in one run")
{
	const ShardFolder folder;
	const std::string a = folder.shard("a", "0/2", {"web1", "db"}, true),
			  b = folder.shard("b", "1/2", {"web2"}, false);
	folder.write("b/.monitor/conflicts/web2-1", "block");
	CHECK(fleet::is_shard(a));
	const std::string output = folder.at("out");
	const auto merged = merge_runs(output, {a, b}, false);
	CHECK(merged.run == "r");
	CHECK(merged.hosts == std::vector<std::string>{"web1", "db", "web2"});
	CHECK(merged.missing.empty());
	for (const char *host : {"web1", "db", "web2"})
		CHECK(read_text(output + '/' + host + "/kernel_cpu0") == std::string("blocks of ") + host);
	CHECK(read_text(output + "/.monitor/clocks/web1") == read_text(a + "/.monitor/clocks/web1"));
	CHECK(read_text(output + "/.monitor/clocks.json") == "{\"offset_ns\": 7}");
	CHECK(read_text(output + "/.monitor/conflicts/web2-1") == "block");
	const auto parts = parse_json(read_text(output + "/.monitor/collection.json"))["parts"];
	CHECK(parts.size() == 3);
	const auto accounts = parse_json(read_text(output + "/.monitor/fleet.json"));
	CHECK(accounts["hosts"].size() == 3);
	CHECK(accounts["merged"] == nlohmann::json({"0/2", "1/2"}));
	CHECK_FALSE(fleet::is_shard(output)); // merged once
	struct stat of_shard, of_merged;
	REQUIRE(::stat((a + "/web1/kernel_cpu0").c_str(), &of_shard) == 0);
	REQUIRE(::stat((output + "/web1/kernel_cpu0").c_str(), &of_merged) == 0);
	CHECK(of_shard.st_ino == of_merged.st_ino);
	merge_runs(folder.at("copy"), {a, b}, true);
	REQUIRE(::stat(folder.at("copy/web1/kernel_cpu0").c_str(), &of_merged) == 0);
	CHECK(of_shard.st_ino != of_merged.st_ino);
}

TEST_CASE("merge of shards: those that are missing are named")
{
	const ShardFolder folder;
	const auto merged = merge_runs(
	    folder.at("out"), {folder.shard("a", "0/4", {"web1"}, true), folder.shard("b", "2/4", {}, false)}, false);
	CHECK(merged.missing == std::vector<std::string>{"1/4", "3/4"});
}

TEST_CASE("merge of shards: what does not belong together is refused, and nothing is left")
{
	const ShardFolder folder;
	const std::string a = folder.shard("a", "0/2", {"web1"}, true);
	const std::string output = folder.at("out");
	CHECK_THAT(refusal_of(output, {a, folder.shard("b", "1/2", {"web1"}, false)}), Contains("host web1 is in"));
	CHECK_THAT(refusal_of(output, {a, folder.shard("c", "1/2", {"web2"}, true)}),
		   Contains("reference clocks of their own"));
	const std::string other = folder.shard("d", "1/2", {"web3"}, false);
	folder.write("d/.monitor/fleet.json", R"({"run": "s", "shard": "1/2", "hosts": []})");
	CHECK_THAT(refusal_of(output, {a, other}), Contains("is the run r, and"));
	folder.write("d/.monitor/fleet.json", "[]");
	CHECK_THAT(refusal_of(output, {a, other}), Contains("is not what a fleet's collector writes"));
	CHECK_FALSE(fs::exists(output));
	folder.write("there/file", "x");
	CHECK_THAT(refusal_of(folder.at("there"), {a, folder.shard("e", "1/2", {}, false)}), Contains("is not empty"));
	CHECK(read_text(folder.at("there/file")) == "x");
}

TEST_CASE("merge of shards: names and links in a shard lead nowhere else")
{
	const ShardFolder folder;
	const std::string a = folder.shard("a", "0/2", {"web1"}, true), b = folder.shard("b", "1/2", {"web2"}, false);
	folder.write("secret", "secret");
	folder.write(
	    "b/.monitor/fleet.json",
	    R"({"run": "r", "shard": "1/2", "hosts": [{"host": "../a"}, {"host": ".monitor"}, {"host": 7}, {"host": "web2"}]})");
	fs::create_symlink(folder.at("secret"), folder.at("b/web2/link"));
	const auto merged = merge_runs(folder.at("out"), {a, b}, false);
	CHECK(merged.hosts == std::vector<std::string>{"web1", "web2"});
	CHECK_FALSE(fs::exists(fs::symlink_status(folder.at("out/web2/link"))));
}
