// SPDX-License-Identifier: MIT
#include "recorders.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/encoding.h"
#include "process_numbers.h"

namespace monitor::record {
namespace {

constexpr std::string_view own_name = "monitor-recorder-";

// Anybody can bind such a name: accept it only from a process with this program's name.
bool is_recorder(pid_t pid)
{
	return pid != ::getpid() && text_of(fmt::format("/proc/{}/comm", pid)).starts_with("monitor");
}

} // namespace

Fd announce_recorder()
{
	Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	const SocketAddress address(own_socket_name(own_name));
	if (fd && ::bind(fd.get(), address.get(), address.length) < 0)
		fd.reset(); // other recorders will not see this one
	return fd;
}

std::vector<pid_t> other_recorders()
{
	std::set<pid_t> pids;
	for (const SocketName &socket : socket_names(own_name))
		if (is_recorder(socket.pid))
			pids.insert(socket.pid);
	return {pids.begin(), pids.end()};
}

std::optional<pid_t> recorder_of(const std::string &directory)
{
	namespace fs = std::filesystem;
	std::error_code error;
	const fs::path wanted = fs::canonical(directory, error);
	for (const pid_t pid : error ? std::vector<pid_t>() : other_recorders()) {
		fs::directory_iterator file(fmt::format("/proc/{}/fd", pid), error);
		for (; !error && file != fs::directory_iterator(); file.increment(error)) {
			std::error_code closed;
			const fs::path path = fs::read_symlink(*file, closed);
			if (!closed && (path == wanted || path.parent_path() == wanted))
				return pid;
		}
	}
	return {};
}

// From memlock of each map in /proc/PID/fdinfo.
std::optional<std::uint64_t> map_bytes_of(pid_t pid)
{
	std::error_code error;
	std::filesystem::directory_iterator file(fmt::format("/proc/{}/fdinfo", pid), error);
	std::uint64_t sum = 0;
	for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
		const std::string text = text_of(file->path().string());
		constexpr std::string_view field = "memlock:\t";
		if (const std::size_t at = text.find(field);
		    at != std::string::npos && text.find("map_id:") != std::string::npos)
			sum += std::strtoull(text.c_str() + at + field.size(), nullptr, 10);
	}
	return error ? std::nullopt : std::optional(sum);
}

SocketAddress::SocketAddress(std::string_view text)
{
	name.sun_family = AF_UNIX;
	text = text.substr(0, sizeof name.sun_path - 1);
	text.copy(name.sun_path + 1, text.size());
	length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

std::string own_socket_name(std::string_view prefix)
{
	return fmt::format("{}{}-{}", socket_name_prefix(prefix), ::getpid(), random_hex(64));
}

std::vector<SocketName> socket_names(std::string_view prefix)
{
	std::map<std::string, pid_t> found; // a listening socket is listed again for each connection
	std::istringstream lines(text_of("/proc/net/unix"));
	const std::string before = fmt::format(" @{}", socket_name_prefix(prefix));
	for (std::string line; std::getline(lines, line);) {
		const std::size_t at = line.find(before);
		const pid_t pid = at == std::string::npos ? 0 : std::atoi(line.c_str() + at + before.size());
		if (pid > 0)
			found.emplace(line.substr(at + 2), pid);
	}
	std::vector<SocketName> names;
	for (const auto &[name, pid] : found)
		names.push_back({name, pid});
	return names;
}

} // namespace monitor::record
