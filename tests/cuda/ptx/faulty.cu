/* SPDX-License-Identifier: LGPL-2.1-or-later
 * faulty.cu: the kernels of the stand-in's own test, as PTX. */
#include "faulty.h"
