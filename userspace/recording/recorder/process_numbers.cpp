// SPDX-License-Identifier: MIT
#include "process_numbers.h"

#include <cstdlib>

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

namespace monitor::record {
namespace {

// "pid:[4026531836]" for the initial namespace: PROC_PID_INIT_INO in include/linux/proc_ns.h.
std::string own_namespace()
{
	char name[64];
	const ssize_t length = ::readlink("/proc/self/ns/pid", name, sizeof name);
	return length <= 0 ? "pid:[4026531836]" : std::string(name, static_cast<std::size_t>(length));
}

} // namespace

bool in_first_pid_namespace()
{
	return own_namespace() == "pid:[4026531836]";
}

pid_t own_kernel_pid()
{
	return in_first_pid_namespace() ? ::getpid() : 0;
}

std::string socket_name_prefix(std::string_view before)
{
	return in_first_pid_namespace() ? std::string(before) : fmt::format("{}{}-", before, own_namespace());
}

std::vector<int> numbers_in(const std::string &directory)
{
	std::vector<int> numbers;
	DIR *entries = ::opendir(directory.c_str());
	while (const dirent *entry = entries ? ::readdir(entries) : nullptr)
		if (const int number = std::atoi(entry->d_name); number > 0)
			numbers.push_back(number);
	if (entries)
		::closedir(entries);
	return numbers;
}

std::string numbers_of(const std::string &status_path)
{
	constexpr std::string_view label = "\nNSpid:\t";
	const std::string status = text_of(status_path);
	const std::size_t line = status.find(label), numbers = line + label.size();
	return line == std::string::npos ? "" : status.substr(numbers, status.find('\n', numbers) - numbers);
}

std::string text_of(const std::string &path)
{
	try {
		return read_text(path);
	} catch (const Error &) { // too many open files
		return "";
	}
}

} // namespace monitor::record
