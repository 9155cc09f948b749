// SPDX-License-Identifier: MIT
// A connection to the hub for simulated agents, of which one thread has a thousand: libnats has threads for each, so
// this speaks the protocol of NATS itself, by TLS with a host's certificate. Used by fleet_agents.cpp and
// fleet_snapshots.h. Nothing blocks but the constructor; what the socket does not take waits in memory.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

class HubClient {
public:
	// Of a message; `is_nobody`: nobody subscribes to what was sent with this reply subject.
	using Taker = std::function<void(std::string_view subject, std::span<const std::byte> data, bool is_nobody)>;

	// `keys`: a directory of `monitor fleet init`; "-": no TLS. `number`: of its events at `poller`.
	HubClient(int poller, std::uint32_t number, std::uint16_t port, const std::string &keys,
		  const std::string &name, std::initializer_list<std::string> subjects, Taker take)
	    : poller_(poller), number_(number), take_(std::move(take))
	{
		connect(port);
		if (keys != "-")
			start_tls(keys, name);
		::fcntl(fd_, F_SETFL, O_NONBLOCK);
		out_ = "CONNECT "
		       "{\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,\"name\":\"" +
		       name + "\"}\r\n";
		for (unsigned id = 1; const std::string &subject : subjects)
			out_ += "SUB " + subject + ' ' + std::to_string(id++) + "\r\n";
		epoll_event event{};
		event.events = EPOLLIN;
		event.data.u32 = number;
		::epoll_ctl(poller, EPOLL_CTL_ADD, fd_, &event);
		flush();
	}
	~HubClient()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	HubClient(const HubClient &) = delete;
	HubClient &operator=(const HubClient &) = delete;

	void publish(const std::string &subject, const std::string &reply, std::span<const std::byte> data)
	{
		out_ +=
		    "PUB " + subject + ' ' + (reply.empty() ? "" : reply + ' ') + std::to_string(data.size()) + "\r\n";
		out_.append(reinterpret_cast<const char *>(data.data()), data.size());
		out_ += "\r\n";
	}
	void publish(const std::string &subject, std::string_view text)
	{
		publish(subject, "", std::as_bytes(std::span(text)));
	}
	// What the socket has not taken.
	std::size_t unsent_bytes() const { return out_.size(); }

	void receive()
	{
		char buffer[65536];
		for (;;) {
			const auto n =
			    ssl_ ? SSL_read(ssl_.get(), buffer, sizeof buffer) : ::recv(fd_, buffer, sizeof buffer, 0);
			if (n <= 0)
				break;
			in_.append(buffer, static_cast<std::size_t>(n));
		}
		take();
		flush();
	}

	void flush()
	{
		std::size_t done = 0;
		while (done < out_.size()) {
			const auto n =
			    ssl_ ? SSL_write(ssl_.get(), out_.data() + done, static_cast<int>(out_.size() - done))
				 : ::send(fd_, out_.data() + done, out_.size() - done, MSG_NOSIGNAL);
			if (n <= 0)
				break;
			done += static_cast<std::size_t>(n);
		}
		out_.erase(0, done);
		const bool wants = !out_.empty();
		if (wants == wants_write_)
			return;
		wants_write_ = wants;
		epoll_event event{};
		event.events = wants ? EPOLLIN | EPOLLOUT : EPOLLIN;
		event.data.u32 = number_;
		::epoll_ctl(poller_, EPOLL_CTL_MOD, fd_, &event);
	}

	// Sentences of the server that begin with -ERR.
	std::uint64_t errors() const { return errors_; }

private:
	struct FreeSsl {
		void operator()(SSL *ssl) const { SSL_free(ssl); }
	};
	struct FreeContext {
		void operator()(SSL_CTX *context) const { SSL_CTX_free(context); }
	};

	void connect(std::uint16_t port)
	{
		fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0)
			throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
		const int one = 1;
		::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		for (char c = 0; c != '\n';) // INFO
			if (::recv(fd_, &c, 1, 0) != 1)
				throw std::runtime_error("the server says nothing");
	}

	void start_tls(const std::string &keys, const std::string &name)
	{
		const std::unique_ptr<SSL_CTX, FreeContext> tls(SSL_CTX_new(TLS_client_method()));
		if (!tls || SSL_CTX_load_verify_locations(tls.get(), (keys + "/ca.pem").c_str(), nullptr) != 1 ||
		    SSL_CTX_use_certificate_chain_file(tls.get(), (keys + "/me.pem").c_str()) != 1 ||
		    SSL_CTX_use_PrivateKey_file(tls.get(), (keys + "/me.key").c_str(), SSL_FILETYPE_PEM) != 1)
			throw std::runtime_error("no keys in " + keys);
		SSL_CTX_set_verify(tls.get(), SSL_VERIFY_PEER, nullptr);
		ssl_.reset(SSL_new(tls.get()));
		SSL_set_fd(ssl_.get(), fd_);
		if (SSL_connect(ssl_.get()) != 1)
			throw std::runtime_error(name + ": no TLS connection");
		SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	}

	void take()
	{
		std::size_t at = 0;
		for (;;) {
			const std::size_t end = in_.find("\r\n", at);
			if (end == std::string::npos)
				break;
			const std::string line = in_.substr(at, end - at);
			std::size_t size = 0;
			if (line.starts_with("MSG ") || line.starts_with("HMSG ")) {
				size = std::strtoul(line.c_str() + line.rfind(' ') + 1, nullptr, 10) + 2;
				if (in_.size() < end + 2 + size)
					break;
				const std::size_t space = line.find(' ') + 1;
				take_(line.substr(space, line.find(' ', space) - space),
				      std::as_bytes(std::span(in_).subspan(end + 2, size - 2)), line[0] == 'H');
			} else if (line == "PING") {
				out_ += "PONG\r\n";
			} else if (line.starts_with("-ERR") && ++errors_ < 10) {
				std::fprintf(stderr, "%u: %s\n", number_, line.c_str());
			}
			at = end + 2 + size;
		}
		in_.erase(0, at);
	}

	const int poller_;
	const std::uint32_t number_;
	const Taker take_;
	int fd_ = -1;
	std::unique_ptr<SSL, FreeSsl> ssl_;
	std::string in_, out_;
	bool wants_write_ = false;
	std::uint64_t errors_ = 0;
};
