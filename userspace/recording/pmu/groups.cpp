// SPDX-License-Identifier: MIT
#include "groups.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/data_files.h"
#include "base/fd.h"
#include "base/scanner.h"
#include "base/suggestions.h"
#include "events.h"

namespace monitor::pmu {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t max_file_bytes = 1 << 16;

class GroupParser {
public:
	explicit GroupParser(Group &group) : group_(group) {}

	void parse(const std::string &text)
	{
		for (Scanner lines(text); !lines.at_end(); lines.skip()) {
			line_ = lines.position();
			lines.skip_to("\n");
			parse_line(std::string(lines.since(line_.offset)));
		}
	}

private:
	[[noreturn]] void fail(TextPosition position, const std::string &sentence) const
	{
		throw Error("{}:{}: {}", group_.path, position.in_numbers(), sentence);
	}
	void parse_line(const std::string &line)
	{
		const std::string content = trimmed(line);
		if (content.empty() || content[0] == '#')
			return;
		const TextPosition begin = line_.plus(line.find_first_not_of(" \t"));
		if (content.rfind("SHORT ", 0) == 0)
			group_.description = trimmed(content.substr(6));
		else if (content[0] == '[')
			parse_section(content, begin);
		else
			parse_measurement(line, begin);
	}
	void parse_section(const std::string &content, TextPosition begin)
	{
		if (content.back() != ']')
			fail(begin, "a section starts with [CPU ...]: the closing bracket is missing");
		std::string words = content.substr(1, content.size() - 2);
		std::replace(words.begin(), words.end(), ',', ' ');
		GroupSection section;
		std::istringstream stream(words);
		for (std::string word; stream >> word;)
			section.cpus.push_back(word);
		if (section.cpus.empty())
			fail(begin, "expected the CPUs of the section, such as [intel skl]");
		group_.sections.push_back(section);
	}
	void parse_measurement(const std::string &line, TextPosition begin)
	{
		const std::size_t equals = line.find('=');
		const std::string name = trimmed(line.substr(0, equals));
		if (equals == std::string::npos)
			fail(begin, "expected NAME = FORMULA, SHORT TEXT, [CPU ...] or a comment");
		if (name.empty())
			fail(begin, "the name is missing before the =");
		auto &lines = group_.sections.empty() ? group_.general : group_.sections.back().lines;
		if (std::ranges::find(lines, name, &GroupLine::name) != lines.end())
			fail(begin, "\"" + name + "\" appears twice");
		try {
			const std::string formula = trimmed(line.substr(equals + 1));
			begin = line_.plus(std::min(line.find_first_not_of(" \t", equals + 1), line.size()));
			lines.push_back({name, parse_formula(formula, is_event), begin});
		} catch (const ParseError &error) {
			fail(begin.plus(error.position().offset), error.what());
		}
	}

	Group &group_;
	TextPosition line_; // its start
};

// The whole file. It must be a regular file of that owner (-1: of any).
std::string read_file(const std::string &path, long owner)
{
	const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat status {};
	if (!fd || ::fstat(fd.get(), &status) < 0)
		throw Error(errno, "cannot read the group " + path);
	if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) > max_file_bytes)
		throw Error(path + ": a group must be a regular file of at most 64 KiB");
	if (owner >= 0 && status.st_uid != static_cast<uid_t>(owner))
		throw Error(path + ": the group's file does not belong to the user who called sudo");
	std::string text(static_cast<std::size_t>(status.st_size), '\0');
	const ssize_t size = ::read(fd.get(), text.data(), text.size());
	if (size < 0)
		throw Error(errno, "cannot read the group " + path);
	text.resize(static_cast<std::size_t>(size));
	return text;
}

void add_names(std::vector<std::string> &names, const std::string &directory)
{
	std::error_code ignored;
	for (const auto &entry : fs::directory_iterator(directory, ignored))
		if (entry.path().extension() == ".group")
			names.push_back(entry.path().stem().string());
}

std::string vendor_of(const std::string &family)
{
	return family.rfind("amd64", 0) == 0 ? "amd" : family.rfind("arm", 0) == 0 ? "arm" : "intel";
}

// [x86] matches all of them, whether libpfm4 recognises them or not.
bool is_of_architecture(const std::vector<std::string> &cpus)
{
#if defined(__x86_64__) || defined(__i386__)
	return cpus.size() == 1 && cpus[0] == "x86";
#else
	static_cast<void>(cpus);
	return false;
#endif
}

// "amd64_fam19h_zen3" is matched by its name, by "zen3" and by "zen".
bool names_family(const std::string &word, const std::string &family)
{
	if (word == family)
		return true;
	for (std::size_t at = 0; at != std::string::npos; at = family.find('_', at + 1))
		if (family.compare(at + (at > 0), word.size(), word) == 0)
			return true;
	return false;
}

} // namespace

Group parse_group(const std::string &name, const std::string &path, const std::string &text)
{
	Group group{name, path, {}, {}, {}};
	GroupParser(group).parse(text);
	return group;
}

Group load_group(const std::string &name, const Machine &machine)
{
	const std::string own = machine.own_groups + "/" + name + ".group";
	const std::string shipped = share_path("groups/" + name + ".group");
	std::error_code ignored;
	const bool is_name = !name.empty() && name.find('/') == std::string::npos;
	if (is_name && !machine.own_groups.empty() && fs::exists(own, ignored))
		return parse_group(name, own, read_file(own, machine.own_groups_uid));
	if (is_name && fs::exists(shipped, ignored))
		return parse_group(name, shipped, read_file(shipped, -1));
	const auto names = group_names(machine);
	throw Error("unknown group \"{}\"; the groups are: {}. A formula is NAME=FORMULA.{}", name,
		    fmt::join(names, ", "), suggestions(name, names));
}

std::vector<std::string> group_names(const Machine &machine)
{
	std::vector<std::string> names;
	add_names(names, share_path("groups"));
	if (!machine.own_groups.empty())
		add_names(names, machine.own_groups);
	std::ranges::sort(names);
	names.erase(std::unique(names.begin(), names.end()), names.end());
	return names;
}

std::vector<GroupLine> lines_for(const Group &group, const std::vector<std::string> &families)
{
	std::vector<GroupLine> lines = group.general;
	for (const GroupSection &section : group.sections) {
		if (!is_of_architecture(section.cpus) && std::ranges::none_of(families, [&](const std::string &family) {
			    return fits(section.cpus, family);
		    }))
			continue;
		for (const GroupLine &line : section.lines) {
			const auto same = std::ranges::find(lines, line.name, &GroupLine::name);
			if (same == lines.end())
				lines.push_back(line);
			else
				*same = line;
		}
		break;
	}
	return lines;
}

bool fits(const std::vector<std::string> &cpus, const std::string &family)
{
	const auto is_vendor = [](const std::string &word) {
		return word == "intel" || word == "amd" || word == "arm";
	};
	const std::string vendor = vendor_of(family);
	const auto is_other = [&](const std::string &word) { return is_vendor(word) && word != vendor; };
	const auto is_this = [&](const std::string &word) { return !is_vendor(word) && names_family(word, family); };
	return std::ranges::none_of(cpus, is_other) &&
	       (std::ranges::all_of(cpus, is_vendor) || std::ranges::any_of(cpus, is_this));
}

} // namespace monitor::pmu
