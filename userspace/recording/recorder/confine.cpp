// SPDX-License-Identifier: MIT
#include "confine.h"

#include <cstdint>

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

namespace monitor::record {
namespace {

// Instead of linux/landlock.h, which older systems lack or have only in part. The numbers are the same on all
// architectures.
constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr unsigned version_only = 1, path_beneath = 1;
struct Ruleset {
	std::uint64_t fs, net;
};
struct [[gnu::packed]] PathBeneath {
	std::uint64_t allowed;
	std::int32_t parent;
};
constexpr std::uint64_t execute = 1 << 0, write_file = 1 << 1, remove_dir = 1 << 4, remove_file = 1 << 5,
			make_any = 0x7f << 6, refer = 1 << 13, truncate_file = 1 << 14;
constexpr std::uint64_t make_dir = 1 << 7, make_reg = 1 << 8;
constexpr std::uint64_t bind_and_connect_tcp = 3;

bool allow(int rules, const std::string &path, std::uint64_t access)
{
	const Fd parent(::open(path.c_str(), O_PATH | O_CLOEXEC | O_DIRECTORY));
	const PathBeneath rule{access, parent.get()};
	return parent && ::syscall(add_rule, rules, path_beneath, &rule, 0) == 0;
}

} // namespace

bool confine_to(const std::string &directory)
{
	const long version = ::syscall(create_ruleset, nullptr, 0, version_only);
	if (version < 1)
		return false;
	const std::uint64_t truncates = version >= 3 ? truncate_file : 0;
	const Ruleset handled{execute | write_file | remove_dir | remove_file | make_any | truncates |
				  (version >= 2 ? refer : 0),
			      version >= 4 ? bind_and_connect_tcp : 0};
	const Fd rules(static_cast<int>(
	    ::syscall(create_ruleset, &handled, version >= 4 ? sizeof handled : sizeof handled.fs, 0)));
	return rules &&
	       allow(rules.get(), directory, write_file | remove_dir | remove_file | make_dir | make_reg | truncates) &&
	       allow(rules.get(), directory + "/..", remove_dir) && ::syscall(restrict_self, rules.get(), 0) == 0;
}

} // namespace monitor::record
