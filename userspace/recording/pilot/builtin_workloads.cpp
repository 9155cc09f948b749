// SPDX-License-Identifier: MIT
#include "builtin_workloads.h"

#include <array>
#include <cstdint>
#include <filesystem>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fd.h"

namespace monitor::pilot {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 400;
constexpr std::uintmax_t max_file_bytes = 40'000;

// Small system files, in the page cache after the first read.
std::vector<std::string> system_files()
{
	std::vector<std::string> found;
	std::error_code error;
	for (const char *top : {"/usr/include", "/usr/share", "/usr/lib", "/etc"})
		for (fs::recursive_directory_iterator at(top, fs::directory_options::skip_permission_denied, error),
		     end;
		     !error && at != end && found.size() < max_files; at.increment(error))
			if (std::error_code none; at->is_regular_file(none) && at->file_size(none) < max_file_bytes)
				found.push_back(at->path());
	return found;
}

// Like find(1): lists directories and stats entries.
void walk(unsigned times)
{
	for (; times; --times) {
		std::error_code error;
		std::size_t entries = 0;
		for (fs::recursive_directory_iterator at("/usr", fs::directory_options::skip_permission_denied, error),
		     end;
		     !error && at != end && entries < 4 * max_files; at.increment(error), ++entries) {
			struct stat status;
			::lstat(at->path().c_str(), &status);
		}
	}
}

// Like cat(1), or a compiler that reads headers.
void read_files(const std::vector<std::string> &files, unsigned times)
{
	std::vector<char> buffer(1 << 17);
	for (; times; --times)
		for (const std::string &path : files) {
			const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
			struct stat status;
			if (!file || ::fstat(file.get(), &status) < 0)
				continue;
			while (::read(file.get(), buffer.data(), buffer.size()) > 0)
				;
		}
}

[[noreturn]] void run_shell(const std::string &script)
{
	::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
	::_exit(127);
}

// Computes in fresh memory: occasional page faults.
void compute(unsigned times)
{
	constexpr std::size_t size = 1 << 20;
	for (; times; --times) {
		void *memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return;
		::madvise(memory, size, MADV_NOHUGEPAGE);
		auto *words = static_cast<std::uint32_t *>(memory);
		std::uint32_t state = times;
		for (std::size_t i = 0; i < size / sizeof *words; ++i) {
			state = state * 1664525 + 1013904223;
			words[i] = words[state % (i + 1)] ^ state;
		}
		::munmap(memory, size);
	}
}

// Two processes with a connection: requests of 64 bytes, answers of 1 KiB.
void serve(unsigned times)
{
	const Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof address;
	auto *const name = reinterpret_cast<sockaddr *>(&address);
	if (::bind(listening.get(), name, size) < 0 || ::listen(listening.get(), 1) < 0 ||
	    ::getsockname(listening.get(), name, &size) < 0)
		return;
	std::array<char, 1024> answer{};
	const pid_t client = ::fork();
	if (client == 0) {
		const Fd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
		if (::connect(connection.get(), name, size) == 0)
			for (std::array<char, 64> request{}; times; --times)
				if (::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0 ||
				    ::recv(connection.get(), answer.data(), answer.size(), MSG_WAITALL) <= 0)
					break;
		::_exit(0);
	}
	const Fd connection(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
	std::array<char, 64> request;
	while (::recv(connection.get(), request.data(), request.size(), MSG_WAITALL) > 0)
		if (::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
			break;
	::waitpid(client, nullptr, 0);
}

// Like a database: writes a page and its log, syncs, reads other pages.
void store(const std::string &directory, unsigned times)
{
	const Fd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	std::array<char, 4096> page{};
	for (unsigned i = 0; i < times; ++i) {
		if (::pwrite(file.get(), page.data(), page.size(), static_cast<off_t>(i % 64 * page.size())) < 0 ||
		    ::fdatasync(file.get()) < 0)
			return;
		for (unsigned k = 0; k < 16; ++k)
			if (::pread(file.get(), page.data(), page.size(),
				    static_cast<off_t>((i + k) % 64 * page.size())) < 0)
				return;
	}
}

} // namespace

std::vector<Workload> builtin_workloads(const std::string &directory)
{
	return {{"walk directories", walk},
		{"read small files", [files = system_files()](unsigned times) { read_files(files, times); }},
		{"fork",
		 [](unsigned times) {
			 run_shell(fmt::format("i=0; while [ $i -lt {} ]; do (:); i=$((i+1)); done", times));
		 }},
		{"execute",
		 [](unsigned times) {
			 run_shell(fmt::format("i=0; while [ $i -lt {} ]; do /bin/true; i=$((i+1)); done", times));
		 }},
		{"compute", compute},
		{"serve", serve},
		{"store", [directory](unsigned times) { store(directory, times); }}};
}

} // namespace monitor::pilot
