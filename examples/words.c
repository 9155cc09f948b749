// SPDX-License-Identifier: MIT
// Counts the different words of its standard input, N times: `words slow N` keeps them in lists by their first letter,
// `words fast N` in lists by a hash of all letters. Documentation/tutorial-stacks.md finds out what takes its time.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTS 65536

struct word {
	struct word *next;
	const char *text;
	unsigned length;
};

static struct word *lists[LISTS];

static inline unsigned hash_of(const char *text, unsigned length)
{
	unsigned hash = 2166136261u;

	for (unsigned i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash % LISTS;
}

static inline int is_same(const struct word *word, const char *text, unsigned length)
{
	if (word->length != length)
		return 0;
	for (unsigned i = 0; i < length; i++)
		if (word->text[i] != text[i])
			return 0;
	return 1;
}

static inline struct word *find(struct word *list, const char *text, unsigned length)
{
	while (list && !is_same(list, text, length))
		list = list->next;
	return list;
}

static __attribute__((noinline)) unsigned count_words(const char *text, const char *end, int fast)
{
	unsigned different = 0;

	for (const char *begin; text < end; text++) {
		for (begin = text; text < end && isalpha((unsigned char)*text); text++)
			;
		const unsigned length = (unsigned)(text - begin);
		struct word **list = &lists[fast ? hash_of(begin, length) : (unsigned char)*begin];

		if (!length || find(*list, begin, length))
			continue;
		struct word *word = malloc(sizeof *word);
		if (!word)
			exit(1);
		*word = (struct word){*list, begin, length};
		*list = word;
		different++;
	}
	return different;
}

static void forget(void)
{
	for (unsigned i = 0; i < LISTS; i++)
		for (struct word *word = lists[i], *next; word; word = next) {
			next = word->next;
			free(word);
		}
	memset(lists, 0, sizeof lists);
}

int main(int count, char **arguments)
{
	static char text[16 << 20];
	const size_t size = fread(text, 1, sizeof text, stdin);
	unsigned different = 0;

	if (count != 3) {
		fprintf(stderr, "usage: words slow|fast N < TEXT\n");
		return 2;
	}
	for (int i = atoi(arguments[2]); i > 0; i--) {
		forget();
		different = count_words(text, text + size, !strcmp(arguments[1], "fast"));
	}
	printf("%u different words in %zu bytes\n", different, size);
	return 0;
}
