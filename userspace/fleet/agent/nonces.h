// SPDX-License-Identifier: MIT
// The nonces of executed commands, in a file, so that a command is executed once, also across restarts.
//
// For commands whose signature and times are valid. A nonce is on the disk before its command is executed. Expired ones
// are forgotten; from then on every command that expires no later is refused, so none is accepted again after the clock
// was set back. One thread.
// Invariant: of two commands with one nonce at most one is executed.
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

	// "" if the command is the first with this nonce, else the end of a sentence. Throws Error if it cannot be
	// stored.
	std::string use(const std::string &nonce, std::uint64_t expires_ns, std::uint64_t now_ns);

	std::size_t kept() const { return expiry_.size(); }

private:
	void load();
	void forget_expired(std::uint64_t now_ns);
	void write_all_of_them();
	void append(const std::string &nonce, std::uint64_t expires_ns);

	std::string path_;
	std::uint64_t forgotten_ns_ = 0;              // the latest expiry of a forgotten one
	std::map<std::string, std::uint64_t> expiry_; // by nonce
	std::size_t lines_ = 0, rewritten_at_ = 0;    // of the file
	bool is_torn_ = false;                        // a line could not be written, as on a full disk: do not append
};

} // namespace monitor::agent
