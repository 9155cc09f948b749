// SPDX-License-Identifier: MIT
// The peer of bench `fleet`: blocks over JetStream, which stores them in files of its own and acknowledges each
// message, and from there to a consumer that writes them and acknowledges what is on its disk. Called by fleet.py.
//
//   jetstream create URL              the stream, in files
//   jetstream publish URL DIR         kernel_cpu* of DIR, 256 KiB in a message, 16 MiB on their way
//   jetstream consume URL DIR BYTES   until BYTES bytes are on the disk
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <nats/nats.h>
#include <unistd.h>

namespace {

constexpr std::size_t message_bytes = 256 << 10, window_bytes = 16 << 20;

void need(natsStatus status, const char *what)
{
	if (status != NATS_OK)
		throw std::runtime_error(std::string(what) + ": " + natsStatus_GetText(status));
}

struct Stream {
	explicit Stream(const char *url)
	{
		jsOptions options;
		jsOptions_Init(&options);
		options.PublishAsync.MaxPending = window_bytes / message_bytes;
		need(natsConnection_ConnectTo(&connection, url), "connect");
		need(natsConnection_JetStream(&context, connection, &options), "JetStream");
	}
	~Stream()
	{
		jsCtx_Destroy(context);
		natsConnection_Destroy(connection);
	}

	natsConnection *connection = nullptr;
	jsCtx *context = nullptr;
};

void create(Stream &stream)
{
	jsStreamConfig wanted;
	jsStreamConfig_Init(&wanted);
	const char *subjects[] = {"js.>"};
	wanted.Name = "blocks";
	wanted.Subjects = subjects;
	wanted.SubjectsLen = 1;
	wanted.Storage = js_FileStorage;
	need(js_AddStream(nullptr, stream.context, &wanted, nullptr, nullptr), "add a stream");
}

void publish(Stream &stream, const std::string &directory)
{
	std::vector<char> buffer(message_bytes);
	for (const auto &entry : std::filesystem::directory_iterator(directory)) {
		const std::string name = entry.path().filename();
		if (!name.starts_with("kernel_cpu"))
			continue;
		const int fd = ::open(entry.path().c_str(), O_RDONLY);
		std::uint64_t offset = 0;
		for (ssize_t n; (n = ::read(fd, buffer.data(), buffer.size())) > 0;
		     offset += static_cast<std::uint64_t>(n)) {
			const std::string subject = "js." + name + '.' + std::to_string(offset);
			need(js_PublishAsync(stream.context, subject.c_str(), buffer.data(), static_cast<int>(n),
					     nullptr),
			     "publish");
		}
		::close(fd);
	}
	need(js_PublishAsyncComplete(stream.context, nullptr), "acknowledgements");
}

// Writes what comes, and acknowledges once it is on the disk, 16 MiB at a time.
void consume(Stream &stream, const std::string &directory, std::uint64_t bytes)
{
	natsSubscription *subscription = nullptr;
	jsSubOptions options;
	jsSubOptions_Init(&options);
	options.ManualAck = true;
	options.Config.AckPolicy = js_AckExplicit;
	options.Config.MaxAckPending = 2 * window_bytes / message_bytes;
	need(js_SubscribeSync(&subscription, stream.context, "js.>", nullptr, &options, nullptr), "subscribe");
	natsSubscription_SetPendingLimits(subscription, 65536, 512 << 20);
	std::map<std::string, int> files;
	std::vector<natsMsg *> written;
	std::size_t unsynced = 0;
	for (std::uint64_t have = 0; have < bytes;) {
		natsMsg *message = nullptr;
		need(natsSubscription_NextMsg(&message, subscription, 60'000), "a message");
		const std::string subject = natsMsg_GetSubject(message);
		const std::size_t dot = subject.rfind('.');
		const auto [file, is_new] = files.try_emplace(subject.substr(3, dot - 3), -1);
		if (is_new)
			file->second =
			    ::open((directory + '/' + file->first).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
		const auto size = static_cast<std::size_t>(natsMsg_GetDataLength(message));
		const auto offset = static_cast<off_t>(std::strtoull(subject.c_str() + dot + 1, nullptr, 10));
		if (::pwrite(file->second, natsMsg_GetData(message), size, offset) != static_cast<ssize_t>(size))
			throw std::runtime_error("cannot write");
		have += size;
		unsynced += size;
		written.push_back(message);
		if (unsynced < window_bytes && have < bytes)
			continue;
		for (const auto &[name, fd] : files)
			::fdatasync(fd);
		for (natsMsg *const each : written) {
			natsMsg_Ack(each, nullptr);
			natsMsg_Destroy(each);
		}
		written.clear();
		unsynced = 0;
	}
	natsConnection_FlushTimeout(stream.connection, 5000);
	natsSubscription_Destroy(subscription);
}

} // namespace

int main(int argc, char **argv)
try {
	const std::string what = argc > 2 ? argv[1] : "";
	if ((what == "create" && argc == 3) || (what == "publish" && argc == 4) || (what == "consume" && argc == 5)) {
		Stream stream(argv[2]);
		if (what == "create")
			create(stream);
		else if (what == "publish")
			publish(stream, argv[3]);
		else
			consume(stream, argv[3], std::strtoull(argv[4], nullptr, 10));
		return 0;
	}
	std::fprintf(stderr, "jetstream create URL | publish URL DIR | consume URL DIR BYTES\n");
	return 2;
} catch (const std::exception &error) {
	std::fprintf(stderr, "jetstream: %s\n", error.what());
	return 1;
}
