/* SPDX-License-Identifier: MIT */
/*
 * A service and its client, for report_requests.py, which records each as if it ran on a host of its own:
 *   request_load serve REQUESTS          prints "port=N", serves this number of requests on loopback, then exits
 *   request_load ask PORT REQUESTS SLOW  sends the requests 1 to REQUESTS, one after the other; each takes 1 ms there,
 *                                        SLOW takes 900 ms
 * Every event has the request's number: begin, sent, received, end at the client; query, done at the service.
 */
#define _GNU_SOURCE
#include <monitor/edc.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EDC_PROVIDER shop
EDC_EVENT(begin, "arg: u16 kind; u64 request");
EDC_EVENT(sent, "arg: u16 kind; u64 request");
EDC_EVENT(received, "arg: u16 kind; u64 request; u64 bytes (B)");
EDC_EVENT(end, "arg: u16 kind; u64 request");
EDC_EVENT(query, "arg: u16 kind; u64 request");
EDC_EVENT(done, "arg: u16 kind; u64 request");
#undef EDC_PROVIDER

static void sleep_us(long us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

static int serve(long requests)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, from;
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t message[2];

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) || getsockname(fd, (struct sockaddr *)&at, &size))
		return 1;
	printf("port=%d\n", ntohs(at.sin_port));
	fflush(stdout);
	for (long i = 0; i < requests; i++) {
		size = sizeof from;
		if (recvfrom(fd, message, sizeof message, 0, (struct sockaddr *)&from, &size) != sizeof message)
			return 1;
		edc_data(query, 0, message[0]);
		sleep_us((long)message[1]);
		edc_data(done, 0, message[0]);
		if (sendto(fd, message, sizeof message, 0, (struct sockaddr *)&from, size) != sizeof message)
			return 1;
	}
	return 0;
}

static int ask(int port, uint64_t requests, uint64_t slow)
{
	struct sockaddr_in to = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	uint64_t message[2];

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
		return 1;
	for (uint64_t i = 1; i <= requests; i++) {
		message[0] = i;
		message[1] = i == slow ? 900000 : 1000;
		edc_data(begin, 0, i);
		edc_data(sent, 0, i);
		if (send(fd, message, sizeof message, 0) != sizeof message ||
		    recv(fd, message, sizeof message, 0) != sizeof message)
			return 1;
		edc_data(received, 0, i, sizeof message);
		edc_data(end, 0, i);
	}
	return 0;
}

int main(int count, char **argument)
{
	if (count == 3 && !strcmp(argument[1], "serve"))
		return serve(atol(argument[2]));
	if (count == 5 && !strcmp(argument[1], "ask"))
		return ask(atoi(argument[2]), strtoull(argument[3], NULL, 10), strtoull(argument[4], NULL, 10));
	fprintf(stderr, "usage: request_load serve REQUESTS | ask PORT REQUESTS SLOW\n");
	return 2;
}
