// SPDX-License-Identifier: MIT
#include "key_folders.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "fleet_keys.h"

namespace monitor::fleet {

void make_folder(const std::string &path)
{
	if (::mkdir(path.c_str(), 0700) < 0)
		throw Error(errno, "cannot create " + path);
}

void write_new(const std::string &path, const std::string &text, unsigned mode)
{
	const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	monitor::write_all(fd.get(), std::as_bytes(std::span(text)), path);
	if (::fsync(fd.get()) < 0)
		throw Error(errno, "cannot write " + path);
}

void write_certificate(const std::string &folder, const std::string &name, const Certificate &certificate)
{
	write_new(folder + '/' + name + ".pem", certificate.certificate, public_mode);
	write_new(folder + '/' + name + ".key", certificate.key, secret_mode);
}

void write_keys(const std::string &folder, const Certificate &own, const std::string &ca_pem,
		const std::string &operator_pem, const std::string &hubs)
{
	make_folder(folder);
	write_new(folder + "/" + ca_file, ca_pem, public_mode);
	write_new(folder + "/" + certificate_file, own.certificate, public_mode);
	write_new(folder + "/" + certificate_key_file, own.key, secret_mode);
	write_new(folder + "/" + operator_public_file, operator_pem, public_mode);
	write_new(folder + "/" + hub_file, hubs + "\n", public_mode);
}

} // namespace monitor::fleet
