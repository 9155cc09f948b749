// SPDX-License-Identifier: MIT
#include "user_processes.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "base/tsc.h"

namespace monitor::card {
namespace {

constexpr std::uint32_t off = 1, not_looked_yet = 0; // edc_post.h: EDC_OFF_, EDC_UNKNOWN_
constexpr char note_name[] = "monitor";
constexpr std::uint32_t note_type = 1;
constexpr std::size_t largest_notes = 64 << 10;

// Where a file's code finds its card: the address of a pointer to it, relative to where the file is loaded.
using Where = std::optional<std::uint64_t>;

template <class T> bool read_at(int fd, std::uint64_t offset, T &value)
{
	return ::pread(fd, &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
}

// The note's content is the distance from itself to the pointer.
Where find_note(const std::vector<char> &notes, std::uint64_t address)
{
	std::size_t at = 0;
	while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
		Elf64_Nhdr head;
		std::memcpy(&head, notes.data() + at, sizeof head);
		const std::size_t name = at + sizeof head;
		const std::size_t content = name + ((std::size_t{head.n_namesz} + 3) & ~std::size_t{3});
		const std::size_t next = content + ((std::size_t{head.n_descsz} + 3) & ~std::size_t{3});
		if (next > notes.size())
			return {};
		std::int64_t distance;
		if (head.n_type == note_type && head.n_namesz == sizeof note_name && head.n_descsz == sizeof distance &&
		    std::memcmp(notes.data() + name, note_name, sizeof note_name) == 0) {
			std::memcpy(&distance, notes.data() + content, sizeof distance);
			return address + content + static_cast<std::uint64_t>(distance);
		}
		at = next;
	}
	return {};
}

Where find_in_file(const std::string &path)
{
	const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	Elf64_Ehdr elf;
	if (!fd || !read_at(fd.get(), 0, elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64)
		return {};
	std::uint64_t first_load = ~0ull;
	Where found;
	for (unsigned i = 0; i < elf.e_phnum; ++i) {
		Elf64_Phdr part;
		if (!read_at(fd.get(), elf.e_phoff + std::uint64_t{i} * sizeof part, part))
			return {};
		if (part.p_type == PT_LOAD)
			first_load = std::min<std::uint64_t>(first_load, part.p_vaddr & ~4095ull);
		if (part.p_type != PT_NOTE || part.p_filesz > largest_notes)
			continue;
		std::vector<char> notes(part.p_filesz);
		if (::pread(fd.get(), notes.data(), notes.size(), static_cast<off_t>(part.p_offset)) ==
		    static_cast<ssize_t>(notes.size()))
			if (const Where here = find_note(notes, part.p_vaddr))
				found = here;
	}
	return found && first_load != ~0ull ? Where(*found - first_load) : Where();
}

template <class T> bool copy_from(pid_t pid, std::uint64_t address, T &value)
{
	const iovec here{&value, sizeof value}, there{reinterpret_cast<void *>(address), sizeof value};
	return ::process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof value;
}

bool wake(pid_t pid, std::uint64_t pointer)
{
	std::uint64_t card = 0;
	std::uint32_t word = 0;
	if (!copy_from(pid, pointer, card) || !copy_from(pid, card, word) || word != off)
		return false;
	std::uint32_t again = not_looked_yet;
	const iovec here{&again, sizeof again}, there{reinterpret_cast<void *>(card), sizeof again};
	return ::process_vm_writev(pid, &here, 1, &there, 1, 0) == sizeof again;
}

class Search {
public:
	unsigned wake_cards_of(pid_t pid)
	{
		unsigned woken = 0;
		std::istringstream maps(read_text(fmt::format("/proc/{}/maps", pid)));
		for (std::string line; std::getline(maps, line);) {
			std::uint64_t start = 0, end = 0, offset = 0, inode = 0;
			unsigned major = 0, minor = 0;
			char rights[5] = "";
			if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu", &start, &end, rights, &offset,
					&major, &minor, &inode) != 7 ||
			    offset != 0 || inode == 0)
				continue;
			const Where where = in_file({std::uint64_t{major} << 32 | minor, inode},
						    fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, start, end));
			woken += where && wake(pid, start + *where);
		}
		return woken;
	}

private:
	Where in_file(std::pair<std::uint64_t, std::uint64_t> file, const std::string &path)
	{
		const auto known = files_.find(file);
		return known != files_.end() ? known->second : files_[file] = find_in_file(path);
	}

	std::map<std::pair<std::uint64_t, std::uint64_t>, Where> files_; // by device and inode
};

} // namespace

edc_task describe_process(pid_t pid)
{
	edc_task task{};
	const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
	const std::size_t open = stat.find('('), close = stat.rfind(')');
	if (open != std::string::npos && close != std::string::npos && close > open) {
		stat.copy(task.comm, std::min(sizeof task.comm - 1, close - open - 1), open + 1);
		std::sscanf(stat.c_str() + close + 1, " %*c %d", &task.ppid);
	}
	task.time = read_tsc();
	task.pid = task.tgid = pid;
	task.syscall = EDC_NO_SYSCALL;
	return task;
}

bool has_other_numbers(pid_t pid)
{
	const std::string status = read_text(fmt::format("/proc/{}/status", pid));
	const std::size_t line = status.find("\nNSpid:\t");
	if (line == std::string::npos)
		return false;
	const std::size_t numbers = line + std::strlen("\nNSpid:\t");
	const std::string_view own(status.data() + numbers, status.find('\n', numbers) - numbers);
	return own.find('\t') != std::string_view::npos;
}

unsigned wake_user_cards()
{
	unsigned woken = 0;
	Search search;
	DIR *processes = ::opendir("/proc");
	if (!processes)
		return 0;
	while (const dirent *entry = ::readdir(processes))
		if (const pid_t pid = std::atoi(entry->d_name); pid > 0)
			woken += search.wake_cards_of(pid);
	::closedir(processes);
	return woken;
}

} // namespace monitor::card
