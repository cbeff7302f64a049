/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cudaGL.h: what libgstcuda's headers name of CUDA's OpenGL interface. */
#ifndef TFX_STUB_CUDA_GL_H
#define TFX_STUB_CUDA_GL_H

typedef enum
{
  CU_GL_DEVICE_LIST_ALL = 1,
  CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
  CU_GL_DEVICE_LIST_NEXT_FRAME = 3
} CUGLDeviceList;

#endif
