// SPDX-License-Identifier: MIT
// The operator's signature of control messages: Ed25519 by libcrypto, keys in PEM files.
//
// The private key stays with the operator. Agents have the public key and trust nothing else: neither the hub nor their
// own network process. Keys are values; any thread may use one. Invariant: a private key that others can read is
// refused.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st; // of libcrypto

namespace monitor::fleet {

inline constexpr std::size_t signature_bytes = 64, max_key_file_bytes = 16384;

// Verifies.
class PublicKey {
public:
	// `where` is for messages. Both throw Error.
	PublicKey(const std::string &pem, const std::string &where);
	explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
	static PublicKey read(const std::string &path);

	bool verifies(std::string_view text, std::string_view untrusted_signature) const;
	std::string pem() const;

private:
	std::shared_ptr<evp_pkey_st> key_;
};

// Signs.
class SigningKey {
public:
	// Generates a key. Throws Error.
	SigningKey();
	// Throws Error, also if others may read the file.
	static SigningKey read(const std::string &path);

	std::string sign(std::string_view text) const;
	std::string pem() const;
	PublicKey public_key() const { return PublicKey(key_); }

private:
	explicit SigningKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}

	std::shared_ptr<evp_pkey_st> key_;
};

// Reads a file with a private key. Throws Error unless it belongs to this user or root, and nobody else may read it.
std::string read_private_file(const std::string &path);

} // namespace monitor::fleet
