// SPDX-License-Identifier: MIT
#include "symbolizer.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/demangle.h"
#include "base/fd.h"
#include "base/function_starts.h"
#include "symbol_files.h"

namespace monitor::symbols {
namespace {

constexpr std::size_t max_list_bytes = 64 << 20, max_frames_bytes = 256 << 20, max_map_bytes = 256 << 20;
constexpr std::size_t max_processes = 64; // that read debug information, or whose maps are known

std::string base_name(const std::string &path)
{
	return path.substr(path.rfind('/') + 1);
}

// Distributions ship debug information in separate packages: that they are not installed is no problem to report.
bool is_distributed(const std::string &path)
{
	return path.starts_with("/usr/") || path.starts_with("/lib");
}

// The text of a map from before `end_ns`. Anyone may write to /tmp: maps of users other than root and the caller could
// give false names to any process's functions.
std::string read_map(const std::string &path, std::int64_t end_ns, std::vector<std::string> &foreign)
{
	struct statx status = {};
	if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_UID | STATX_BTIME, &status) < 0 ||
	    !S_ISREG(status.stx_mode))
		return {};
	if (status.stx_uid != 0 && status.stx_uid != ::geteuid()) {
		foreign.push_back(path);
		return {};
	}
	const statx_timestamp &born = status.stx_btime;
	if ((status.stx_mask & STATX_BTIME) && born.tv_sec >= 0 && born.tv_sec < INT64_MAX / 1'000'000'000 &&
	    born.tv_sec * 1'000'000'000 + born.tv_nsec > end_ns)
		return {};
	return read_text(path, max_map_bytes);
}

} // namespace

Symbolizer::Symbolizer(const std::string &directory, SymbolOptions options)
    : directory_(directory + "/.monitor"), options_(std::move(options))
{
	options_.debug_directories.emplace_back("/usr/lib/debug");
	read_files();
	add_packed(parse_packed_frames(read_text(directory_ + "/frames", max_frames_bytes)));
}

void Symbolizer::add_packed(const PackedFrames &packed)
{
	for (const PackedFrames::InFile &each : packed.in_files) {
		const auto file = files_.find(each.file);
		if (each.file != 0 && file == files_.end())
			continue;
		Frames frames{{}, true};
		for (const SourceFrame &frame : each.frames)
			frames.names.push_back(
			    intern({frame.function, each.file == 0 ? each.module : base_name(file->second.code.path),
				    frame.line, each.file == 0,
				    each.file != 0 && file->second.code.is_assumed(each.address)}));
		(each.file == 0 ? known_kernel_ : file->second.known)[each.address] = std::move(frames);
	}
	for (const PackedFrames::Jit &jit : packed.jit)
		jit_functions_[jit.process].add(jit.function);
}

PackedFrames Symbolizer::found() const
{
	PackedFrames packed;
	const auto add = [&](std::uint32_t file, const std::unordered_map<std::uint64_t, Frames> &known) {
		for (const auto &[address, frames] : known) {
			if (!frames.is_found)
				continue;
			PackedFrames::InFile &each = packed.in_files.emplace_back();
			each.file = file;
			each.address = address;
			for (const Name name : frames.names)
				each.frames.push_back({names_[name].function, names_[name].line});
			if (file == 0)
				each.module = names_[frames.names.front()].module;
		}
	};
	add(0, known_kernel_);
	for (const auto &[number, file] : files_)
		add(number, file.known);
	std::ranges::sort(packed.in_files, {}, [](const auto &each) { return std::pair(each.file, each.address); });
	for (const auto &[key, name] : known_jit_)
		packed.jit.push_back({key.first, *key.second});
	std::ranges::sort(packed.jit, {}, [](const auto &jit) {
		return std::tuple(jit.process, jit.function.since, jit.function.address);
	});
	return packed;
}

Name Symbolizer::intern(FrameName name)
{
	if (!options_.lines)
		name.line.clear();
	const auto [found, is_new] =
	    by_text_.try_emplace({name.function, name.module, name.line}, static_cast<Name>(names_.size()));
	if (is_new)
		names_.push_back(std::move(name));
	else
		names_[found->second].is_assumed |= name.is_assumed;
	return found->second;
}

Name Symbolizer::other(const std::string &text)
{
	return intern({text, "", "", false});
}

// Reads what was written since the last call, up to the last complete line.
void Symbolizer::read_files()
{
	std::error_code error;
	if (std::filesystem::file_size(directory_ + "/files", error) <= read_bytes_ && !error)
		return;
	const std::string text = read_text(directory_ + "/files", max_list_bytes);
	const std::size_t end = text.rfind('\n') + 1;
	if (end <= read_bytes_)
		return;
	CodeList list = parse_code_list(text.substr(read_bytes_, end - read_bytes_));
	for (auto &[number, file] : list.files) {
		file.copy = fmt::format("{}/code/{}", directory_, number);
		files_[number].code = std::move(file);
	}
	inner_pids_.merge(list.numbers);
	without_room_.merge(list.without_room);
	opener_lost_ |= list.opener_lost;
	read_bytes_ = end;
}

void Symbolizer::expect_file(std::uint32_t number)
{
	if (number && !files_.contains(number))
		read_files();
}

void Symbolizer::forget_jit_functions(std::int32_t process)
{
	jit_functions_.erase(process);
	std::erase_if(known_jit_, [&](const auto &each) { return each.first.first == process; });
}

void Symbolizer::forget_above(std::size_t max_names, std::size_t max_functions)
{
	std::size_t addresses = known_kernel_.size(), processes = 0;
	for (const auto &[number, file] : files_) {
		addresses += file.known.size();
		processes += file.debug_info.has_value();
	}
	if (std::max(addresses, names_.size()) <= max_names && functions_ <= max_functions &&
	    processes <= max_processes && jit_functions_.size() <= max_processes)
		return;
	for (auto &[number, file] : files_) {
		file.is_loaded = false;
		file.functions = {};
		file.debug_info.reset();
		file.not_found = {};
		file.known.clear();
	}
	functions_ = 0;
	known_kernel_.clear();
	jit_functions_.clear();
	known_jit_.clear();
	names_.clear();
	by_text_.clear();
	missing_.clear();
	foreign_.clear();
}

bool Symbolizer::is_too_late()
{
	if (look_up_until_ == Clock::time_point::max() || Clock::now() < look_up_until_)
		return false;
	++unnamed_;
	return true;
}

std::span<const Name> Symbolizer::single(Name name)
{
	single_ = name;
	return {&single_, 1};
}

Name Symbolizer::kernel(std::uint64_t address, bool is_return)
{
	address -= is_return;
	if (const auto known = known_kernel_.find(address); known != known_kernel_.end())
		return known->second.names.front();
	FrameName name{fmt::format("kernel+{:#x}", address), "kernel", "", true};
	if (!kernel_ && is_too_late())
		return intern(std::move(name));
	if (!kernel_)
		kernel_ = FunctionTable(functions_of_kernel(read_text(directory_ + "/kallsyms", max_list_bytes)));
	const Function *function = kernel_->find(address);
	if (function) {
		const std::size_t module = function->name.find(" [");
		name.function = function->name.substr(0, module);
		if (module != std::string::npos)
			name.module = function->name.substr(module + 1);
	}
	const Name number = intern(std::move(name));
	known_kernel_[address] = {{number}, function != nullptr};
	return number;
}

void Symbolizer::load(File &file)
{
	file.is_loaded = true;
	if (file.code.path == "[vdso]") {
		const std::string bytes = read_text(directory_ + "/vdso", 1 << 20);
		file.functions = FunctionTable(functions_in(std::as_bytes(std::span(bytes))));
		return;
	}
	SymbolFile symbols = find_symbols(file.code, options_.debug_directories);
	if (!symbols.is_found)
		missing_.push_back(file.code.path);
	file.functions = FunctionTable(std::move(symbols.functions));
	functions_ += file.functions.size();
	if (!DebugInfo::is_available())
		return;
	if (symbols.debug_info || options_.lines || !is_distributed(file.code.path))
		file.not_found.add(std::move(symbols.tried_paths));
	if (symbols.debug_info)
		file.debug_info.emplace(std::move(symbols.debug_info), std::move(symbols.common), options_.stop_fd);
}

Symbolizer::Frames Symbolizer::look_up(File &file, std::uint64_t address)
{
	if (!file.is_loaded)
		load(file);
	const std::string module = base_name(file.code.path);
	const Function *function = file.functions.find(address);
	std::vector<SourceFrame> source;
	if (file.debug_info)
		source = file.debug_info->find(address);
	if (source.empty())
		source.emplace_back();
	if (function && !function->name.empty())
		source.front().function = demangled(function->name);
	const bool is_assumed = file.code.is_assumed(address);
	Frames frames{{}, function || !source.front().function.empty()};
	if (source.front().function.empty())
		source.front().function = unnamed_function(module, function ? function->address : address);
	for (SourceFrame &frame : source) {
		const bool is_inlined = !frames.names.empty();
		if (is_inlined)
			frame.function = fmt::format("{} (inlined)", frame.function.empty() ? "?" : frame.function);
		frames.names.push_back(
		    intern({std::move(frame.function), module, std::move(frame.line), false, is_assumed}));
	}
	return frames;
}

std::vector<std::uint32_t> Symbolizer::users_without_room() const
{
	std::vector<std::uint32_t> users;
	for (const auto &[user, what] : without_room_)
		if (users.empty() || users.back() != user)
			users.push_back(user);
	return users;
}

std::vector<std::string> Symbolizer::with_unknown_go() const
{
	std::vector<std::string> paths;
	for (const auto &[number, file] : files_)
		if (file.code.has_unknown_go && !file.known.empty())
			paths.push_back(file.code.path);
	std::ranges::sort(paths);
	return paths;
}

std::vector<std::string> Symbolizer::damaged() const
{
	std::vector<std::string> paths;
	for (const auto &[number, file] : files_)
		if (file.debug_info && file.debug_info->has_failed())
			paths.push_back(file.code.path);
	for (const auto &[process, functions] : jit_functions_)
		if (functions.is_cut())
			paths.push_back(fmt::format("process {}'s own code", process));
	return paths;
}

std::vector<std::pair<std::string, MissingFiles>> Symbolizer::incomplete() const
{
	std::vector<std::pair<std::string, MissingFiles>> found;
	for (const auto &[number, file] : files_) {
		MissingFiles not_found = file.not_found;
		if (file.debug_info) {
			if (!not_found.count)
				not_found.paths = file.debug_info->not_found().paths;
			not_found.count += file.debug_info->not_found().count;
		}
		if (not_found.count)
			found.emplace_back(file.code.path, std::move(not_found));
	}
	std::ranges::sort(found, {}, &std::pair<std::string, MissingFiles>::first);
	return found;
}

// A jitdump is recognized by its name, and by the program's mapping of it.
JitFunctions &Symbolizer::jit_functions_of(std::int32_t process)
{
	const auto [found, is_new] = jit_functions_.try_emplace(process);
	if (!is_new)
		return found->second;
	const auto other = inner_pids_.find(process);
	const std::int32_t own = other == inner_pids_.end() ? process : other->second; // the pid in its own namespace
	const std::string map = fmt::format("{}/perf-{}.map", options_.maps, own);
	const std::string jit_map = read_map(map, options_.end_ns, foreign_);
	if (jit_map.empty() && own != process)
		missing_.push_back(map); // it may be in another mount namespace's /tmp
	found->second.add_map(jit_map);
	const std::string dump = fmt::format("jit-{}.dump", own);
	for (const auto &[number, file] : files_)
		if (base_name(file.code.path) == dump) {
			const std::string bytes = read_map(file.code.path, options_.end_ns, foreign_);
			found->second.add_dump(std::as_bytes(std::span(bytes)), options_.ticks_of);
		}
	return found->second;
}

std::span<const Name> Symbolizer::user(std::int32_t process, std::uint64_t time, std::uint64_t address, bool is_return)
{
	address -= is_return;
	const std::optional<CodeMap::Location> location = code_.find(process, time, address);
	const auto found = location ? files_.find(location->file) : files_.end();
	if (found == files_.end() || found->second.code.loads.empty()) { // maybe generated at run time
		const std::int32_t owner = location ? location->process : process;
		if (!jit_functions_.contains(owner) && is_too_late())
			return single(other("[code in no file]"));
		if (const JitFunction *function = jit_functions_of(owner).find(time, address)) {
			const auto [known, is_new] = known_jit_.try_emplace({owner, function});
			if (is_new)
				known->second = intern({function->name, "[jit]", "", false});
			return {&known->second, 1};
		}
	}
	if (found == files_.end())
		return single(other(location ? "[code in no file]" : "[not mapped]"));
	File &file = found->second;
	const std::uint64_t at = file.code.address_of(location->offset);
	const auto known = file.known.find(at);
	if (known == file.known.end() && is_too_late()) {
		const std::string module = base_name(file.code.path);
		return single(intern({unnamed_function(module, at), module, "", false}));
	}
	return known != file.known.end() ? known->second.names : (file.known[at] = look_up(file, at)).names;
}

} // namespace monitor::symbols
