/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver-functions.h: the driver functions that we call, as a list.
 *
 * Include with REQUIRED (member, symbol, arguments) and OPTIONAL (…) defined.
 * The symbols are the literal names in libcuda.so.1: a header that maps plain
 * names to versioned ones differs from toolkit to toolkit, the library keeps
 * every version that it ever had. */

REQUIRED (init, cuInit, (unsigned flags))
REQUIRED (driver_get_version, cuDriverGetVersion, (int *version))
REQUIRED (get_error_name, cuGetErrorName, (CUresult result, const char **text))
REQUIRED (get_error_string, cuGetErrorString,
    (CUresult result, const char **text))

REQUIRED (device_get_count, cuDeviceGetCount, (int *count))
REQUIRED (device_get, cuDeviceGet, (CUdevice * device, int ordinal))
REQUIRED (device_get_name, cuDeviceGetName,
    (char *name, int size, CUdevice device))
REQUIRED (device_get_attribute, cuDeviceGetAttribute,
    (int *value, CUdevice_attribute attribute, CUdevice device))
REQUIRED (primary_ctx_retain, cuDevicePrimaryCtxRetain,
    (CUcontext * context, CUdevice device))
REQUIRED (primary_ctx_release, cuDevicePrimaryCtxRelease_v2, (CUdevice device))
REQUIRED (ctx_push, cuCtxPushCurrent_v2, (CUcontext context))
REQUIRED (ctx_pop, cuCtxPopCurrent_v2, (CUcontext * context))
REQUIRED (ctx_get_device, cuCtxGetDevice, (CUdevice * device))

REQUIRED (mem_alloc, cuMemAlloc_v2, (CUdeviceptr * memory, size_t size))
REQUIRED (mem_free, cuMemFree_v2, (CUdeviceptr memory))
REQUIRED (mem_host_alloc, cuMemHostAlloc,
    (void **memory, size_t size, unsigned flags))
REQUIRED (mem_free_host, cuMemFreeHost, (void *memory))
REQUIRED (pointer_get_attribute, cuPointerGetAttribute,
    (void *value, CUpointer_attribute attribute, CUdeviceptr pointer))
REQUIRED (memcpy_htod_async, cuMemcpyHtoDAsync_v2,
    (CUdeviceptr to, const void *from, size_t size, CUstream stream))
REQUIRED (memcpy_dtoh_async, cuMemcpyDtoHAsync_v2,
    (void *to, CUdeviceptr from, size_t size, CUstream stream))
REQUIRED (memcpy_dtod_async, cuMemcpyDtoDAsync_v2,
    (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream))
REQUIRED (memset_d8_async, cuMemsetD8Async,
    (CUdeviceptr memory, unsigned char value, size_t size, CUstream stream))

REQUIRED (stream_create, cuStreamCreate, (CUstream * stream, unsigned flags))
REQUIRED (stream_destroy, cuStreamDestroy_v2, (CUstream stream))
REQUIRED (stream_synchronize, cuStreamSynchronize, (CUstream stream))
REQUIRED (stream_wait_event, cuStreamWaitEvent,
    (CUstream stream, CUevent event, unsigned flags))
REQUIRED (event_create, cuEventCreate, (CUevent * event, unsigned flags))
REQUIRED (event_destroy, cuEventDestroy_v2, (CUevent event))
REQUIRED (event_record, cuEventRecord, (CUevent event, CUstream stream))
REQUIRED (event_synchronize, cuEventSynchronize, (CUevent event))
REQUIRED (event_elapsed_time, cuEventElapsedTime,
    (float *ms, CUevent start, CUevent end))

REQUIRED (module_load_data, cuModuleLoadData,
    (CUmodule * module, const void *image))
REQUIRED (module_unload, cuModuleUnload, (CUmodule module))
REQUIRED (module_get_function, cuModuleGetFunction,
    (CUfunction * function, CUmodule module, const char *name))
REQUIRED (func_get_attribute, cuFuncGetAttribute,
    (int *value, CUfunction_attribute attribute, CUfunction function))
REQUIRED (func_set_attribute, cuFuncSetAttribute,
    (CUfunction function, CUfunction_attribute attribute, int value))
REQUIRED (occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *n_blocks, CUfunction function, int block_size, size_t shared_size))
REQUIRED (launch_kernel, cuLaunchKernel,
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
        unsigned block_x, unsigned block_y, unsigned block_z,
        unsigned shared_size, CUstream stream, void **arguments, void **extra))

/* Captured graphs: since CUDA 11.4, do without where they are missing. */
OPTIONAL (stream_begin_capture, cuStreamBeginCapture_v2,
    (CUstream stream, CUstreamCaptureMode mode))
OPTIONAL (stream_end_capture, cuStreamEndCapture,
    (CUstream stream, CUgraph *graph))
OPTIONAL (graph_instantiate, cuGraphInstantiateWithFlags,
    (CUgraphExec * exec, CUgraph graph, unsigned long long flags))
OPTIONAL (graph_launch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))
OPTIONAL (graph_exec_destroy, cuGraphExecDestroy, (CUgraphExec exec))
OPTIONAL (graph_destroy, cuGraphDestroy, (CUgraph graph))
