/*
 * Freezes the wall clock of the process that preloads it, at the microseconds since 1970 that the
 * file FROZEN_CLOCK holds, eight bytes in the order of the machine. Writing the file steps the
 * clock, in either direction. Clocks that measure durations are not affected.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *frozen;

__attribute__((constructor)) static void map_clock(void) {
  const char *path = getenv("FROZEN_CLOCK");
  int file = path == NULL ? -1 : open(path, O_RDONLY);
  if (file < 0) abort();
  void *mapped = mmap(NULL, sizeof *frozen, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  frozen = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (frozen == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) {
    return (int)syscall(SYS_clock_gettime, clock, now);
  }
  int64_t us = *frozen;
  now->tv_sec = us / 1000000;
  now->tv_nsec = us % 1000000 * 1000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != NULL) *now = precise.tv_sec;
  return precise.tv_sec;
}
