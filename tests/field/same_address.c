// SPDX-License-Identifier: MIT
// same_address A.so B.so: computes in one library, closes it, then in another one, which comes to the same address;
// three times. With FUNCTION it is such a library. Prints the addresses.
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#ifdef FUNCTION
static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

__attribute__((noinline)) void FUNCTION(double seconds)
{
	for (const double end = cpu_s() + seconds; cpu_s() < end;)
		for (volatile int i = 0; i < 5000; i++)
			;
}
#else
int main(int argc, char **argv)
{
	for (int i = 0; argc == 3 && i < 6; i++) {
		void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
		void (*spin)(double) = library ? dlsym(library, i % 2 ? "spin_in_b" : "spin_in_a") : NULL;

		if (!spin)
			return puts(dlerror()), 1;
		printf("%p\n", (void *)spin);
		spin(i % 2 ? 0.3 : 0.15);
		dlclose(library);
	}
	return 0;
}
#endif
