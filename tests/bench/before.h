/* SPDX-License-Identifier: LGPL-2.1-or-later
 * before.h: what the CSV of another run of a benchmark says. */
#ifndef BEFORE_H
#define BEFORE_H

typedef struct Before Before;

/* NULL, with a message, if the file cannot be read. */
Before *before_read (const char *path);
void before_free (Before **before);

/* Nanoseconds per sample of a subject, 0 if it was not measured. */
double before_find (const Before *before, const char *group,
    const char *subject, const char *variant);

#endif /* BEFORE_H */
