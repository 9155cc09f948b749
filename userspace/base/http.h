// SPDX-License-Identifier: MIT
// A small HTTP server for a local browser or scraper (`monitor view`): answers GET on 127.0.0.1 only. The Host header
// must be that address (against DNS rebinding), and the path must have the secret (against other local users). Requests
// are untrusted: slow, large or malformed ones are refused without delaying others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace monitor {

struct HttpRequest {
	std::string path;                         // without the secret: "/about"
	std::map<std::string, std::string> query; // decoded
	std::string accept;                       // the header; "": there is none
};

struct HttpResponse {
	unsigned status = 200;
	std::string type, body; // "text/html; charset=utf-8"
};

class HttpServer {
public:
	// Called by several threads. An exception is answered with status 500.
	using Answer = std::function<HttpResponse(const HttpRequest &)>;

	// `port` 0: any that is free. `secret`: "" for none. Throws Error.
	HttpServer(std::uint16_t port, std::string secret, Answer answer);
	~HttpServer();

	// "http://127.0.0.1:PORT/SECRET/"
	std::string address() const;
	// Returns when stop() is called.
	void run();
	// From any thread.
	void stop();

private:
	struct Parts;
	std::unique_ptr<Parts> parts_;
};

} // namespace monitor
