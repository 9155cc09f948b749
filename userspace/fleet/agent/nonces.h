// SPDX-License-Identifier: MIT
// The nonces of executed commands, in a file, so that each command is executed once, also across restarts.
// Used for commands with valid signature and times. A nonce is on the disk before its command is executed. Expired
// nonces are deleted; commands that expire no later than these are refused from then on, so none is accepted again if
// the clock is set back. One thread. Invariant: of several commands with one nonce at most one is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace monitor::agent {

class Nonces {
public:
	static constexpr std::size_t max_kept = 65536;

	// Creates the file if it does not exist. Throws Error, also if it is damaged.
	Nonces(std::string path, std::uint64_t now_ns);

	// "" if the nonce is new, else the reason, as the end of a message. Throws Error if it cannot be stored.
	std::string use(const std::string &nonce, std::uint64_t expires_ns, std::uint64_t now_ns);

	std::size_t kept() const { return expiry_.size(); }

private:
	void load();
	void forget_expired(std::uint64_t now_ns);
	void rewrite_file();
	void append(const std::string &nonce, std::uint64_t expires_ns);

	std::string path_;
	std::uint64_t forgotten_ns_ = 0;              // the latest expiry of the deleted ones
	std::map<std::string, std::uint64_t> expiry_; // by nonce
	std::size_t lines_ = 0, max_lines_ = 0;       // in the file; from when on it is rewritten
	bool is_torn_ = false;                        // a write failed in mid-line, as on a full disk: do not append
};

} // namespace monitor::agent
