// SPDX-License-Identifier: MIT
#include "nonces.h"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/durable_file.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"

namespace monitor::agent {
namespace {

constexpr const char *nonces_title = "monitor-nonces";
constexpr unsigned nonces_version = 1;
constexpr std::size_t max_nonces_bytes = 16 << 20, min_rewrite_lines = 4096;

} // namespace

Nonces::Nonces(std::string path, std::uint64_t now_ns) : path_(std::move(path))
{
	if (::access(path_.c_str(), F_OK) == 0)
		load();
	forget_expired(now_ns);
	rewrite_file();
}

// A torn last line belongs to a command never executed.
void Nonces::load()
{
	std::string text = read_file(path_, max_nonces_bytes);
	text.resize(text.rfind('\n') + 1);
	std::istringstream lines(text);
	std::string title;
	unsigned version = 0;
	lines >> title >> version >> forgotten_ns_;
	bool is_whole = lines && title == nonces_title && version == nonces_version;
	std::uint64_t expires_ns;
	std::string nonce;
	while (is_whole && lines >> expires_ns) {
		is_whole = static_cast<bool>(lines >> nonce);
		expiry_[nonce] = expires_ns;
	}
	if (!is_whole || !lines.eof())
		throw Error("{} is damaged, so commands could be repeated: wait an hour, in which all that were ever "
			    "sent expire, and remove it",
			    printable(path_));
}

void Nonces::forget_expired(std::uint64_t now_ns)
{
	std::erase_if(expiry_, [&](const auto &entry) {
		if (entry.second > now_ns)
			return false;
		forgotten_ns_ = std::max(forgotten_ns_, entry.second);
		return true;
	});
}

void Nonces::rewrite_file()
{
	std::string text = fmt::format("{} {} {}\n", nonces_title, nonces_version, forgotten_ns_);
	for (const auto &[nonce, expires_ns] : expiry_)
		text += fmt::format("{} {}\n", expires_ns, nonce);
	replace_file_durably(path_, text, 0600);
	is_torn_ = false;
	lines_ = expiry_.size();
	max_lines_ = std::max(min_rewrite_lines, std::min(2 * lines_, max_kept));
}

void Nonces::append(const std::string &nonce, std::uint64_t expires_ns)
{
	is_torn_ = true;
	const Fd fd = open_file(path_, O_WRONLY | O_APPEND | O_NOFOLLOW);
	const std::string line = fmt::format("{} {}\n", expires_ns, nonce);
	monitor::write_all(fd.get(), std::as_bytes(std::span(line)), path_);
	if (::fdatasync(fd.get()) < 0)
		throw Error(errno, "cannot write " + path_);
	is_torn_ = false;
}

std::string Nonces::use(const std::string &nonce, std::uint64_t expires_ns, std::uint64_t now_ns)
{
	if (expiry_.contains(nonce))
		return "it was obeyed before: a command is sent once";
	if (expires_ns <= forgotten_ns_)
		return "it expires before commands that were obeyed and forgotten: this host's clock went back";
	if (is_torn_ || lines_ >= max_lines_) {
		forget_expired(now_ns);
		rewrite_file();
	}
	if (expiry_.size() >= max_kept)
		return fmt::format("{} commands are valid already: wait until they expire", max_kept);
	append(nonce, expires_ns);
	++lines_;
	expiry_[nonce] = expires_ns;
	return "";
}

} // namespace monitor::agent
