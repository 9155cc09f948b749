// SPDX-License-Identifier: MIT
#include "connection.h"

#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <fcntl.h>

#include <fmt/format.h>
#include <nats/nats.h>
#include <openssl/crypto.h>

#include "base/error.h"
#include "base/fd.h"
#include "hub.h"
#include "late_calls.h"

namespace monitor::fleet {

// A subscription of a Connection, on the library's current connection.
struct Subscribed {
	std::string subject;
	Connection::Handler handler;
	Connection::PendingLimits limits;
	void *number = nullptr;
};

namespace {

// At exit OpenSSL would free memory that threads of libnats, which cannot be joined, still use. Must run before
// anything else initialises OpenSSL, so before main(). OPENSSL_init_crypto(3).
[[maybe_unused]] const int has_no_atexit = ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

constexpr auto error_interval = std::chrono::seconds(10);
constexpr std::size_t max_reported_problems = 32;

using OptionsPointer = std::unique_ptr<natsOptions, decltype(&natsOptions_Destroy)>;
using SubscriptionPointer = std::unique_ptr<natsSubscription, decltype(&natsSubscription_Destroy)>;

std::string text_or_nothing(const char *text)
{
	return text ? text : "";
}

HubProblem problem_of(natsStatus status)
{
	switch (status) {
	case NATS_NO_SERVER:
	case NATS_IO_ERROR:
	case NATS_TIMEOUT:
		return HubProblem::unreachable;
	case NATS_SSL_ERROR:
		return HubProblem::handshake;
	case NATS_SECURE_CONNECTION_REQUIRED:
		return HubProblem::wants_tls;
	case NATS_SECURE_CONNECTION_WANTED:
		return HubProblem::without_tls;
	case NATS_CONNECTION_AUTH_FAILED:
	case NATS_NOT_PERMITTED:
		return HubProblem::refused;
	default:
		return HubProblem::protocol;
	}
}

void expect_ok(natsStatus status, const char *what)
{
	if (status != NATS_OK)
		throw Error("{}: {} ({})", what, text_or_nothing(nats_GetLastError(nullptr)),
			    natsStatus_GetText(status));
}

void set_certificate_texts(natsOptions *options, const ConnectionOptions &wanted)
{
	expect_ok(natsOptions_SetCATrustedCertificates(options, wanted.ca_pem.c_str()),
		  "the authority's certificate is none");
	expect_ok(natsOptions_SetCertificatesChain(options, wanted.certificate_pem.c_str(), wanted.key_pem.c_str()),
		  "the certificate and its key do not belong together");
}

void set_certificate_files(natsOptions *options, const ConnectionOptions &wanted, const HubAddress &hub)
{
	for (const auto &[option, path] :
	     {std::pair("--ca", wanted.ca_file), std::pair("--cert", wanted.certificate_file),
	      std::pair("--key", wanted.key_file)}) {
		if (path.empty())
			throw Error("--hub {} needs {} FILE, as `monitor fleet init` writes it", hub.url(), option);
		open_file(path, O_RDONLY);
	}
	expect_ok(natsOptions_LoadCATrustedCertificates(options, wanted.ca_file.c_str()),
		  fmt::format("--ca {} has no certificate", wanted.ca_file).c_str());
	expect_ok(natsOptions_LoadCertificatesChain(options, wanted.certificate_file.c_str(), wanted.key_file.c_str()),
		  fmt::format("--cert {} and --key {} are not a certificate and its key", wanted.certificate_file,
			      wanted.key_file)
		      .c_str());
}

void set_certificates(natsOptions *options, const ConnectionOptions &wanted, const HubAddress &hub)
{
	expect_ok(natsOptions_SetSecure(options, true), "this libnats has no TLS");
	if (wanted.key_pem.empty())
		set_certificate_files(options, wanted, hub);
	else
		set_certificate_texts(options, wanted);
	const std::string &name = wanted.expected_host.empty() ? hub.host : wanted.expected_host;
	expect_ok(natsOptions_SetExpectedHostname(options, name.c_str()),
		  "cannot expect a name in the hub's certificate");
}

OptionsPointer make_options(const ConnectionOptions &wanted, const HubAddress &hub)
{
	natsOptions *made = nullptr;
	expect_ok(natsOptions_Create(&made), "cannot set up libnats");
	OptionsPointer options(made, natsOptions_Destroy);
	const char *const what = "libnats refuses an option";
	expect_ok(natsOptions_SetURL(made, hub.url().c_str()), what);
	expect_ok(natsOptions_SetName(made, wanted.name.c_str()), what);
	expect_ok(natsOptions_SetAllowReconnect(made, false), what);
	expect_ok(natsOptions_SetTimeout(made, wanted.timeout.count()), what);
	expect_ok(natsOptions_SetWriteDeadline(made, wanted.write_timeout.count()), what);
	expect_ok(natsOptions_SetPingInterval(made, wanted.ping_interval.count()), what);
	expect_ok(natsOptions_SetMaxPingsOut(made, 2), what);
	expect_ok(natsOptions_SetSendAsap(made, wanted.is_urgent), what);
	if (hub.tls)
		set_certificates(made, wanted, hub);
	return options;
}

void deliver(natsConnection *, natsSubscription *, natsMsg *message, void *number)
{
	const std::unique_ptr<natsMsg, decltype(&natsMsg_Destroy)> owned(message, natsMsg_Destroy);
	const char *const reply = natsMsg_GetReply(message);
	const Connection::Message received{
	    natsMsg_GetSubject(message), reply ? reply : "",
	    std::as_bytes(
		std::span(natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message)))),
	    natsMsg_IsNoResponders(message)};
	LateCalls<Subscribed>::call(number, [&](Subscribed &subscribed) { subscribed.handler(received); });
}

std::string error_text(natsConnection *connection, natsSubscription *subscription, natsStatus status)
{
	if (status == NATS_SLOW_CONSUMER && subscription) {
		std::int64_t dropped = 0;
		natsSubscription_GetDropped(subscription, &dropped);
		return fmt::format("messages to {} come faster than they are handled: {} dropped so far",
				   text_or_nothing(natsSubscription_GetSubject(subscription)), dropped);
	}
	const char *detail = nullptr;
	natsConnection_GetLastError(connection, &detail);
	return fmt::format("the hub reports: {}", detail && *detail ? detail : natsStatus_GetText(status));
}

} // namespace

struct Connection::Parts {
	Parts(const ConnectionOptions &options, Events handlers)
	    : wanted(options), hubs(parse_hubs(options.hub)), events(std::move(handlers)),
	      number(LateCalls<Parts>::add(*this))
	{
	}
	~Parts()
	{
		LateCalls<Parts>::remove(number);
		for (const auto &each : subscribed)
			LateCalls<Subscribed>::remove(each->number);
	}

	static void on_closed(natsConnection *, void *number);
	static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status,
			     void *number);

	bool open(const HubAddress &hub, std::string &why);
	std::string close(const HubAddress &hub);
	bool subscribe_now(natsConnection *connection, const Subscribed &subscribed); // with `mutex` locked
	void wait_until_closed();
	void set_problem(const std::string &why);
	void run();
	std::shared_ptr<natsConnection> current() const;

	const ConnectionOptions wanted;
	const std::vector<HubAddress> hubs;
	const Events events;
	void *const number;

	mutable std::mutex mutex; // protects the following
	mutable std::condition_variable changed;
	bool stopping = false;
	bool ready = false;        // `connection` is open, and the server has the subscriptions
	bool write_failed = false; // half a message may have been written
	std::string problem;
	std::set<std::string> reported; // problems reported since the last connection
	std::shared_ptr<natsConnection> connection;
	std::vector<std::unique_ptr<Subscribed>> subscribed;
	std::vector<SubscriptionPointer> subscriptions; // of `connection`

	std::string last_error; // of on_error(), which runs once at a time
	std::chrono::steady_clock::time_point last_error_at;

	std::thread thread;
};

// The library keeps the connection until this returns, so the thread still sees it closed.
void Connection::Parts::on_closed(natsConnection *, void *number)
{
	LateCalls<Parts>::call(number, [](Parts &parts) {
		const std::lock_guard lock(parts.mutex);
		parts.changed.notify_all();
	});
}

void Connection::Parts::on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status,
				 void *number)
{
	const std::string text = error_text(connection, subscription, status);
	LateCalls<Parts>::call(number, [&](Parts &parts) {
		const auto now = std::chrono::steady_clock::now();
		if (!parts.events.error || (text == parts.last_error && now - parts.last_error_at < error_interval))
			return;
		parts.last_error = text;
		parts.last_error_at = now;
		parts.events.error(text);
	});
}

bool Connection::Parts::subscribe_now(natsConnection *to, const Subscribed &subscription)
{
	natsSubscription *made = nullptr;
	if (natsConnection_Subscribe(&made, to, subscription.subject.c_str(), deliver, subscription.number) != NATS_OK)
		return false;
	natsSubscription_SetPendingLimits(made, subscription.limits.messages, subscription.limits.bytes);
	subscriptions.emplace_back(made, natsSubscription_Destroy);
	return true;
}

// One attempt. On success `connection` is open and the server has the subscriptions.
bool Connection::Parts::open(const HubAddress &hub, std::string &why)
{
	natsConnection *made = nullptr;
	try {
		const OptionsPointer options = make_options(wanted, hub);
		expect_ok(natsOptions_SetClosedCB(options.get(), on_closed, number), "no callback");
		expect_ok(natsOptions_SetErrorHandler(options.get(), on_error, number), "no callback");
		const natsStatus status = natsConnection_Connect(&made, options.get());
		if (status != NATS_OK) {
			const std::string detail = text_or_nothing(nats_GetLastError(nullptr));
			why =
			    hub_problem(hub, problem_of(status), detail.empty() ? natsStatus_GetText(status) : detail);
			return false;
		}
	} catch (const Error &error) { // a file has vanished since the start
		why = error.what();
		return false;
	}
	std::shared_ptr<natsConnection> opened(made, natsConnection_Destroy);
	{
		const std::lock_guard lock(mutex);
		connection = opened;
		write_failed = false;
		for (const auto &each : subscribed)
			write_failed |= !subscribe_now(made, *each);
	}
	if (natsConnection_FlushTimeout(made, wanted.timeout.count()) != NATS_OK) {
		why = close(hub);
		return false;
	}
	const std::lock_guard lock(mutex);
	ready = true;
	problem.clear();
	reported.clear();
	changed.notify_all();
	return true;
}

// Closes the connection; returns why it ended.
std::string Connection::Parts::close(const HubAddress &hub)
{
	std::shared_ptr<natsConnection> ended;
	std::vector<SubscriptionPointer> ended_subscriptions;
	{
		const std::lock_guard lock(mutex);
		ready = false;
		ended.swap(connection);
		ended_subscriptions.swap(subscriptions);
	}
	const char *detail = nullptr;
	const natsStatus status = natsConnection_GetLastError(ended.get(), &detail);
	std::string text = text_or_nothing(detail);
	if (text.empty() && status != NATS_OK)
		text = natsStatus_GetText(status);
	natsConnection_Close(ended.get());
	return hub_problem(hub, HubProblem::lost, text);
}

void Connection::Parts::wait_until_closed()
{
	std::unique_lock lock(mutex);
	changed.wait(lock, [&] { return stopping || write_failed || natsConnection_IsClosed(connection.get()); });
}

void Connection::Parts::set_problem(const std::string &why)
{
	{
		const std::lock_guard lock(mutex);
		if (stopping)
			return;
		problem = why;
		if (reported.size() >= max_reported_problems)
			reported.clear();
		if (!reported.insert(why).second)
			return;
	}
	if (events.lost)
		events.lost(why);
}

void Connection::Parts::run()
{
	using Clock = std::chrono::steady_clock;
	std::minstd_rand random(std::random_device{}());
	std::uniform_real_distribution chance(0.0, 1.0);
	unsigned failed = 0;
	for (std::size_t turn = 0;; turn = (turn + 1) % hubs.size()) {
		const HubAddress &hub = hubs[turn];
		std::string why;
		if (open(hub, why)) {
			const Clock::time_point since = Clock::now();
			if (events.connected)
				events.connected();
			wait_until_closed();
			why = close(hub);
			if (Clock::now() - since > std::chrono::seconds(5))
				failed = 0;
		}
		set_problem(why);
		const auto delay = std::chrono::milliseconds(reconnect_delay_ms(failed++, chance(random), hubs.size()));
		std::unique_lock lock(mutex);
		if (changed.wait_for(lock, delay, [&] { return stopping; }))
			return;
	}
}

std::shared_ptr<natsConnection> Connection::Parts::current() const
{
	const std::lock_guard lock(mutex);
	return ready ? connection : nullptr;
}

Connection::Connection(const ConnectionOptions &options, Events events)
    : parts_(std::make_unique<Parts>(options, std::move(events)))
{
	for (const HubAddress &hub : parts_->hubs)
		make_options(options, hub); // throws if the options are wrong
	parts_->thread = std::thread([parts = parts_.get()] { parts->run(); });
}

Connection::~Connection()
{
	{
		const std::lock_guard lock(parts_->mutex);
		parts_->stopping = true;
		parts_->changed.notify_all();
	}
	parts_->thread.join();
}

void Connection::subscribe(const std::string &subject, Handler handler, PendingLimits limits)
{
	auto added = std::make_unique<Subscribed>(Subscribed{subject, std::move(handler), limits});
	added->number = LateCalls<Subscribed>::add(*added);
	const std::lock_guard lock(parts_->mutex);
	if (parts_->connection && !parts_->subscribe_now(parts_->connection.get(), *added)) {
		parts_->write_failed = true;
		parts_->changed.notify_all();
	}
	parts_->subscribed.push_back(std::move(added));
}

void Connection::stop_receiving()
{
	std::vector<void *> numbers;
	{
		const std::lock_guard lock(parts_->mutex);
		for (const auto &each : parts_->subscribed)
			numbers.push_back(each->number);
	}
	for (void *const number : numbers)
		LateCalls<Subscribed>::remove(number);
}

bool Connection::publish(const std::string &subject, std::span<const std::byte> data, const std::string &reply)
{
	const auto connection = parts_->current();
	if (!connection)
		return false;
	const auto size = static_cast<int>(data.size());
	const natsStatus status =
	    reply.empty()
		? natsConnection_Publish(connection.get(), subject.c_str(), data.data(), size)
		: natsConnection_PublishRequest(connection.get(), subject.c_str(), reply.c_str(), data.data(), size);
	if (status == NATS_OK)
		return true;
	if (status != NATS_MAX_PAYLOAD && status != NATS_INVALID_SUBJECT && status != NATS_INVALID_ARG) {
		const std::lock_guard lock(parts_->mutex);
		if (parts_->connection == connection) {
			parts_->write_failed = true;
			parts_->changed.notify_all();
		}
	}
	return false;
}

bool Connection::publish(const std::string &subject, std::string_view text, const std::string &reply)
{
	return publish(subject, std::as_bytes(std::span(text)), reply);
}

bool Connection::flush(std::chrono::milliseconds timeout)
{
	const auto connection = parts_->current();
	return connection && natsConnection_FlushTimeout(connection.get(), timeout.count()) == NATS_OK;
}

bool Connection::is_connected() const
{
	return parts_->current() != nullptr;
}

bool Connection::wait_until_connected(std::chrono::milliseconds timeout) const
{
	std::unique_lock lock(parts_->mutex);
	return parts_->changed.wait_for(lock, timeout, [&] { return parts_->ready; });
}

std::string Connection::problem() const
{
	const std::lock_guard lock(parts_->mutex);
	return parts_->problem;
}

std::size_t Connection::max_payload() const
{
	const auto connection = parts_->current();
	return connection ? static_cast<std::size_t>(natsConnection_GetMaxPayload(connection.get())) : 0;
}

} // namespace monitor::fleet
