// SPDX-License-Identifier: MIT
#include "sysfs.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace monitor::pmu {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path &directory)
{
	std::vector<std::string> names;
	std::error_code ignored;
	for (const auto &entry : fs::directory_iterator(directory, ignored))
		names.push_back(entry.path().filename().string());
	std::sort(names.begin(), names.end());
	return names;
}

std::optional<std::string> line_of(const fs::path &path)
{
	std::ifstream file(path);
	std::string line;
	if (!std::getline(file, line))
		return {};
	return line;
}

std::vector<std::string> split(const std::string &text, char separator)
{
	std::vector<std::string> parts;
	std::istringstream stream(text);
	for (std::string part; std::getline(stream, part, separator);)
		parts.push_back(part);
	return parts;
}

std::uint64_t number(const std::string &text, const std::string &term)
{
	char *end = nullptr;
	const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
	if (text.empty() || *end || text[0] == '-')
		throw Error("{}: \"{}\" is not a number", term, text);
	return value;
}

// Puts a term's value into the bits that its format names: "config:0-7,32-35".
class Terms {
public:
	Terms(const std::string &devices, const std::string &pmu) : directory_(fs::path(devices) / pmu), pmu_(pmu)
	{
		const auto type = line_of(directory_ / "type");
		event_.attributes.type = type ? static_cast<std::uint32_t>(number(*type, pmu + "/type")) : 0;
	}
	void add_all(const std::string &terms, bool may_be_event = true)
	{
		for (const std::string &term : split(terms, ','))
			add(term, may_be_event);
	}
	const SysfsEvent &event() const { return event_; }

private:
	void add(const std::string &term, bool may_be_event)
	{
		const std::size_t equals = term.find('=');
		const std::string name = term.substr(0, equals);
		const auto terms = line_of(directory_ / "events" / name);
		if (may_be_event && equals == std::string::npos && !name.empty() && terms)
			return add_event(name, *terms);
		const std::string text = equals == std::string::npos ? "1" : term.substr(equals + 1);
		const auto format = line_of(directory_ / "format" / name);
		if (name == "config" || name == "config1" || name == "config2")
			set(name + ":0-63", number(text, term), term);
		else if (!name.empty() && format)
			set(*format, number(text, term), term);
		else
			throw Error("the PMU {} has no term or event \"{}\"; it has: {}", pmu_, name, known());
	}
	void add_event(const std::string &name, const std::string &terms)
	{
		add_all(terms, false);
		const auto unit = line_of(directory_ / "events" / (name + ".unit"));
		const auto scale = line_of(directory_ / "events" / (name + ".scale"));
		event_.unit = unit.value_or("");
		event_.scale = scale ? std::strtod(scale->c_str(), nullptr) : 1;
	}
	std::string known() const
	{
		std::string all;
		for (const char *kind : {"format", "events"})
			for (const std::string &name : names_in(directory_ / kind))
				if (name.find('.') == std::string::npos)
					all += (all.empty() ? "" : ", ") + name;
		return all.empty() ? "none" : all;
	}
	void set(const std::string &format, std::uint64_t value, const std::string &term)
	{
		const std::size_t colon = format.find(':');
		const std::string where = format.substr(0, colon);
		__u64 *word = where == "config1"   ? &attributes().config1
			      : where == "config2" ? &attributes().config2
						   : nullptr;
		if (where == "config")
			word = &attributes().config;
		if (!word || colon == std::string::npos)
			throw Error("{}: the PMU {} expects it in {}, which is not supported", term, pmu_, format);
		for (const std::string &range : split(format.substr(colon + 1), ',')) {
			unsigned first = 0, last = 0;
			if (std::sscanf(range.c_str(), "%u-%u", &first, &last) == 1)
				last = first;
			for (unsigned bit = first; bit <= last && bit < 64; ++bit, value >>= 1)
				*word = (*word & ~(std::uint64_t{1} << bit)) | (value & 1) << bit;
		}
		if (value)
			throw Error("{}: the value does not fit into {} of the PMU {}", term, format, pmu_);
	}
	perf_event_attr &attributes() { return event_.attributes; }

	fs::path directory_;
	std::string pmu_;
	SysfsEvent event_;
};

} // namespace

bool is_core_pmu(const std::string &pmu)
{
	for (const char *prefix : {"armv6_", "armv7_", "armv8_", "apple_"})
		if (pmu.rfind(prefix, 0) == 0)
			return true;
	return pmu == "cpu" || pmu == "cpu_core" || pmu == "cpu_atom";
}

std::vector<std::string> sysfs_pmus(const std::string &devices)
{
	return names_in(devices);
}

std::string find_pmu(const std::string &devices, const std::string &pmu)
{
	const auto all = sysfs_pmus(devices);
	if (std::find(all.begin(), all.end(), pmu) != all.end())
		return pmu;
	const auto core = std::find_if(all.begin(), all.end(), is_core_pmu);
	const bool is_core_alias = pmu == "cpu" || pmu == "armv8_pmuv3";
	return is_core_alias && core != all.end() ? *core : "";
}

std::string pmu_of_type(const std::string &devices, unsigned type)
{
	for (const std::string &pmu : sysfs_pmus(devices))
		if (line_of(fs::path(devices) / pmu / "type") == std::to_string(type))
			return pmu;
	return {};
}

SysfsEvent sysfs_event(const std::string &devices, const std::string &pmu, const std::string &terms)
{
	Terms all(devices, pmu);
	all.add_all(terms);
	return all.event();
}

std::vector<std::string> sysfs_events(const std::string &devices, const std::string &pmu)
{
	auto names = names_in(fs::path(devices) / pmu / "events");
	std::erase_if(names, [](const std::string &name) { return name.find('.') != std::string::npos; });
	return names;
}

} // namespace monitor::pmu
