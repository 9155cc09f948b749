// SPDX-License-Identifier: MIT
#include "demangle.h"

#include <cstdlib>

#ifdef MONITOR_HAS_LIBIBERTY
#define HAVE_DECL_BASENAME 1 // declared in string.h
#include <libiberty/demangle.h>
#else
#include <cxxabi.h>
#endif

namespace monitor {
namespace {

constexpr std::size_t max_name = 4096;

char *demangled_by_library(const char *name)
{
#ifdef MONITOR_HAS_LIBIBERTY
	return ::cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
#else
	int status = -1;
	return abi::__cxa_demangle(name, nullptr, nullptr, &status);
#endif
}

std::string demangled_plain(const std::string &name)
{
	if ((!name.starts_with("_Z") && !name.starts_with("_R")) || name.size() > max_name)
		return name;
	char *text = demangled_by_library(name.c_str());
	std::string result = text ? text : name;
	std::free(text);
	return result;
}

} // namespace

std::string demangled(const std::string &name)
{
	const std::size_t version = name.find('@', 1);
	if (version == std::string::npos)
		return demangled_plain(name);
	const bool is_default = name.compare(version, 2, "@@") == 0;
	return demangled_plain(name.substr(0, version)) + (is_default ? "" : name.substr(version));
}

} // namespace monitor
