// SPDX-License-Identifier: MIT
// The user for whom a recording runs, and how privileges are dropped. From the main thread only, before any other
// thread exists.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/fd.h"

namespace monitor::record {

// The user for whom monitor runs: SUDO_UID and SUDO_GID under sudo, else the caller.
struct User {
	uid_t uid = 0;
	gid_t gid = 0;
	std::string name;
	std::string home;
	std::string shell;
	bool differs = false; // from the process's own
};
User invoking_user();

// Becomes the user permanently: ids and groups. False on failure; errno says why.
bool become(const User &user);

// HOME and the like, for a process that became the user.
void set_environment_of(const User &user);

// Switches to the user's effective ids during its lifetime. Throws Error.
class AsUser {
public:
	explicit AsUser(const User &user);
	~AsUser();
	AsUser(const AsUser &) = delete;
	AsUser &operator=(const AsUser &) = delete;

private:
	bool active_;
	std::vector<gid_t> groups_; // the process's own
};

// Opens a file that the user named, for reading, with that user's rights. None: errno says why.
Fd open_as(const User &user, const std::string &path);

// Raises the limit of open files as far as the system permits. Call after creating the command, which keeps its limit.
void raise_file_limit();
// How many more files can be opened, apart from those open now and `own` that this process will open itself.
std::size_t spare_files(std::size_t own);

// Drop the privileges: become the invoking user permanently, keep no capabilities except these, and prevent regaining
// any. Open files and descriptors stay open; the process stays undumpable, so that its user cannot reach them with
// ptrace. Only before other threads exist. Throws Error.
void drop_privileges(const User &user, const std::vector<int> &kept = {});
// For helpers that read other processes' memory and files.
std::vector<int> capabilities_to_read_processes();

} // namespace monitor::record
