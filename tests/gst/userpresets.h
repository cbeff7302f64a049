/* SPDX-License-Identifier: LGPL-2.1-or-later
 * userpresets.h: the user's own presets of a type of element, in this run. */
#ifndef USER_PRESETS_H
#define USER_PRESETS_H

#include <glib.h>

/* Where they lie; to be freed. */
gchar *user_presets_name (const gchar *type);

void user_presets_remove (const gchar *type);

/* Before the presets are looked at: they are read once in a process. */
void user_presets_write (const gchar *type, const gchar *version,
    const gchar *groups);

#endif /* USER_PRESETS_H */
