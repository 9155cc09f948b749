// SPDX-License-Identifier: MIT
#include "keys.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "pem.h"

namespace monitor::fleet {
namespace {

using KeyPointer = std::shared_ptr<EVP_PKEY>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)>;

KeyPointer key_of(EVP_PKEY *key)
{
	return {key, ::EVP_PKEY_free};
}

KeyPointer expect_ed25519(EVP_PKEY *key, const std::string &where, const char *what)
{
	KeyPointer owned = key_of(key);
	if (!key || ::EVP_PKEY_id(key) != EVP_PKEY_ED25519)
		throw Error("{} has no Ed25519 {} key: use a file that `monitor fleet init` wrote", printable(where),
			    what);
	return owned;
}

const unsigned char *bytes_of(std::string_view text)
{
	return reinterpret_cast<const unsigned char *>(text.data());
}

} // namespace

PublicKey::PublicKey(const std::string &pem, const std::string &where)
    : key_(expect_ed25519(::PEM_read_bio_PUBKEY(pem_reader(pem).get(), nullptr, no_passphrase, nullptr), where,
			  "public"))
{
}

PublicKey PublicKey::read(const std::string &path)
{
	return {read_file(path, max_key_file_bytes), path};
}

bool PublicKey::verifies(std::string_view text, std::string_view untrusted_signature) const
{
	if (untrusted_signature.size() != signature_bytes)
		return false;
	const DigestContext context(::EVP_MD_CTX_new(), ::EVP_MD_CTX_free);
	return context && ::EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
	       ::EVP_DigestVerify(context.get(), bytes_of(untrusted_signature), untrusted_signature.size(),
				  bytes_of(text), text.size()) == 1;
}

std::string PublicKey::pem() const
{
	return pem_by([this](BIO *bio) { return ::PEM_write_bio_PUBKEY(bio, key_.get()); });
}

SigningKey::SigningKey() : key_(key_of(::EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")))
{
	if (!key_)
		throw Error("libcrypto cannot make an Ed25519 key");
}

SigningKey SigningKey::read(const std::string &path)
{
	const std::string pem = read_private_file(path);
	return SigningKey(expect_ed25519(
	    ::PEM_read_bio_PrivateKey(pem_reader(pem).get(), nullptr, no_passphrase, nullptr), path, "private"));
}

std::string SigningKey::sign(std::string_view text) const
{
	std::string signature(signature_bytes, '\0');
	std::size_t size = signature.size();
	const DigestContext context(::EVP_MD_CTX_new(), ::EVP_MD_CTX_free);
	if (!context || ::EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
	    ::EVP_DigestSign(context.get(), reinterpret_cast<unsigned char *>(signature.data()), &size, bytes_of(text),
			     text.size()) != 1 ||
	    size != signature_bytes)
		throw Error("libcrypto cannot sign");
	return signature;
}

std::string SigningKey::pem() const
{
	return pem_by([this](BIO *bio) {
		return ::PEM_write_bio_PrivateKey(bio, key_.get(), nullptr, nullptr, 0, no_passphrase, nullptr);
	});
}

std::string read_private_file(const std::string &path)
{
	struct stat status;
	const Fd fd = open_regular(path, status);
	std::string text(max_key_file_bytes, '\0');
	const ssize_t n = ::pread(fd.get(), text.data(), text.size(), 0);
	if (n < 0)
		throw Error(errno, "cannot read " + path);
	text.resize(static_cast<std::size_t>(n));
	if (status.st_uid != ::geteuid() && status.st_uid != 0)
		throw Error(
		    "{} belongs to another user, who could replace the key: copy it and its directory as your own",
		    printable(path));
	if (status.st_mode & 077)
		throw Error("{} can be read by others, so its key is not secret: chmod 600 {}", printable(path),
			    printable(path));
	return text;
}

} // namespace monitor::fleet
