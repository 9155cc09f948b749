// SPDX-License-Identifier: MIT
#include "agent.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/sentence.h"
#include "base/this_boot.h"
#include "fleet/keys/fleet_keys.h"
#include "fleet/wire/hub.h"
#include "journal.h"
#include "network_process.h"
#include "privileged_process.h"
#include "recording/recorder/user.h"

namespace monitor::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char *own_user = "monitor-agent", *any_user = "nobody";
constexpr int link_fd = 3; // of the network process, besides the standard ones

std::optional<record::User> find_user(const std::string &name)
{
	const passwd *const entry = ::getpwnam(name.c_str());
	if (!entry)
		return {};
	return record::User{entry->pw_uid, entry->pw_gid,   name,
			    entry->pw_dir, entry->pw_shell, entry->pw_uid != ::geteuid()};
}

// The user of the network process; nullopt without root.
std::optional<record::User> network_user(const std::string &wanted)
{
	if (::geteuid() != 0) {
		if (!wanted.empty())
			throw Error("--user: only root can give privileges to another user; leave it out");
		return {};
	}
	auto user = find_user(wanted.empty() ? own_user : wanted);
	if (!user && wanted.empty())
		user = find_user(any_user);
	if (!user)
		throw Error("--user: there is no user {}: useradd --system {}", printable(wanted), printable(wanted));
	if (user->uid == 0)
		throw Error("--user: the network process cannot be root; use a system user of its own");
	return user;
}

std::optional<record::User> command_user(const std::string &name)
{
	if (name.empty())
		return {};
	auto user = find_user(name);
	if (!user)
		throw Error("--allow-commands: there is no user {}", printable(name));
	if (user->uid == 0)
		throw Error("--allow-commands: commands of the fleet do not run as root; name another user");
	if (::geteuid() != 0 && user->differs)
		throw Error("--allow-commands: only root can run commands as {}", printable(name));
	return user;
}

std::string default_spool()
{
	if (::geteuid() == 0)
		return "/var/lib/monitor-agent";
	const char *const state = std::getenv("XDG_STATE_HOME"), *const home = std::getenv("HOME");
	if (state && *state)
		return std::string(state) + "/monitor-agent";
	if (!home || !*home)
		throw Error("HOME is not set, so there is no place for traces: add --spool DIR");
	return std::string(home) + "/.local/state/monitor-agent";
}

void make_directory(const std::string &path, unsigned mode, const record::User *owner)
{
	if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
		throw Error(errno, "cannot create " + path);
	const Fd fd = open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct stat status;
	if (::fstat(fd.get(), &status) < 0)
		throw Error(errno, "cannot read " + path);
	const uid_t wanted = owner ? owner->uid : ::geteuid();
	const bool is_empty_and_ours = status.st_uid == ::geteuid() && fs::is_empty(path);
	if (status.st_uid != wanted && !is_empty_and_ours)
		throw Error("{} belongs to another user: use another --spool, or chown it to user {}", printable(path),
			    wanted);
	// The mode first: after fchown() it would need another capability. Later starts change neither.
	if (((status.st_mode & 07777) != mode && ::fchmod(fd.get(), mode) < 0) ||
	    (status.st_uid != wanted && ::fchown(fd.get(), owner->uid, owner->gid) < 0))
		throw Error(errno, "cannot prepare " + path);
}

// SPOOL/starter is locked while the agent runs.
Fd prepare_spool(const std::string &spool, const std::optional<record::User> &owner)
{
	std::error_code said_below;
	fs::create_directories(fs::path(spool).parent_path(), said_below);
	make_directory(spool, owner ? 0711 : 0700, nullptr);
	make_directory(spool + "/runs", owner ? 0711 : 0700, owner ? &*owner : nullptr);
	make_directory(spool + "/starter", 0700, nullptr);
	Fd lock = open_file(spool + "/starter", O_RDONLY | O_DIRECTORY);
	if (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0)
		throw Error("another agent uses {}: stop it, or use another --spool", printable(spool));
	return lock;
}

std::string own_name(const std::string &wanted, const fleet::FleetKeys &keys)
{
	if (keys.name == fleet::operator_name)
		throw Error("{} has the operator's keys: copy hosts/HOST of what `monitor fleet init` made",
			    printable(keys.directory));
	char name[HOST_NAME_MAX + 1] = {};
	::gethostname(name, sizeof name - 1);
	const std::string here = wanted.empty() ? name : wanted;
	if (here != keys.name)
		throw Error("the keys in {} are of host {}, and this is {}: copy those of this host, or say --host {}",
			    printable(keys.directory), keys.name, printable(here), keys.name);
	return keys.name;
}

std::string own_program()
{
	std::error_code error;
	const fs::path program = fs::read_symlink("/proc/self/exe", error);
	if (error)
		throw Error("cannot find the program itself: mount /proc");
	return program;
}

// Runs in the child: of the inherited descriptors it keeps only its end of the link.
[[noreturn]] void run_network(const NetworkOptions &options, Fd link, const std::optional<record::User> &user)
{
	int code = 1;
	try {
		const int high = ::fcntl(link.get(), F_DUPFD_CLOEXEC, link_fd + 1);
		::dup3(high, link_fd, O_CLOEXEC);
		::syscall(SYS_close_range, link_fd + 1, ~0u, 0);
		link.release();
		record::drop_privileges(user.value_or(record::User{}));
		code = NetworkProcess(options, Fd(link_fd)).run();
	} catch (const std::exception &error) {
		log_message(sentence_of(error));
	}
	::_exit(code);
}

} // namespace

int run_agent(const AgentOptions &options)
{
	const fleet::FleetKeys keys = fleet::read_fleet_keys(options.keys);
	const std::optional<record::User> user = network_user(options.user);
	PrivilegedOptions privileged;
	privileged.host = own_name(options.host, keys);
	privileged.program = own_program();
	const std::string spool = fs::absolute(options.spool.empty() ? default_spool() : options.spool);
	privileged.runs = spool + "/runs";
	privileged.nonces = spool + "/starter/nonces";
	privileged.forward = fleet::forward_text(options.forward);
	privileged.allowed = {options.allow, options.spool_max_bytes, ::geteuid() != 0};
	privileged.owner = user;
	privileged.commands = command_user(options.allow_commands);
	NetworkOptions network;
	network.connection = keys.connection(options.hub);
	network.host = privileged.host;
	network.runs = privileged.runs;
	network.forward = options.forward;
	network.presence.monitor_version = options.version;
	network.presence.boot_id = this_boot();
	network.presence.spool_max_bytes = options.spool_max_bytes;
	network.presence.user_only = privileged.allowed.user_only;
	network.presence.runs_commands = privileged.commands.has_value();
	fleet::parse_hubs(network.connection.hub); // checks the option early
	const Fd lock = prepare_spool(spool, user);
	log_message(fmt::format("host {}, traces in {}{}", privileged.host, privileged.runs,
				user ? fmt::format(", the network process is user {}", user->name) : ""));
	const auto start_network = [&](Fd link) {
		const pid_t child = ::fork();
		if (child < 0)
			throw Error(errno, "cannot start the network process");
		if (child == 0)
			run_network(network, std::move(link), user);
		return child;
	};
	return PrivilegedProcess(std::move(privileged), keys.operator_key, start_network).run();
}

} // namespace monitor::agent
