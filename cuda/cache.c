/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cache.c: compiled kernels on disk. */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest image that is read. */
#define MAX_SIZE (64u << 20)

/* The header of an entry. */
typedef struct Header
{
  char magic[8];
  uint64_t key, size, hash;
} Header;

static const char magic[8] = "tfxcuda";

uint64_t
tfx_cache_hash (uint64_t hash, const void *data, size_t size)
{
  const unsigned char *bytes = data;

  for (size_t i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* Cached code runs on the device with the rights of this user, so nobody else may
 * be able to write the folder. */
static bool
is_ours (const char *path)
{
  struct stat s;

  return lstat (path, &s) == 0 && S_ISDIR (s.st_mode) &&
         s.st_uid == geteuid () && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Makes the folder if asked to.  False if there is none that can be trusted. */
static bool
folder_path (char *path, size_t size, bool make)
{
  const char *base = secure_getenv ("XDG_CACHE_HOME");
  const char *home = secure_getenv ("HOME");
  int n;

  if (base && base[0] == '/') {
    n = snprintf (path, size, "%s", base);
  } else if (home && home[0] == '/') {
    n = snprintf (path, size, "%s/.cache", home);
  } else {
    return false;
  }
  if (n < 0 || (size_t)n + 16 >= size)
    return false;
  if (make && mkdir (path, 0700) < 0 && errno != EEXIST)
    return false;
  if (!is_ours (path))
    return false;
  strcat (path, "/gst-tfx");
  if (make && mkdir (path, 0700) < 0 && errno != EEXIST)
    return false;
  return is_ours (path);
}

static bool
entry_path (char *path, size_t size, const char *name, uint64_t key, bool make)
{
  size_t n;

  if (!folder_path (path, size, make))
    return false;
  n = strlen (path);
  return (size_t)snprintf (path + n, size - n, "/%s-%016llx", name,
             (unsigned long long)key) < size - n;
}

static bool
read_entry (FILE *file, uint64_t key, void **data, size_t *size)
{
  Header header;
  char *bytes;

  if (fread (&header, sizeof header, 1, file) != 1 ||
      memcmp (header.magic, magic, sizeof magic) != 0 || header.key != key ||
      header.size > MAX_SIZE)
    return false;
  bytes = malloc (header.size + 1);
  if (!bytes)
    return false;
  if (fread (bytes, 1, header.size, file) != header.size ||
      tfx_cache_hash (TFX_CACHE_SEED, bytes, header.size) != header.hash) {
    free (bytes);
    return false;
  }
  bytes[header.size] = '\0';
  *data = bytes;
  *size = header.size;
  return true;
}

bool
tfx_cache_read (const char *name, uint64_t key, void **data, size_t *size)
{
  char path[PATH_MAX];
  FILE *file;
  bool found;
  int fd;

  if (!entry_path (path, sizeof path, name, key, false))
    return false;
  fd = open (path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  file = fd < 0 ? NULL : fdopen (fd, "rb");
  if (!file) {
    if (fd >= 0)
      close (fd);
    return false;
  }
  found = read_entry (file, key, data, size);
  fclose (file);
  return found;
}

/* Writes a temporary file first, so that nobody reads half an entry. */
void
tfx_cache_write (const char *name, uint64_t key, const void *data, size_t size)
{
  Header header = { .key = key, .size = size };
  char path[PATH_MAX - 8], temporary[PATH_MAX];
  FILE *file;
  bool good;
  int fd;

  memcpy (header.magic, magic, sizeof magic);
  header.hash = tfx_cache_hash (TFX_CACHE_SEED, data, size);
  if (!entry_path (path, sizeof path, name, key, true))
    return;
  snprintf (temporary, sizeof temporary, "%s.XXXXXX", path);
  fd = mkstemp (temporary);
  if (fd < 0)
    return;
  file = fdopen (fd, "wb");
  if (!file) {
    close (fd);
    unlink (temporary);
    return;
  }
  good = fwrite (&header, sizeof header, 1, file) == 1 &&
         fwrite (data, 1, size, file) == size;
  good = fclose (file) == 0 && good;
  if (!good || rename (temporary, path) < 0)
    unlink (temporary);
}
