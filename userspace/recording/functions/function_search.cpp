// SPDX-License-Identifier: MIT
#include "function_search.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/elf_image.h"
#include "base/error.h"
#include "base/fd.h"
#include "exit_search.h"
#include "program_symbols.h"

namespace monitor::functions {
namespace {

constexpr std::size_t max_answer_bytes = 64 << 20;
constexpr rlim_t search_seconds = 20, search_bytes = rlim_t{4} << 30;

struct Pattern {
	std::string text, path, glob;
	std::string file; // its name without directories
};

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

// A name without a slash is looked up as a shell or the dynamic loader does.
std::string file_of(const std::string &name)
{
	std::string path = name;
	if (name.find('/') == std::string::npos && name.find(".so") != std::string::npos)
		path = find_in(environment("LD_LIBRARY_PATH") +
				   ":/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib",
			       name);
	else if (name.find('/') == std::string::npos)
		path = find_in(environment("PATH"), name);
	std::error_code none;
	if (path.starts_with("/proc/"))
		return path; // of a process that may see other files
	const std::filesystem::path real = std::filesystem::canonical(path, none);
	if (path.empty() || none)
		throw Error(fmt::format("--functions: there is no file {}", name));
	return real;
}

// The colon of FILE:NAME, not one of C++'s.
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
	const std::filesystem::path real = std::filesystem::read_symlink(path, none);
	return {text, path, glob, (none ? std::filesystem::path(path) : real).filename()};
}

std::vector<Pattern> parse(const std::vector<std::string> &texts, const std::vector<std::string> &command,
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
			throw Error(fmt::format(
			    "--functions {}: of which program? Add -- CMD or -p PID, or use FILE:{}", text, text));
		if (!command.empty())
			patterns.push_back(pattern_of(text, file_of(command.front()), text));
		for (const int pid : command.empty() ? pids : std::vector<int>())
			patterns.push_back(pattern_of(text, file_of(fmt::format("/proc/{}/exe", pid)), text));
	}
	return patterns;
}

// What the searching process answers with: a line for each function, "NAME\tENTRY\tOFFSET:CONDITION ...", or for one
// that cannot be probed "!NAME\tWHY".
class FileSearch {
public:
	FileSearch(int fd, const std::string &name) : fd_(fd), image_(ElfImage::open(fd))
	{
		if (image_)
			symbols_ = functions_of(*image_, name);
		for (const Symbol &symbol : symbols_)
			if (const std::size_t end = symbol.name.find(".cold"); end != std::string::npos)
				cold_.emplace(symbol.name.substr(0, end), &symbol);
	}

	std::string answer(const std::string &glob) const
	{
		std::string text;
		for (const Symbol &symbol : symbols_)
			if (matches(symbol, glob) && symbol.name.find(".cold") == std::string::npos)
				text += line(symbol);
		return text;
	}

private:
	std::uint64_t offset_of(std::uint64_t address) const
	{
		for (const ElfSegment &load : image_->loads())
			if (load.is_executable && address >= load.address && address - load.address < load.file_size)
				return address - load.address + load.offset;
		return 0;
	}

	bool add_part(const Symbol &symbol, std::vector<CodePart> &parts) const
	{
		const std::uint64_t offset = offset_of(symbol.address);
		if (offset == 0 || offset_of(symbol.address + symbol.size - 1) != offset + symbol.size - 1)
			return false;
		CodePart &part = parts.emplace_back();
		part.address = symbol.address;
		part.bytes.resize(symbol.size);
		return ::pread(fd_, part.bytes.data(), symbol.size, static_cast<off_t>(offset)) ==
		       static_cast<ssize_t>(symbol.size);
	}

	std::string line(const Symbol &symbol) const
	{
		std::string name = symbol.pretty;
		std::ranges::replace_if(
		    name,
		    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == 0x7f; },
		    '?');
		std::vector<CodePart> parts;
		Exits found;
		if (!add_part(symbol, parts))
			found.why_not = "its code is not in the file";
		for (auto [at, end] = cold_.equal_range(symbol.name); at != end; ++at)
			add_part(*at->second, parts);
		if (found.why_not.empty())
			found = find_exits(parts);
		if (!found.why_not.empty())
			return fmt::format("!{}\t{}\n", name, found.why_not);
		std::string text = fmt::format("{}\t{}\t", name, offset_of(found.entry));
		for (const card::FunctionExit &exit : found.exits)
			text += fmt::format("{}:{} ", offset_of(exit.offset), exit.condition);
		return text + "\n";
	}

	int fd_;
	std::optional<ElfImage> image_;
	std::vector<Symbol> symbols_;
	std::unordered_multimap<std::string, const Symbol *> cold_; // by the function they were moved out of
};

[[noreturn]] void search(int file, int answers, const Pattern &pattern, const std::function<void()> &drop)
{
	try {
		drop();
		const rlimit time{search_seconds, search_seconds}, memory{search_bytes, search_bytes};
		::setrlimit(RLIMIT_CPU, &time);
		::setrlimit(RLIMIT_AS, &memory);
		const std::string text = FileSearch(file, pattern.file).answer(pattern.glob);
		for (std::size_t at = 0; at < text.size();) {
			const ssize_t n = ::write(answers, text.data() + at, text.size() - at);
			if (n <= 0)
				::_exit(1);
			at += static_cast<std::size_t>(n);
		}
		::_exit(0);
	} catch (...) {
		::_exit(1);
	}
}

std::string answer_of(const Pattern &pattern, const std::function<void()> &drop)
{
	const Fd file(::open(pattern.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (!file)
		throw Error(errno, fmt::format("--functions: cannot read {}", pattern.path));
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) < 0)
		throw Error(errno, "cannot look for functions");
	const Fd answers(ends[0]);
	Fd into(ends[1]);
	const pid_t child = ::fork();
	if (child == 0)
		search(file.get(), into.get(), pattern, drop);
	into = Fd();
	std::string text;
	char part[1 << 16];
	for (ssize_t n;
	     child > 0 && text.size() < max_answer_bytes && (n = ::read(answers.get(), part, sizeof part)) > 0;)
		text.append(part, static_cast<std::size_t>(n));
	int status = -1;
	while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		throw Error(fmt::format("--functions {}: looking through {} failed or took too long", pattern.text,
					pattern.path));
	return text;
}

// False: it is not a line as FileSearch writes them.
bool parse_function(const std::string &line, card::Function &function)
{
	std::istringstream parts(line);
	if (!std::getline(parts, function.name, '\t') || !(parts >> function.entry))
		return false;
	for (std::string exit; parts >> exit;) {
		char *end = nullptr;
		card::FunctionExit way;
		way.offset = std::strtoull(exit.c_str(), &end, 10);
		const unsigned long condition = *end == ':' ? std::strtoul(end + 1, &end, 10) : 255;
		if (*end || condition > 16)
			return false;
		way.condition = static_cast<std::uint8_t>(condition);
		function.exits.push_back(way);
	}
	return true;
}

class Collection {
public:
	explicit Collection(FoundFunctions &found) : found_(found) {}

	// Returns whether anything matches.
	bool add(const Pattern &pattern, const std::string &answer)
	{
		std::istringstream lines(answer);
		bool any = false;
		for (std::string line; std::getline(lines, line); any = true) {
			card::Function function;
			if (line.starts_with('!'))
				leave_out(line.substr(1));
			else if (parse_function(line, function))
				take(pattern, std::move(function));
		}
		return any;
	}

private:
	void leave_out(std::string note)
	{
		note.replace(std::min(note.find('\t'), note.size()), 1, ": ");
		found_.left_out.push_back(std::move(note));
	}

	void take(const Pattern &pattern, card::Function function)
	{
		function.path = pattern.path;
		if (!places_.insert({function.path, function.entry}).second)
			return;
		if (!names_.insert(function.name).second)
			function.name += fmt::format(" at {:#x}", function.entry);
		names_.insert(function.name);
		found_.functions.push_back(std::move(function));
	}

	FoundFunctions &found_;
	std::set<std::pair<std::string, std::uint64_t>> places_;
	std::set<std::string> names_;
};

} // namespace

std::vector<std::string> FoundFunctions::names() const
{
	std::vector<std::string> names;
	names.reserve(functions.size());
	for (const card::Function &function : functions)
		names.push_back(function.name);
	return names;
}

FoundFunctions find_functions(const std::vector<std::string> &patterns, const std::vector<std::string> &command,
			      const std::vector<int> &pids, const std::function<void()> &drop)
{
	FoundFunctions found;
	Collection collection(found);
	for (const Pattern &pattern : parse(patterns, command, pids))
		if (!collection.add(pattern, answer_of(pattern, drop)))
			throw Error(
			    fmt::format("--functions {}: {} has no such function; `nm -C` and `nm -DC` list those "
					"that have names",
					pattern.text, pattern.path));
	if (found.functions.empty())
		throw Error(fmt::format("--functions: none of these can be probed; {}", found.left_out.front()));
	return found;
}

std::string summary(const std::vector<card::Function> &functions, const card::FunctionCost &cost)
{
	std::size_t probes = functions.size();
	for (const card::Function &function : functions)
		probes += function.exits.size();
	std::string text =
	    fmt::format("{} function{} with {} uprobes", functions.size(), functions.size() == 1 ? "" : "s", probes);
	if (cost.high_ns > 0)
		text +=
		    fmt::format("; a call takes {:.1f} to {:.1f} us longer", cost.low_ns / 1000, cost.high_ns / 1000);
	return text;
}

} // namespace monitor::functions
