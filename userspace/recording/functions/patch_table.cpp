// SPDX-License-Identifier: MIT
#include "patch_table.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "monitor/function_table.h"

namespace monitor::functions {
namespace {

edc_function_module module_of(const std::string &path)
{
	struct stat status;
	if (::stat(path.c_str(), &status) < 0)
		throw Error(errno, fmt::format("--functions: cannot read {}", path));
	edc_function_module module{};
	module.device = status.st_dev;
	module.inode = status.st_ino;
	module.size = static_cast<std::uint64_t>(status.st_size);
	module.modified_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
			     static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
	return module;
}

template <class T> void append(std::string &bytes, const std::vector<T> &values)
{
	bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

} // namespace

std::string preloaded_library()
{
	std::error_code none;
	const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
	for (const std::filesystem::path &path :
	     {program.parent_path().parent_path() / PRELOADED_INSTALLED, std::filesystem::path(PRELOADED_BUILT)})
		if (std::filesystem::is_regular_file(path, none) &&
		    path.string().find_first_of(" :") == std::string::npos) // separators in LD_PRELOAD
			return path;
	return "";
}

std::string patch_table(const std::vector<card::Function> &functions)
{
	std::map<std::string, std::vector<std::size_t>> by_path;
	for (std::size_t number = 0; number < functions.size(); ++number)
		if (!functions[number].is_probed())
			by_path[functions[number].path].push_back(number);
	std::vector<edc_function_module> modules;
	std::vector<edc_function_sled> sleds;
	for (const auto &[path, numbers] : by_path) {
		edc_function_module &module = modules.emplace_back(module_of(path));
		module.first_sled = static_cast<std::uint32_t>(sleds.size());
		for (const std::size_t number : numbers)
			for (const card::FunctionSled &sled : functions[number].sleds)
				sleds.push_back({sled.offset, static_cast<std::uint16_t>(number), sled.kind, 0});
		module.sleds = static_cast<std::uint32_t>(sleds.size()) - module.first_sled;
	}
	const std::vector<edc_function_table> head = {{EDC_FUNCTION_TABLE_MAGIC,
						       static_cast<std::uint32_t>(modules.size()),
						       static_cast<std::uint32_t>(sleds.size())}};
	std::string bytes;
	append(bytes, head);
	append(bytes, modules);
	append(bytes, sleds);
	return bytes;
}

std::vector<std::string> patch_environment(const std::string &table_path)
{
	const char *others = std::getenv("LD_PRELOAD"), *asan = std::getenv("ASAN_OPTIONS");
	// AddressSanitizer otherwise refuses to run after a preloaded library.
	return {
	    fmt::format("ASAN_OPTIONS={}{}verify_asan_link_order=0", asan ? asan : "", asan && *asan ? ":" : ""),

	    fmt::format("LD_PRELOAD={}{}{}", preloaded_library(), others && *others ? ":" : "", others ? others : ""),
	    fmt::format("{}={}", EDC_FUNCTION_TABLE_ENVIRONMENT, table_path)};
}

} // namespace monitor::functions
