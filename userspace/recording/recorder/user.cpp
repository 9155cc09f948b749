// SPDX-License-Identifier: MIT
#include "user.h"

#include <cerrno>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::record {
namespace {

std::optional<unsigned> environment_number(const char *variable)
{
	const char *text = std::getenv(variable);
	if (!text || !*text)
		return {};
	char *end;
	const unsigned long value = std::strtoul(text, &end, 10);
	if (*end || value >= ~0u)
		return {};
	return static_cast<unsigned>(value);
}

std::vector<gid_t> supplementary_groups()
{
	std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
	groups.resize(
	    static_cast<std::size_t>(std::max(::getgroups(static_cast<int>(groups.size()), groups.data()), 0)));
	return groups;
}

} // namespace

User invoking_user()
{
	User user{::getuid(), ::getgid(), {}, {}, {}, false};
	const auto sudo_uid = environment_number("SUDO_UID"), sudo_gid = environment_number("SUDO_GID");
	if (::geteuid() == 0 && sudo_uid && sudo_gid && *sudo_uid != 0) {
		user.uid = *sudo_uid;
		user.gid = *sudo_gid;
		user.differs = true;
	}
	if (const passwd *entry = ::getpwuid(user.uid)) {
		user.name = entry->pw_name;
		user.home = entry->pw_dir;
		user.shell = entry->pw_shell;
	} else {
		user.name = std::to_string(user.uid);
	}
	return user;
}

bool become(const User &user)
{
	if (!user.differs)
		return true;
	return ::initgroups(user.name.c_str(), user.gid) == 0 && ::setresgid(user.gid, user.gid, user.gid) == 0 &&
	       ::setresuid(user.uid, user.uid, user.uid) == 0;
}

void set_environment_of(const User &user)
{
	if (!user.differs)
		return;
	::setenv("HOME", user.home.c_str(), 1);
	::setenv("USER", user.name.c_str(), 1);
	::setenv("LOGNAME", user.name.c_str(), 1);
	::setenv("SHELL", user.shell.c_str(), 1);
}

AsUser::AsUser(const User &user) : active_(user.differs)
{
	if (!active_)
		return;
	groups_ = supplementary_groups();
	if (::initgroups(user.name.c_str(), user.gid) < 0 || ::setegid(user.gid) < 0 || ::seteuid(user.uid) < 0)
		throw Error(errno, "cannot become the user " + user.name);
}

AsUser::~AsUser()
{
	const int error = errno;
	if (active_ && (::seteuid(0) < 0 || ::setegid(0) < 0 || ::setgroups(groups_.size(), groups_.data()) < 0))
		std::abort();
	errno = error;
}

Fd open_as(const User &user, const std::string &path)
{
	const AsUser as(user);
	return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

void raise_file_limit()
{
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t spare_files(std::size_t own)
{
	rlimit limit{};
	::getrlimit(RLIMIT_NOFILE, &limit);
	const Fd next(::dup(STDERR_FILENO)); // gets the lowest free number, an estimate of the number of open files
	const std::size_t used = static_cast<std::size_t>(next.get()) + own;
	return next && limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

void drop_privileges(const User &user, const std::vector<int> &kept)
{
	const rlimit one{1, 1}; // the comparison of the CPUs' clocks at the end runs at realtime priority
	::setrlimit(RLIMIT_RTPRIO, &one);
	const rlimit nice{30, 30}; // threads that drain the rings run at nice -10
	::setrlimit(RLIMIT_NICE, &nice);
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	__user_cap_data_struct caps[2] = {};
	for (const int capability : kept)
		caps[capability / 32].effective = caps[capability / 32].permitted |= 1u << capability % 32;
	for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
		::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0); // fails without capabilities, which is fine
	::prctl(PR_SET_KEEPCAPS, kept.empty() ? 0ul : 1ul, 0, 0, 0);
	if (!become(user))
		throw Error(errno, "cannot become the user " + user.name);
	::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (::syscall(SYS_capset, &header, caps) < 0)
		throw Error(errno, "cannot give up the capabilities");
}

std::vector<int> capabilities_to_read_processes()
{
	const bool restore = ::prctl(PR_CAPBSET_READ, CAP_CHECKPOINT_RESTORE) >= 0;
	return {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, restore ? CAP_CHECKPOINT_RESTORE : CAP_SYS_ADMIN};
}

} // namespace monitor::record
