// SPDX-License-Identifier: MIT
// Which commands were obeyed already: their nonces, in a file, so that a command is obeyed once, also after a restart.
//
// Used by privileged_process.cpp, in its only thread, for commands whose signature and times hold. A nonce is on the
// disk before its command is obeyed. One whose command has expired is forgotten; from then on every command that
// expires no later is refused, so one cannot come back after the clock was set back. Invariant: of two commands with
// one nonce at most one is obeyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace monitor::agent {

class Nonces {
public:
	static constexpr std::size_t max_kept = 65536;

	// The file is created if there is none. Throws Error, also if it is damaged.
	Nonces(std::string path, std::uint64_t now_ns);

	// "" if the command is the first with this nonce, and the end of a sentence if it must be refused. Throws Error
	// if that cannot be written down.
	std::string use(const std::string &nonce, std::uint64_t expires_ns, std::uint64_t now_ns);

	std::size_t kept() const { return expiry_.size(); }

private:
	void load();
	void forget_expired(std::uint64_t now_ns);
	void write_all_of_them();
	void append(const std::string &nonce, std::uint64_t expires_ns);

	std::string path_;
	std::uint64_t forgotten_ns_ = 0;              // the latest expiry of one that was forgotten
	std::map<std::string, std::uint64_t> expiry_; // by nonce
	std::size_t lines_ = 0, rewritten_at_ = 0;    // of the file
	bool is_torn_ = false; // a line could not be written, as on a full disk: nothing is appended to what is there
};

} // namespace monitor::agent
