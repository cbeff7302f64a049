/* SPDX-License-Identifier: LGPL-2.1-or-later
 * image.c: the images of kernels that a driver accepts or refuses.
 *
 * Machine code (ELF) runs on devices of the same generation, all but the last
 * digit of the compute capability, that are not older.  PTX runs on its own
 * target and on newer ones, if the driver knows its version.  A fat binary has
 * several of both, and one of them must do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

#define FAT_MAGIC 0xba55ed50u
#define ELF_MACHINE 190
/* The ABI of CUDA 13's machine code; drivers before it know 7. */
#define NEW_ABI 8

typedef struct FatHeader
{
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size; /* of the entries */
} FatHeader;

typedef struct FatEntry
{
  uint16_t kind; /* 1: PTX, 2: machine code */
  uint16_t flags;
  uint32_t header_size;
  uint64_t size;
  uint32_t compressed_size, options;
  uint16_t minor,
      major; /* PTX: of its version; machine code: minor is the ABI */
  uint32_t arch;
} FatEntry;

/* CUDA 12.0 came with PTX 8.0 and 13.0 with 9.0; from 12.6 on PTX is one minor
 * version behind, since 12.6 had no new one. */
static int
ptx_version_of_driver (int driver)
{
  int major = driver / 1000, minor = driver % 1000 / 10;

  if (major == 12 && minor >= 6)
    minor--;
  return 10 * (major - 4) + minor;
}

/* CUDA_SUCCESS, or what is against it. */
static CUresult
check_machine_code (int arch, int abi, int compute, int driver)
{
  if (abi >= NEW_ABI && driver < 13000)
    return CUDA_ERROR_INVALID_IMAGE;
  /* A card without a name is several at once, by TFX_STANDIN_CC. */
  if (standin_is_strict () && (arch / 10 != compute / 10 || arch > compute))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  return CUDA_SUCCESS;
}

static CUresult
check_ptx (int version, int arch, int compute, int driver)
{
  if (version > ptx_version_of_driver (driver))
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (standin_is_strict () && arch > compute)
    return CUDA_ERROR_INVALID_PTX;
  return CUDA_SUCCESS;
}

static CUresult
check_fat (const unsigned char *data, int compute, int driver)
{
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  FatHeader header;
  size_t at;

  memcpy (&header, data, sizeof header);
  for (at = header.header_size; at < header.header_size + header.size;) {
    FatEntry entry;
    CUresult r;

    memcpy (&entry, data + at, sizeof entry);
    r = entry.kind == 1 ? check_ptx (10 * entry.major + entry.minor,
                              (int)entry.arch, compute, driver)
                        : check_machine_code ((int)entry.arch, entry.minor,
                              compute, driver);
    if (r == CUDA_SUCCESS)
      return r;
    result = r;
    at += entry.header_size + entry.size;
  }
  return result;
}

static CUresult
check_elf (const unsigned char *data, int compute, int driver)
{
  uint16_t machine;
  uint32_t flags;
  int abi = data[8];

  memcpy (&machine, data + 18, sizeof machine);
  memcpy (&flags, data + 48, sizeof flags);
  if (machine != ELF_MACHINE)
    return CUDA_ERROR_INVALID_IMAGE;
  return check_machine_code ((int)(abi >= NEW_ABI ? flags >> 8 & 0xff
                                                  : flags & 0xff),
      abi, compute, driver);
}

static CUresult
check_text (const char *text, int compute, int driver)
{
  const char *version = strstr (text, ".version"), *target;
  int major = 0, minor = 0, arch = 0;

  if (!version || sscanf (version, ".version %d.%d", &major, &minor) != 2)
    return CUDA_ERROR_INVALID_IMAGE;
  target = strstr (version, ".target");
  if (target)
    sscanf (target, ".target sm_%d", &arch);
  return check_ptx (10 * major + minor, arch, compute, driver);
}

CUresult
standin_image_check (const void *image)
{
  int compute = standin_card ()->compute, driver = standin_driver_version ();
  uint32_t magic;
  CUresult result;

  if (!image)
    return CUDA_ERROR_INVALID_IMAGE;
  memcpy (&magic, image, sizeof magic);
  if (memcmp (image, "\177ELF", 4) == 0)
    result = check_elf (image, compute, driver);
  else if (magic == FAT_MAGIC)
    result = check_fat (image, compute, driver);
  else
    result = check_text (image, compute, driver);
  return result;
}
