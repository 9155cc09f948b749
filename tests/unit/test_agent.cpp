// SPDX-License-Identifier: MIT
// What the privileged part of an agent decides: which commands it obeys once, and what a recording may be asked for.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "fleet/agent/nonces.h"
#include "fleet/wire/allowed_options.h"

using namespace monitor;
using namespace monitor::agent;
using namespace monitor::fleet;
using Catch::Matchers::Contains;

namespace {

// A file of its own, removed at the end.
struct NonceFile {
	std::string path = std::filesystem::temp_directory_path() / ("monitor-nonces-" + std::to_string(::getpid()));

	NonceFile() { std::filesystem::remove(path); }
	~NonceFile() { std::filesystem::remove(path); }
	std::string text() const
	{
		std::ifstream file(path);
		return {std::istreambuf_iterator<char>(file), {}};
	}
};

// Meanwhile files do not become larger, as on a full disk.
class FullDisk {
public:
	explicit FullDisk(std::size_t max_file_bytes)
	{
		handler_ = ::signal(SIGXFSZ, SIG_IGN);
		::getrlimit(RLIMIT_FSIZE, &before_);
		const rlimit limit{max_file_bytes, before_.rlim_max};
		::setrlimit(RLIMIT_FSIZE, &limit);
	}
	~FullDisk()
	{
		::setrlimit(RLIMIT_FSIZE, &before_);
		::signal(SIGXFSZ, handler_);
	}

private:
	rlimit before_{};
	sighandler_t handler_;
};

RecordWords words_of(const nlohmann::json &options, bool user_only = false)
{
	Allowed allowed;
	allowed.options = {all_options().begin(), all_options().end()};
	allowed.max_bytes = 1000;
	allowed.user_only = user_only;
	return allowed_words(options, allowed);
}

} // namespace

TEST_CASE("agent: a command is obeyed once, also after a restart")
{
	const NonceFile file;
	{
		Nonces nonces(file.path, 100);
		CHECK(nonces.use("aa", 1000, 100) == "");
		CHECK_THAT(nonces.use("aa", 1000, 101), Contains("obeyed before"));
		CHECK_THAT(nonces.use("aa", 2000, 101), Contains("obeyed before"));
		CHECK(nonces.use("bb", 2000, 102) == "");
	}
	{
		Nonces nonces(file.path, 103);
		CHECK_THAT(nonces.use("aa", 1000, 103), Contains("obeyed before"));
		CHECK_THAT(nonces.use("bb", 2000, 103), Contains("obeyed before"));
	}
	{
		Nonces nonces(file.path, 1000); // the first has expired
		CHECK(nonces.kept() == 1);
		CHECK_THAT(nonces.use("aa", 1000, 50), Contains("clock went back"));
		CHECK_THAT(nonces.use("cc", 999, 50), Contains("clock went back"));
		CHECK(nonces.use("cc", 1001, 50) == "");
	}
	CHECK_THAT(Nonces(file.path, 1).use("dd", 1000, 50), Contains("clock went back"));
}

TEST_CASE("agent: a command whose nonce was half written was not obeyed; a damaged file is refused")
{
	const NonceFile file;
	Nonces(file.path, 1).use("aa", 1000, 1);
	std::ofstream(file.path, std::ios::app) << "2000 b";
	CHECK(Nonces(file.path, 1).kept() == 1);
	for (const char *const text : {"", "x\n", "monitor-nonces 2 0\n", "monitor-nonces 1 0\nx aa\n",
				       "monitor-nonces 1 0\n10\n", "monitor-nonces 1 -1 \nx\n"}) {
		std::ofstream(file.path) << text;
		CHECK_THROWS_WITH(Nonces(file.path, 1), Contains("is damaged"));
	}
}

TEST_CASE("agent: a nonce that the disk had no room for spoils no other one")
{
	const NonceFile file;
	Nonces nonces(file.path, 1);
	REQUIRE(nonces.use("aa", 1000, 1) == "");
	const std::size_t size = file.text().size();
	std::string why;
	{
		const FullDisk full(size + 3); // a part of the line
		try {
			nonces.use("bb", 2000, 1);
		} catch (const Error &error) {
			why = error.what();
		}
	}
	REQUIRE_THAT(why, Contains("cannot write"));
	REQUIRE(file.text().size() == size + 3);
	CHECK(nonces.use("cc", 3000, 1) == "");
	CHECK(nonces.use("bb", 2000, 1) == ""); // it was not obeyed
	Nonces later(file.path, 1);
	CHECK(later.kept() == 3);
	for (const char *const nonce : {"aa", "bb", "cc"})
		CHECK_THAT(later.use(nonce, 5000, 1), Contains("obeyed before"));
}

TEST_CASE("agent: the file of nonces does not grow without end")
{
	const NonceFile file;
	Nonces nonces(file.path, 1);
	for (unsigned i = 0; i < 4200; ++i)
		REQUIRE(nonces.use("n" + std::to_string(i), 10 + i, 1 + i) == "");
	CHECK(nonces.kept() < 1000);
	CHECK(file.text().size() < 100'000);
	CHECK_THAT(nonces.use("n4199", 6000, 4201), Contains("obeyed before"));
}

TEST_CASE("agent: options of the allow-list become words of monitor record")
{
	const RecordWords words = words_of({{"events", "sched,irq"},
					    {"filter", "-x == 1"},
					    {"duration", 2.5},
					    {"trigger", {"a == 1 => mark", "b == 2 => snapshot"}},
					    {"user", true},
					    {"count-only", false},
					    {"max-size", 900}});
	CHECK(words.refusal == "");
	CHECK(words.words == std::vector<std::string>{"--duration=2.5", "--events=sched,irq", "--filter=-x == 1",
						      "--max-size=900", "--trigger=a == 1 => mark",
						      "--trigger=b == 2 => snapshot", "--user"});
	CHECK(words_of({}).words == std::vector<std::string>{"--max-size=1000"}); // the spool is not without end
	CHECK(words_of({{"statistics", "60s"}}).words == std::vector<std::string>{"--statistics=60s"});
	CHECK(words_of({{"user-only", true}}, true).words ==
	      std::vector<std::string>{"--user-only", "--user", "--max-size=1000"});
}

TEST_CASE("agent: a flight recorder ends before its snapshots take more than the spool has")
{
	Allowed allowed;
	allowed.options = {all_options().begin(), all_options().end()};
	allowed.max_bytes = 2ull << 30;
	const auto refusal = [&](const nlohmann::json &options) { return allowed_words(options, allowed).refusal; };
	CHECK(allowed_words({{"flight", "10s"}, {"snapshots", 2}}, allowed).words ==
	      std::vector<std::string>{"--flight=10s", "--snapshots=2"});
	CHECK(refusal({{"flight", "512M"}, {"snapshots", 4}}) == "");
	CHECK(refusal({{"flight", "1g"}, {"snapshots", 2}}) == "");
	CHECK(refusal({{"flight", "1024"}, {"snapshots", 1'000'000}}) == "");
	for (const char *const flight : {"512M", "10s", "1024"})
		CHECK_THAT(refusal({{"flight", flight}}), Contains("add --snapshots N"));
	CHECK_THAT(refusal({{"flight", "512M"}, {"snapshots", 5}}), Contains("--spool-max"));
	CHECK_THAT(refusal({{"flight", "10s"}, {"snapshots", 3}}), Contains("--spool-max"));
	CHECK_THAT(refusal({{"flight", "1.5k"}, {"snapshots", 1'000'001}}), Contains("not a number"));
	CHECK_THAT(refusal({{"flight", "512M"}, {"snapshots", true}}), Contains("not a number"));
}

TEST_CASE("agent: what is not on the allow-list cannot be asked for")
{
	for (const char *const name : {"output", "force", "triggers", "states", "stacks", "functions", "measure", "o",
				       "pid", "card", "buffer", "notify-fd", "command", "-output", "", "events "})
		CHECK_THAT(words_of({{name, "x"}}).refusal, Contains("not asked for"));
	CHECK_THAT(words_of({{"events", "sched -o x"}}).refusal, Contains("characters"));
	CHECK_THAT(words_of({{"filter", "a\nb"}}).refusal, Contains("characters"));
	CHECK_THAT(words_of({{"filter", ""}}).refusal, Contains("empty"));
	CHECK_THAT(words_of({{"filter", std::string(20000, 'a')}}).refusal, Contains("longer"));
	CHECK_THAT(words_of({{"filter", 1}}).refusal, Contains("empty"));
	CHECK_THAT(words_of({{"duration", "1"}}).refusal, Contains("not a number"));
	CHECK_THAT(words_of({{"duration", -1}}).refusal, Contains("not a number"));
	CHECK_THAT(words_of({{"duration", 1e9}}).refusal, Contains("not a number"));
	CHECK_THAT(words_of({{"user", "yes"}}).refusal, Contains("has a value"));
	CHECK_THAT(words_of({{"max-size", 1001}}).refusal, Contains("--spool-max"));
	CHECK_THAT(words_of({{"flight", "2G"}}).refusal, Contains("1 GiB"));
	CHECK_THAT(words_of({{"flight", "2000m"}}).refusal, Contains("1 GiB"));
	CHECK_THAT(words_of({{"flight", "nan"}}).refusal, Contains("1 GiB"));
	for (const char *const text : {"a == 1 => run 'x'", "a == 1 => mark, signal USR1", "a == 1 => run\"x\"",
				       "comm == \"run\" => mark", "run 'x'"})
		CHECK_THAT(words_of({{"trigger", {text}}}).refusal, Contains("cannot have the word"));
	CHECK(words_of({{"trigger", {"runs == 1 and signal_x == 2 => mark"}}}).refusal == "");
	CHECK_THAT(words_of({{"trigger", std::vector<std::string>(17, "a => mark")}}).refusal,
		   Contains("more than 16"));
	CHECK_THAT(words_of({{"trigger", "a => mark"}}).refusal, Contains("not a list"));
	CHECK_THAT(words_of({}, true).refusal, Contains("add --user-only"));
	Allowed few;
	few.options = {"events"};
	CHECK_THAT(allowed_words({{"filter", "a == 1"}}, few).refusal, Contains("--allow filter"));
}
