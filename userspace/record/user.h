// SPDX-License-Identifier: MIT
// On whose behalf a recording runs, and how root's rights are laid down for theirs.
// Called by recording.cpp and by the command's child; from the main thread only, before any other thread exists.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace monitor::record {

// The user on whose behalf the monitor runs: SUDO_UID and SUDO_GID when root was reached by sudo, else the caller.
struct User {
	uid_t uid = 0;
	gid_t gid = 0;
	std::string name;
	std::string home;
	std::string shell;
	bool differs = false; // from the process's own
};
User invoking_user();

// Becomes the user for good: ids and groups. False: errno says why not.
bool become(const User &user);

// Acts as the user while it lives: what it makes belongs to that user, and that user's rights decide. Throws Error.
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

// As many files may be open as the system lets this process have. After the command was made, which keeps its limit.
void raise_file_limit();
// How many more than are open now, and `own` that this process will open itself.
std::size_t spare_files(std::size_t own);

// Give up the privileges: become the invoking user for good, keep none of the capabilities but these, and let none come
// back. The files and descriptors that are open stay; the process stays undumpable, so that its user cannot reach them
// by ptrace. Only before other threads exist. Throws Error.
void drop_privileges(const User &user, const std::vector<int> &kept = {});

} // namespace monitor::record
