// SPDX-License-Identifier: MIT
#include "patterns.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"

namespace monitor::functions {
namespace {

std::string find_in(const std::string &directories, const std::string &name)
{
	std::istringstream list(directories);
	for (std::string directory; std::getline(list, directory, ':');) {
		const std::string path = (directory.empty() ? "." : directory) + "/" + name;
		struct stat status;
		if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
			return path;
	}
	return "";
}

std::string environment(const char *name)
{
	const char *value = std::getenv(name);
	return value ? value : "";
}

#ifdef __aarch64__
const std::string multiarch = "aarch64-linux-gnu";
#else
const std::string multiarch = "x86_64-linux-gnu";
#endif

// Looks up a name without a slash in PATH, or as a library like the loader.
std::string file_of(const std::string &name)
{
	std::string path = name;
	if (name.find('/') == std::string::npos && name.find(".so") != std::string::npos)
		path = find_in(environment("LD_LIBRARY_PATH") + ":/lib/" + multiarch + ":/usr/lib/" + multiarch +
				   ":/lib64:/usr/lib64:/lib:/usr/lib",
			       name);
	else if (name.find('/') == std::string::npos)
		path = find_in(environment("PATH"), name);
	std::error_code none;
	if (path.starts_with("/proc/"))
		return path; // of a process, perhaps in another mount namespace
	const std::filesystem::path real = std::filesystem::canonical(path, none);
	if (path.empty() || none)
		throw Error("--functions: there is no file {}", name);
	if (!std::filesystem::is_regular_file(real, none))
		throw Error("--functions: {} is not a file", name);
	return real;
}

// The colon of FILE:NAME, skipping "::".
std::size_t colon_of(const std::string &text)
{
	for (std::size_t at = 1; at + 1 < text.size(); ++at)
		if (text[at] == ':' && text[at - 1] != ':' && text[at + 1] != ':')
			return at;
	return std::string::npos;
}

Pattern pattern_of(const std::string &text, const std::string &path, const std::string &glob)
{
	std::error_code none;
	const std::filesystem::path link = std::filesystem::read_symlink(path, none);
	const std::filesystem::path real = none ? std::filesystem::path(path) : link;
	return {text, path, real, real.filename(), glob};
}

} // namespace

std::vector<Pattern> parse_patterns(const std::vector<std::string> &texts, const std::vector<std::string> &command,
				    const std::vector<int> &pids)
{
	std::vector<Pattern> patterns;
	for (const std::string &text : texts) {
		const std::size_t colon = colon_of(text);
		if (text.empty())
			throw Error("--functions: one of the patterns is empty");
		if (colon != std::string::npos) {
			patterns.push_back(pattern_of(text, file_of(text.substr(0, colon)), text.substr(colon + 1)));
			continue;
		}
		if (command.empty() && pids.empty())
			throw Error("--functions {}: of which program? Add -- CMD or -p PID, or use FILE:{}", text,
				    text);
		if (!command.empty())
			patterns.push_back(pattern_of(text, file_of(command.front()), text));
		for (const int pid : command.empty() ? pids : std::vector<int>())
			patterns.push_back(pattern_of(text, file_of(fmt::format("/proc/{}/exe", pid)), text));
	}
	return patterns;
}

} // namespace monitor::functions
