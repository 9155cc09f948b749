// SPDX-License-Identifier: MIT
#include "http.h"

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility> // needed, but not included, by Boost 1.74
#include <vector>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <fmt/format.h>

#include "error.h"
#include "scanner.h"

namespace monitor {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using asio::ip::tcp;

constexpr unsigned threads = 4;                                        // a slow answer must not hold up the others
constexpr std::size_t max_connections = 256, max_unauthenticated = 64; // that have not sent the secret
constexpr std::uint32_t max_header_bytes = 8 << 10;
constexpr auto max_read_time = 10s; // from the first byte of a request to its last
constexpr auto max_idle_time = 60s; // until the next request
constexpr auto max_write_time = 60s;

std::optional<std::string> decoded(std::string_view text)
{
	std::string result;
	for (std::size_t i = 0; i < text.size(); ++i) {
		if (text[i] != '%') {
			result += text[i] == '+' ? ' ' : text[i];
			continue;
		}
		const auto digit = [&](std::size_t at) { return digit_value(at < text.size() ? text[at] : '?'); };
		const unsigned high = digit(i + 1), low = digit(i + 2);
		if (high > 15 || low > 15)
			return {};
		result += static_cast<char>(high * 16 + low);
		i += 2;
	}
	return result;
}

// Takes the same time wherever the texts differ.
bool is_same(std::string_view one, std::string_view other)
{
	if (one.size() != other.size())
		return false;
	unsigned different = 0;
	for (std::size_t i = 0; i < one.size(); ++i)
		different |=
		    static_cast<unsigned>(static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]));
	return different == 0;
}

HttpResponse refusal(http::status status, const std::string &why)
{
	return {static_cast<unsigned>(status), "text/plain; charset=utf-8", why + "\n"};
}

} // namespace

struct HttpServer::Parts {
	class Connection;

	std::string secret;
	Answer answer;
	std::mutex lock; // protects `connections` and `unauthenticated`; declared before `io`, whose destructor ends
			 // connections
	std::size_t connections = 0;
	asio::io_context io{threads};
	tcp::acceptor acceptor{io};
	asio::steady_timer pause{io};
	std::uint16_t port = 0;
	std::list<std::weak_ptr<Connection>> unauthenticated; // oldest first

	HttpResponse respond(const http::request<http::empty_body> &request) const;
	void accept();
	void track_unauthenticated(const std::shared_ptr<Connection> &connection);
};

// Answers one request after another. Keeps itself alive while an operation is pending.
class HttpServer::Parts::Connection : public std::enable_shared_from_this<Connection> {
public:
	Connection(Parts &parts, tcp::socket socket) : parts_(parts), stream_(std::move(socket)) {}
	~Connection()
	{
		const std::lock_guard guard(parts_.lock);
		--parts_.connections;
	}

	void start()
	{
		beast::error_code none;
		stream_.socket().set_option(tcp::no_delay(true), none);
		wait_for_request(max_read_time);
	}
	// Called by any thread.
	void end()
	{
		asio::post(stream_.get_executor(), [self = shared_from_this()] { self->stream_.close(); });
	}
	bool is_unauthenticated() const { return is_unauthenticated_; }

private:
	void wait_for_request(std::chrono::seconds time)
	{
		parser_.emplace();
		parser_->header_limit(max_header_bytes);
		if (buffer_.size() > 0)
			return read();
		stream_.expires_after(time);
		stream_.async_read_some(buffer_.prepare(max_header_bytes),
					[self = shared_from_this()](beast::error_code error, std::size_t bytes) {
						self->buffer_.commit(bytes);
						if (!error)
							self->read();
					});
	}
	void read()
	{
		stream_.expires_after(max_read_time);
		http::async_read(stream_, buffer_, *parser_,
				 [self = shared_from_this()](beast::error_code error, std::size_t) {
					 if (!error)
						 self->write();
				 });
	}
	void write()
	{
		const http::request<http::empty_body> request = parser_->release();
		HttpResponse made = parts_.respond(request);
		const bool is_refused = made.status == static_cast<unsigned>(http::status::forbidden);
		is_unauthenticated_ = is_unauthenticated_ && (is_refused || parts_.secret.empty());
		response_ = {static_cast<http::status>(made.status), request.version()};
		response_.set(http::field::content_type, made.type);
		response_.set(http::field::cache_control, "no-store");
		response_.set(
		    "Content-Security-Policy",
		    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
		    "data:; base-uri 'none'; form-action 'none'; frame-src 'self'; frame-ancestors 'self'");
		response_.set("Cross-Origin-Resource-Policy", "same-origin");
		response_.set("X-Content-Type-Options", "nosniff");
		response_.set("Referrer-Policy", "no-referrer"); // the URL contains the secret
		response_.keep_alive(request.keep_alive() && !is_refused);
		response_.body() = std::move(made.body);
		response_.prepare_payload();
		stream_.expires_after(max_write_time);
		http::async_write(stream_, response_,
				  [self = shared_from_this()](beast::error_code error, std::size_t) {
					  if (!error && !self->response_.need_eof())
						  return self->wait_for_request(max_idle_time);
					  beast::error_code none;
					  self->stream_.socket().shutdown(tcp::socket::shutdown_both, none);
				  });
	}

	Parts &parts_;
	beast::tcp_stream stream_;
	beast::flat_buffer buffer_;
	std::optional<http::request_parser<http::empty_body>> parser_;
	http::response<http::string_body> response_;
	std::atomic<bool> is_unauthenticated_{true};
};

HttpResponse HttpServer::Parts::respond(const http::request<http::empty_body> &request) const
{
	const std::string_view host(request[http::field::host].data(), request[http::field::host].size());
	const bool is_our_address =
	    host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
	if (request.count(http::field::host) != 1 || !is_our_address)
		return refusal(http::status::forbidden, "this server is for this machine only");
	if (request.method() != http::verb::get)
		return refusal(http::status::method_not_allowed, "only GET is answered");
	std::string_view target(request.target().data(), request.target().size());
	const std::string prefix = secret.empty() ? "" : "/" + secret;
	if (target.size() < prefix.size() || !is_same(target.substr(0, prefix.size()), prefix) ||
	    target.substr(prefix.size(), 1) != "/")
		return refusal(http::status::forbidden, "the address is not complete: use the one that was printed");
	target.remove_prefix(prefix.size());
	HttpRequest parsed;
	parsed.accept = std::string_view(request[http::field::accept].data(), request[http::field::accept].size());
	parsed.path = take_until(target, '?');
	while (!target.empty()) {
		std::string_view pair = take_until(target, '&');
		const auto name = decoded(take_until(pair, '=')), value = decoded(pair);
		if (!name || !value)
			return refusal(http::status::bad_request, "the query is not encoded as it should be");
		parsed.query[*name] = *value;
	}
	try {
		return answer(parsed);
	} catch (const std::exception &error) {
		return refusal(http::status::internal_server_error, error.what());
	}
}

// Closes the oldest one if there are too many.
void HttpServer::Parts::track_unauthenticated(const std::shared_ptr<Connection> &connection)
{
	std::vector<std::shared_ptr<Connection>>
	    held; // destroyed after the lock is released, as the last reference ends the connection
	const std::lock_guard guard(lock);
	unauthenticated.remove_if([&held](const std::weak_ptr<Connection> &one) {
		held.push_back(one.lock());
		return !held.back() || !held.back()->is_unauthenticated();
	});
	unauthenticated.push_back(connection);
	if (unauthenticated.size() <= max_unauthenticated)
		return;
	held.push_back(unauthenticated.front().lock());
	unauthenticated.pop_front();
	if (held.back())
		held.back()->end();
}

void HttpServer::Parts::accept()
{
	acceptor.async_accept(asio::make_strand(io), [this](beast::error_code error, tcp::socket socket) {
		if (error == asio::error::operation_aborted)
			return;
		if (error) { // out of descriptors: retry when others have ended
			pause.expires_after(100ms);
			pause.async_wait([this](beast::error_code over) {
				if (!over)
					accept();
			});
			return;
		}
		bool is_full = false;
		{
			const std::lock_guard guard(lock);
			is_full = connections >= max_connections;
			connections += !is_full;
		}
		if (!is_full) { // otherwise `socket` closes it
			const auto connection = std::make_shared<Connection>(*this, std::move(socket));
			track_unauthenticated(connection);
			connection->start();
		}
		accept();
	});
}

HttpServer::HttpServer(std::uint16_t port, std::string secret, Answer answer) : parts_(std::make_unique<Parts>())
{
	parts_->secret = std::move(secret);
	parts_->answer = std::move(answer);
	try {
		const tcp::endpoint at(asio::ip::address_v4::loopback(), port);
		parts_->acceptor.open(at.protocol());
		parts_->acceptor.set_option(tcp::acceptor::reuse_address(true));
		parts_->acceptor.bind(at);
		parts_->acceptor.listen();
		parts_->port = parts_->acceptor.local_endpoint().port();
	} catch (const boost::system::system_error &error) {
		throw Error(error.code().value(), fmt::format("cannot listen on 127.0.0.1:{}", port));
	}
}

HttpServer::~HttpServer() = default;

std::string HttpServer::address() const
{
	return fmt::format("http://127.0.0.1:{}/{}", parts_->port, parts_->secret.empty() ? "" : parts_->secret + "/");
}

void HttpServer::run()
{
	parts_->accept();
	std::vector<std::jthread> others;
	for (unsigned i = 1; i < threads; ++i)
		others.emplace_back([this] { parts_->io.run(); });
	parts_->io.run();
}

void HttpServer::stop()
{
	parts_->io.stop();
}

} // namespace monitor
