// SPDX-License-Identifier: MIT
// PEM texts for libcrypto's functions, which read from and write to a BIO.
#pragma once

#include <memory>
#include <string>

#include <openssl/pem.h>

#include "base/error.h"

namespace monitor::fleet {

using Bio = std::unique_ptr<BIO, decltype(&::BIO_free_all)>;

inline Bio pem_reader(const std::string &text)
{
	return {::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), ::BIO_free_all};
}

// The text that a function writes to a BIO; it returns 1 on success. Throws Error.
template <class Write> std::string pem_by(Write &&write)
{
	const Bio bio(::BIO_new(::BIO_s_mem()), ::BIO_free_all);
	if (!bio || write(bio.get()) != 1)
		throw Error("libcrypto cannot write PEM");
	char *data = nullptr;
	const long size = BIO_get_mem_data(bio.get(), &data);
	return {data, static_cast<std::size_t>(size)};
}

// Never prompts at the terminal for a passphrase.
inline int no_passphrase(char *, int, int, void *)
{
	return -1;
}

} // namespace monitor::fleet
