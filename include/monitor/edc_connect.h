/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card's slow path: finds the recorder, gets rings and ids from it, and posts what the fast path could not. If
 * no recorder answers, the kernel module provides both (user_device.h).
 * Included by edc.h. Called by edc_post.h when the fast path fails, and once when a program or library is loaded.
 *
 * May run in a signal handler, on a small stack, at any point of the program. It makes its system calls directly, not
 * through the C library, so errno stays untouched. The lock is a try-lock: a caller that does not get it counts its
 * event as lost. Nothing waits, with two exceptions: a program that is being loaded waits for the recorder's answer (at
 * most a fifth of a second, usually a tenth of a millisecond), and a request to the kernel module waits for its turn.
 */
#ifndef MONITOR_EDC_CONNECT_H
#define MONITOR_EDC_CONNECT_H

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "edc_fields.h"
#include "edc_rings.h"
#include "edc_shared.h"
#include "user_device.h"

#define EDC_WIPEONFORK_ 18 /* MADV_WIPEONFORK */
#define EDC_DONTFORK_ 10   /* MADV_DONTFORK */
#define EDC_AT_CWD_ (-100) /* AT_FDCWD */
#define EDC_OPEN_ 02000002 /* O_RDWR | O_CLOEXEC */
#define EDC_WAIT_MS_ 200
#define EDC_LATER_ (-11L) /* EAGAIN */
#define EDC_TRIES_ 100    /* attempts of the slow path per event: other threads of this CPU may win every time */
#define EDC_CLASSES_AT_ONCE_ 1000
#define EDC_SCRATCH_ 65536 /* bytes for a request */

#ifdef __cplusplus
extern "C" {
#endif

/* glibc 2.35 and later: where it registered the thread's rseq area. Undefined: no restartable sequences. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* The classes of one program or library are between these symbols of the linker. */
extern struct edc_class *__start_edc_classes[] __attribute__((weak, visibility("hidden")));
extern struct edc_class *__stop_edc_classes[] __attribute__((weak, visibility("hidden")));

struct edc_object {
	struct edc_class **begin, **end;
	struct edc_object *next;
};

__attribute__((weak, visibility("hidden"))) struct edc_object edc_object_;
/* All objects that share the card. Not in the wiped page: a forked child has them too. */
__attribute__((weak, visibility("default"))) struct edc_object *edc_objects_;

/* For a recorder that starts later: an ELF note says where the pointer to the card is (userspace/card/
 * user_search.cpp reads it). One in each program and library. */
__attribute__((weak, visibility("hidden"))) union edc_card_page *edc_where_ = &edc_card_page_;
__asm__(".pushsection .note.monitor.edc, \"aG\", %note, edc_note_, comdat\n\t"
	".balign 4\n\t"
	".long 8, 8, 1\n\t"
	".asciz \"monitor\"\n\t"
	".quad edc_where_ - .\n\t"
	".popsection");

static inline long edc_connect_to_(const char *name, int abstract)
{
	struct sockaddr_un address;
	uint64_t length = 0;
	long fd = EDC_CALL_3_(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return fd;
	__builtin_memset(&address, 0, sizeof address);
	address.sun_family = AF_UNIX;
	while (name[length] && length < sizeof address.sun_path - 2) {
		address.sun_path[length + (abstract ? 1 : 0)] = name[length];
		length++;
	}
	length += offsetof(struct sockaddr_un, sun_path) + 1;

	long connected = EDC_CALL_3_(SYS_connect, fd, &address, length);

	if (connected == 0) {
		uint32_t who[3] = {0, ~0u, ~0u}, size = sizeof who; /* struct ucred */

		/* Trust only a recorder that runs as root or as our own user. */
		connected = edc_syscall_(SYS_getsockopt, (uint64_t)fd, SOL_SOCKET, 17 /* SO_PEERCRED */, (uint64_t)who,
					 (uint64_t)&size, 0);
		if (connected == 0 && (who[1] == 0 || who[1] == (uint32_t)EDC_CALL_0_(SYS_geteuid)))
			return fd;
	}
	EDC_CALL_2_(SYS_close, fd, 0);
	return connected == EDC_LATER_ ? EDC_LATER_ : -1;
}

/* Returns a descriptor, EDC_LATER_ if the recorder's backlog is full at the moment, or another negative number. */
static inline long edc_connect_socket_(const struct edc_card *card)
{
	if (card->by_device)
		return -1; /* the rings came from the module, so ids must too */

	const char *name = getauxval(AT_SECURE) ? NULL : getenv(EDC_ENVIRONMENT);
	long fd = name ? edc_connect_to_(name, 1) : -1;

	return fd >= 0 || fd == EDC_LATER_ ? fd : edc_connect_to_(EDC_SOCKET_PATH, 0);
}

static inline uint32_t edc_put_(char *to, uint32_t room, const char *text)
{
	uint32_t length = 0;

	while (text[length])
		length++;
	if (length + 1 > room)
		return 0;
	__builtin_memcpy(to, text, length + 1);
	return length + 1;
}

/* Builds the request for ids of all classes without one, and with EDC_HELLO_AREA for rings. `ask`: EDC_SCRATCH_ bytes
 * of memory. Returns the number of bytes used. */
static inline uint32_t edc_make_request_(uint32_t request, char *ask)
{
	struct edc_hello *hello = (struct edc_hello *)(void *)ask;
	uint32_t at = sizeof *hello;

	hello->magic = EDC_USER_MAGIC;
	hello->request = request;
	hello->classes = 0;
	for (struct edc_object *object = edc_objects_; object; object = object->next) {
		for (struct edc_class **cls = object->begin; cls != object->end; cls++) {
			uint32_t name, fields;

			(*cls)->asked = 0;
			if (request == EDC_HELLO_AREA)
				(*cls)->id = 0; /* from another recording */
			if ((*cls)->id || hello->classes == EDC_CLASSES_AT_ONCE_)
				continue;
			name = edc_put_(ask + at, EDC_HELLO_BYTES - at, (*cls)->name);
			fields = name ? edc_put_(ask + at + name, EDC_HELLO_BYTES - at - name, (*cls)->fields) : 0;
			if (!fields)
				continue;
			at += name + fields;
			(*cls)->asked = ++hello->classes;
		}
	}
	hello->text_bytes = at - (uint32_t)sizeof *hello;
	return at;
}

static inline long edc_send_request_(long fd, uint32_t request, char *ask)
{
	uint32_t bytes = edc_make_request_(request, ask);

	return edc_syscall_(SYS_sendto, (uint64_t)fd, (uint64_t)ask, bytes, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0) ==
		       (long)bytes
		   ? 0
		   : -1;
}

/* The number of payload words is stored with the id: an event with a different number does not match the class. */
static inline void edc_give_id_(struct edc_class *cls, uint32_t id)
{
	cls->id = id ? id | (uint32_t)edc_payload_words_(cls->fields) << 16 : 0;
}

/* Assigns ids in the order of the request. Libraries may have been loaded and unloaded since. */
static inline void edc_take_ids_(const uint16_t *ids, uint32_t count)
{
	for (struct edc_object *object = edc_objects_; object; object = object->next)
		for (struct edc_class **cls = object->begin; cls != object->end; cls++)
			if ((*cls)->asked && (*cls)->asked <= count && (*cls)->asked <= EDC_CLASSES_AT_ONCE_) {
				edc_give_id_(*cls, ids[(*cls)->asked - 1]);
				(*cls)->asked = 0;
			}
}

/* Maps the area and sets the card up for it. `memory`: the descriptor to map; -1: none was received. */
static inline long edc_map_area_(struct edc_card *card, const struct edc_welcome *welcome, long memory)
{
	long address = -1;

	if (memory >= 0 && welcome->rings)
		address = edc_syscall_(SYS_mmap, 0, welcome->area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				       (uint64_t)memory, 0);
	if (address <= 0 && address > -4096)
		return -1;
	EDC_CALL_3_(SYS_madvise, address + EDC_BLOCK_SIZE, welcome->area_bytes - EDC_BLOCK_SIZE, EDC_DONTFORK_);
	card->area = edc_family_ = (struct edc_user_area *)(uintptr_t)address;
	card->counting = card->area->counters <= EDC_USER_COUNTERS ? card->area->counters : 0;
	card->key = card->area->key;
	card->first = (char *)(uintptr_t)address + EDC_BLOCK_SIZE;
	card->rings = welcome->rings;
	card->ring_bytes = welcome->ring_bytes;
	card->blocks = welcome->blocks;
	card->mask = (uint64_t)welcome->blocks * EDC_USER_BLOCK_WORDS - 1;
	card->shared = (struct edc_user_ring *)(void *)(card->first + welcome->rings * welcome->ring_bytes);
	edc_self_ = 0; /* a forked child is not its parent's thread */
	card->pid = (uint64_t)EDC_CALL_0_(SYS_getpid);
	__atomic_fetch_add(&card->area->lost_early, card->lost, __ATOMIC_RELAXED);
	__atomic_store_n(&card->area->bell, EDC_BELL_QUIET, __ATOMIC_RELEASE);
	return 0;
}

/* Receives the recorder's answer: ids, and the area's memory if it was requested. */
static inline long edc_receive_answer_(struct edc_card *card, long fd, uint32_t request)
{
	struct {
		struct edc_welcome welcome;
		uint16_t ids[EDC_CLASSES_AT_ONCE_];
	} answer;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {&answer, sizeof answer};
	struct msghdr message;
	int memory = -1;
	long length = 0, taken = 0;

	/* Retry once after an end of file: the kernel may report it before the packet that precedes it (af_unix.c). */
	for (int tries = 0; tries == 0 || (tries == 1 && length == 0); tries++) {
		__builtin_memset(&message, 0, sizeof message);
		message.msg_iov = &part;
		message.msg_iovlen = 1;
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
		length = EDC_CALL_3_(SYS_recvmsg, fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	}
	if (length == EDC_LATER_)
		return length;
	if (length < (long)sizeof answer.welcome || answer.welcome.magic != EDC_USER_MAGIC)
		return -1;
	if (message.msg_controllen >= sizeof control.head && control.head.cmsg_type == SCM_RIGHTS)
		__builtin_memcpy(&memory, CMSG_DATA(&control.head), sizeof memory);
	if (request == EDC_HELLO_AREA) {
		taken = edc_map_area_(card, &answer.welcome, memory);
		if (memory >= 0)
			EDC_CALL_2_(SYS_close, memory, 0);
	}
	if (taken == 0)
		edc_take_ids_(answer.ids, answer.welcome.classes);
	return taken;
}

/* Scratch memory for a request. NULL: not available. */
static inline char *edc_scratch_(void)
{
	long place = edc_syscall_(SYS_mmap, 0, EDC_SCRATCH_, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | 0x20 /* MAP_ANONYMOUS */, ~0ull, 0);

	return place > 0 ? (char *)(uintptr_t)place : NULL;
}

/* Sends the same request to the kernel module, which answers at once. */
static inline long edc_request_device_(struct edc_card *card, long fd, uint32_t request, char *ask)
{
	const struct edc_hello *question = (const struct edc_hello *)(const void *)ask;
	uint16_t ids[EDC_CLASSES_AT_ONCE_];
	struct edc_device_hello hello;

	edc_make_request_(request, ask);
	__builtin_memset(&hello, 0, sizeof hello);
	hello.texts = (uint64_t)(uintptr_t)(question + 1);
	hello.ids = (uint64_t)(uintptr_t)ids;
	hello.request = request;
	hello.classes = question->classes;
	hello.text_bytes = question->text_bytes;
	if (EDC_CALL_3_(SYS_ioctl, fd, EDC_DEVICE_HELLO, &hello) != 0 ||
	    (request == EDC_HELLO_AREA && edc_map_area_(card, &hello.welcome, fd) != 0))
		return -1;
	edc_take_ids_(ids, hello.classes);
	return 0;
}

/* How this process posts: EDC_ON_ or EDC_SHARED_. */
static inline uint32_t edc_way_(struct edc_card *card)
{
#if defined(__x86_64__)
	if (&__rseq_offset && __rseq_size) {
		card->rseq = __rseq_offset;
		return EDC_ON_;
	}
#endif
	(void)card;
	return EDC_SHARED_;
}

static inline void edc_wait_(long fd)
{
	struct {
		int fd;
		short events, revents;
	} one = {(int)fd, 1 /* POLLIN */, 0};
	int64_t most[2] = {0, EDC_WAIT_MS_ * 1000000l}; /* struct timespec */

	edc_syscall_(SYS_ppoll, (uint64_t)&one, 1, (uint64_t)most, 0, 0, 0);
}

/* No recorder answers: gets rings, or ids for more classes, from the kernel module if we may use one. */
static inline void edc_try_device_(struct edc_card *card, uint32_t request)
{
	long fd = edc_syscall_(SYS_openat, (uint64_t)EDC_AT_CWD_, (uint64_t)EDC_DEVICE, EDC_OPEN_, 0, 0, 0);
	char *scratch = fd >= 0 ? edc_scratch_() : NULL;

	if (scratch) {
		if (edc_request_device_(card, fd, request, scratch) == 0)
			card->by_device = 1;
		EDC_CALL_2_(SYS_munmap, scratch, EDC_SCRATCH_);
	}
	if (fd >= 0)
		EDC_CALL_2_(SYS_close, fd, 0);
	if (request == EDC_HELLO_AREA)
		__atomic_store_n(&card->word, card->by_device ? edc_way_(card) : EDC_OFF_, __ATOMIC_RELEASE);
}

/* Continues the search for a recorder: connects and sends a request, or receives the answer. Under the lock. */
static inline void edc_connect_(struct edc_card *card, uint32_t request, int wait)
{
	if (!card->wiped) {
		if (EDC_CALL_3_(SYS_madvise, card, sizeof edc_card_page_, EDC_WIPEONFORK_) != 0) {
			__atomic_store_n(&card->word, EDC_OFF_, __ATOMIC_RELEASE);
			return;
		}
		card->wiped = 1;
	}
	if (!card->socket) {
		long fd = edc_connect_socket_(card), asked = -1;

		for (int ms = 0; wait && fd == EDC_LATER_ && ms < EDC_WAIT_MS_; ms++) {
			int64_t one_ms[2] = {0, 1000000};

			EDC_CALL_2_(SYS_nanosleep, one_ms, 0);
			fd = edc_connect_socket_(card);
		}
		if (fd == EDC_LATER_)
			return;

		if (fd < 0) {
			edc_try_device_(card, request);
			return;
		}

		char *scratch = edc_scratch_();

		if (scratch) {
			asked = edc_send_request_(fd, request, scratch);
			EDC_CALL_2_(SYS_munmap, scratch, EDC_SCRATCH_);
		}
		if (asked < 0) {
			EDC_CALL_2_(SYS_close, fd, 0);
			if (request == EDC_HELLO_AREA)
				__atomic_store_n(&card->word, EDC_OFF_, __ATOMIC_RELEASE);
			return;
		}
		card->socket = fd + 1;
	}
	if (wait)
		edc_wait_((long)card->socket - 1);

	long heard = edc_receive_answer_(card, (long)card->socket - 1, request);

	if (heard == EDC_LATER_)
		return; /* retry at a later event */
	EDC_CALL_2_(SYS_close, card->socket - 1, 0);
	card->socket = 0;
	if (request == EDC_HELLO_AREA)
		__atomic_store_n(&card->word, heard == 0 ? edc_way_(card) : EDC_OFF_, __ATOMIC_RELEASE);
}

static inline int edc_is_on_(uint32_t word)
{
	return word == EDC_ON_ || word == EDC_SHARED_;
}

__attribute__((weak, visibility("hidden"), noinline)) void edc_slow_(struct edc_class *cls, uint32_t arg,
								     uint32_t count, const uint64_t *words)
{
	struct edc_card *card = &edc_card_page_.card;
	uint32_t word = __atomic_load_n(&card->word, __ATOMIC_ACQUIRE), id = cls->id ^ count << 16;
	uint64_t head = (uint64_t)(uint16_t)arg << EDC_ARG_SHIFT | id;

	if (word == EDC_SHARED_ && id - 1 < EDC_ID_LAST) {
		edc_share_(card, head, count, words);
		return;
	}
	if (word == EDC_UNKNOWN_ && !__atomic_exchange_n(&card->lock, 1, __ATOMIC_ACQUIRE)) {
		edc_connect_(card, EDC_HELLO_AREA, 0);
		__atomic_store_n(&card->lock, 0, __ATOMIC_RELEASE);
		word = __atomic_load_n(&card->word, __ATOMIC_ACQUIRE);
	}
	if (word == EDC_OFF_)
		return;
	id = cls->id ^ count << 16;
	head = (uint64_t)(uint16_t)arg << EDC_ARG_SHIFT | id;
	if (!edc_is_on_(word) || id - 1 >= EDC_ID_LAST) {
		edc_lost_(card); /* no answer yet, a rejected class, or a number of words other than its fields need */
		return;
	}
#if defined(__x86_64__)
	for (int tries = 0; word == EDC_ON_; tries++) {
		uint32_t cpu = edc_cpu_(card);
		enum edc_outcome outcome;

		if (cpu >= card->rings)
			break;
		if (tries == EDC_TRIES_) {
			edc_lost_(card);
			return;
		}
		outcome = edc_prepare_(card, cpu, count + 1);

		if (outcome == EDC_SLOW_)
			return;
		if (outcome == EDC_AGAIN_)
			continue;
		outcome = edc_try_(head, count, words);
		if (outcome == EDC_POSTED_)
			return;
	}
#endif
	edc_share_(card, head, count, words);
}

/* Runs when the program or library is loaded. Each of its source files has one; only the first does the work. */
__attribute__((constructor)) static void edc_load_(void)
{
	struct edc_card *card = &edc_card_page_.card;

	if (edc_object_.begin || !__start_edc_classes)
		return;
	while (__atomic_exchange_n(&card->lock, 1, __ATOMIC_ACQUIRE))
		EDC_CALL_0_(SYS_sched_yield);
	edc_object_.begin = __start_edc_classes;
	edc_object_.end = __stop_edc_classes;
	edc_object_.next = edc_objects_;
	__atomic_store_n(&edc_objects_, &edc_object_, __ATOMIC_RELEASE);

	int asked_before = edc_is_on_(card->word) || card->socket; /* in a request without this object's classes */

	if (card->word == EDC_UNKNOWN_)
		edc_connect_(card, EDC_HELLO_AREA, 1);
	if (edc_is_on_(card->word) && asked_before)
		edc_connect_(card, EDC_HELLO_CLASSES, 1);
	__atomic_store_n(&card->lock, 0, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void edc_unload_(void)
{
	struct edc_card *card = &edc_card_page_.card;

	while (__atomic_exchange_n(&card->lock, 1, __ATOMIC_ACQUIRE))
		EDC_CALL_0_(SYS_sched_yield);
	if (card->word == EDC_UNKNOWN_ && card->socket)
		edc_connect_(card, EDC_HELLO_AREA, 1); /* to report what was lost before the answer */
	for (struct edc_object **at = &edc_objects_; *at; at = &(*at)->next) {
		if (*at == &edc_object_) {
			*at = edc_object_.next;
			break;
		}
	}
	__atomic_store_n(&card->lock, 0, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
