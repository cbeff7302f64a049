/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unsupported.c: what libgstcuda looks up but audio never calls, and what
 * NVRTC asks for. */
#include "standin.h"

#define UNSUPPORTED(name)                                                      \
  STANDIN_API name (void);                                                     \
  STANDIN_API name (void)                                                      \
  {                                                                            \
    return CUDA_ERROR_NOT_SUPPORTED;                                           \
  }

UNSUPPORTED (cuCtxEnablePeerAccess)
UNSUPPORTED (cuCtxDisablePeerAccess)
UNSUPPORTED (cuTexObjectCreate)
UNSUPPORTED (cuTexObjectDestroy)
UNSUPPORTED (cuGraphicsMapResources)
UNSUPPORTED (cuGraphicsUnmapResources)
UNSUPPORTED (cuGraphicsResourceSetMapFlags_v2)
UNSUPPORTED (cuGraphicsSubResourceGetMappedArray)
UNSUPPORTED (cuGraphicsResourceGetMappedPointer_v2)
UNSUPPORTED (cuGraphicsUnregisterResource)
UNSUPPORTED (cuGraphicsGLRegisterImage)
UNSUPPORTED (cuGraphicsGLRegisterBuffer)
UNSUPPORTED (cuGLGetDevices_v2)
UNSUPPORTED (cuIpcGetEventHandle)
UNSUPPORTED (cuIpcOpenEventHandle)
UNSUPPORTED (cuIpcGetMemHandle)
UNSUPPORTED (cuIpcOpenMemHandle)
UNSUPPORTED (cuIpcCloseMemHandle)

/* libnvrtc calls it unchecked, and compiles all the same. */
UNSUPPORTED (cuGetExportTable)
