/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-run.c: runs a block on the device, part by part.
 *
 * A long block in host memory is split into parts: one is uploaded while the previous
 * one is filtered and the one before that downloaded:
 *
 *   host        fill 1  fill 2  fill 3  take 1, fill 4  take 2, fill 5
 *   up            up 1    up 2    up 3            up 4
 *   kernels             run 1   run 2   run 3
 *   down                       down 1  down 2  down 3
 *
 * A block of one part uses one stream, unless tfx_plan_start() runs it: the next
 * block may then start before it has ended.  The state after a part is valid once the
 * whole part is on its streams.  A part that fails before that is abandoned; earlier
 * parts are waited for and remain valid. */
#include "engine-private.h"

#include <errno.h>

#include "core/block.h"

/* A run of a block. */
typedef struct Run
{
  const TfxBlock *in, *out;
  TfxCudaPlace in_place, out_place;
  size_t part_frames;
  bool has_parts; /* more than one, of one block or of several */
  /* Kernels read or write the host's memory: of a short block, or all. */
  bool reads_host, writes_host;
  TfxFlight *flight;
} Run;

static int
check (TfxEngine *e, CUresult result, const char *what)
{
  return tfx_context_check (e->cuda, result, what);
}

/* Tries twice: work before the event may already be on the stream. */
static int
record (TfxEngine *e, CUevent event, CUstream stream)
{
  int ret = -EIO;

  for (int i = 0; ret < 0 && i < 2; i++)
    ret = check (e, e->cuda->driver->event_record (event, stream),
        "recording an event");
  return ret;
}

/* Work that is put on the stream from here on waits for the event. */
static int
follow (TfxEngine *e, CUstream stream, CUevent event)
{
  return check (e, e->cuda->driver->stream_wait_event (stream, event, 0),
      "waiting for an event");
}

/* ---- streams ---------------------------------------------------------------- */

/* The last run left the state on its stream. A change of streams, which is rare,
 * waits for it. */
static int
choose_streams (TfxEngine *e, const Run *r)
{
  bool on_host =
      r->in_place != TFX_PLACE_DEVICE && r->out_place != TFX_PLACE_DEVICE;
  CUstream wanted = on_host ? e->own : e->cuda->stream;
  int ret = 0;

  if (e->stream.handle != wanted)
    ret = tfx_context_drain (&e->stream);
  if (ret < 0)
    return ret;
  e->stream.handle = wanted;
  if (r->has_parts && !(r->reads_host && r->writes_host)) {
    if (!e->up)
      ret = tfx_context_take_stream (e->cuda, &e->up);
    if (ret == 0 && !e->down)
      ret = tfx_context_take_stream (e->cuda, &e->down);
  }
  return ret;
}

/* ---- a part ----------------------------------------------------------------- */

/* Counts the channels whose state the device has cleared, and resets the flags. */
static void
count_cleared (TfxEngine *e, Part *p)
{
  unsigned char *cleared = p->cleared.data;

  for (unsigned c = 0; c < e->plan->n_channels; c++) {
    e->n_cleared += cleared[c] != 0;
    cleared[c] = 0;
  }
}

/* Waits for a part and copies its output to the host. */
static int
finish_part (TfxEngine *e, Part *p)
{
  int ret;

  if (!p->is_busy)
    return 0;
  ret = tfx_context_wait (&e->stream, p->done, "waiting for the device",
      &e->usual_ns);
  if (ret < 0)
    return ret;
  p->is_busy = false;
  count_cleared (e, p);
  if (p->has_output) {
    tfx_transfer_finish (&p->out, &p->output);
    p->flight->n_done += p->output.n_frames;
    p->flight->n_parts--;
  }
  p->has_output = false;
  return 0;
}

/* Waits for all parts in flight, the oldest first. */
static int
finish_all (TfxEngine *e)
{
  int ret = 0;

  for (unsigned i = 0; ret == 0 && i < TFX_N_PARTS; i++)
    ret = finish_part (e, &e->parts[(e->next + i) % TFX_N_PARTS]);
  if (ret == 0)
    e->next = 0;
  return ret;
}

static int
upload (TfxEngine *e, const Run *r, Part *p, const TfxBlock *in,
    TfxKernelBlock *from)
{
  /* The caller may write a block that is not waited for. */
  const bool can_be_direct =
      r->out_place != TFX_PLACE_DEVICE && r->in_place == TFX_PLACE_PINNED;
  const bool is_apart = r->has_parts && !r->reads_host;
  TfxCudaStream up = { e->cuda, is_apart ? e->up : e->stream.handle };
  int ret = tfx_transfer_reserve (&e->stream, &p->in, in, can_be_direct,
      r->reads_host, from);

  if (ret == 0)
    ret = tfx_transfer_upload (&up, &p->in, in);
  if (ret < 0)
    return ret;
  e->n_uploads += !r->reads_host;
  if (!is_apart)
    return 0;
  ret = record (e, p->uploaded, e->up);
  return ret < 0 ? ret : follow (e, e->stream.handle, p->uploaded);
}

/* `done` is behind all of the part. */
static int
download (TfxEngine *e, const Run *r, Part *p)
{
  const bool is_apart = r->has_parts && !r->writes_host;
  TfxCudaStream down = { e->cuda, is_apart ? e->down : e->stream.handle };
  int ret = 0;

  if (!p->has_output)
    return record (e, p->done, e->stream.handle);
  if (is_apart)
    ret = record (e, p->ran, e->stream.handle);
  if (ret == 0 && is_apart)
    ret = follow (e, e->down, p->ran);
  if (ret == 0)
    ret = tfx_transfer_download (&down, &p->out, &p->output);
  e->n_downloads += ret == 0 && !r->writes_host;
  return ret < 0 ? ret : record (e, p->done, down.handle);
}

/* Whether an integrated device would put the output of one launch where the input of
 * the next one is: if that failed the input would be gone. */
static bool
overwrites (const TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  return e->cuda->card.is_integrated && e->has_splits && in->data == out->data;
}

/* Puts a part on the streams. */
static int
start_part (TfxEngine *e, const Run *r, Part *p, const TfxBlock *in,
    const TfxBlock *out)
{
  TfxKernelBlock from = tfx_transfer_device_block (in);
  TfxKernelBlock to = tfx_transfer_device_block (out);
  const size_t n_samples = in->n_frames * in->n_channels;
  size_t longest = __atomic_load_n (&e->cuda->longest_run, __ATOMIC_RELAXED);
  int ret = tfx_cuda_engine_reserve (e, in->n_frames);

  while (n_samples > longest &&
         !__atomic_compare_exchange_n (&e->cuda->longest_run, &longest,
             n_samples, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  p->has_output = r->out_place != TFX_PLACE_DEVICE;
  p->output = *out;
  e->cleared = (CUdeviceptr)(uintptr_t)p->cleared.data;
  if (ret == 0 && r->in_place != TFX_PLACE_DEVICE)
    ret = upload (e, r, p, in, &from);
  if (ret == 0 && p->has_output)
    ret = tfx_transfer_reserve (&e->stream, &p->out, out,
        r->out_place == TFX_PLACE_PINNED && !overwrites (e, in, out),
        r->writes_host, &to);
  if (ret == 0)
    ret = tfx_cuda_engine_run_steps (e, &from, &to, in->n_frames);
  if (ret == 0)
    ret = download (e, r, p);
  if (ret < 0) {
    tfx_cuda_engine_abandon (e);
    return ret;
  }
  tfx_cuda_engine_commit (e);
  p->is_busy = true;
  p->flight = r->flight;
  r->flight->n_parts += p->has_output;
  return 0;
}

/* ---- a block ---------------------------------------------------------------- */

static int
start_parts (TfxEngine *e, const Run *r)
{
  const unsigned n_channels = r->in->n_channels;
  size_t first = 0;
  int ret = 0;

  while (ret == 0 && first < r->in->n_frames) {
    size_t n = r->in->n_frames - first;
    Part *p = &e->parts[e->next];
    TfxBlock in, out;

    n = n < r->part_frames ? n : r->part_frames;
    in = tfx_block_part (r->in, first, n, 0, n_channels);
    out = tfx_block_part (r->out, first, n, 0, n_channels);
    ret = finish_part (e, p);
    if (ret == 0)
      ret = start_part (e, r, p, &in, &out);
    if (ret < 0)
      return ret;
    first += n;
    e->next = (e->next + 1) % TFX_N_PARTS;
    /* Output on the device is complete once it is on the stream. */
    if (r->out_place == TFX_PLACE_DEVICE)
      r->flight->n_done += n;
  }
  return 0;
}

/* must_wait: the output is there when it returns. */
static int
run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out, TfxFlight *flight,
    bool must_wait)
{
  Run r = { .in = in, .out = out, .flight = flight };
  int ret = tfx_transfer_find (e->cuda, out, &r.out_place);

  if (ret == 0)
    ret = tfx_transfer_find (e->cuda, in, &r.in_place);
  if (ret < 0)
    return ret;
  /* Pinned memory may be transferred without staging, so the input would be
   * overwritten before the output is complete. */
  must_wait = must_wait || r.in_place != TFX_PLACE_HOST ||
              r.out_place != TFX_PLACE_HOST;
  r.writes_host =
      e->cuda->card.is_integrated ||
      tfx_transfer_is_short (in->n_frames, in->n_channels, in->type);
  r.reads_host = e->cuda->card.is_integrated ||
                 (r.writes_host && tfx_cuda_engine_reads_once (e->plan));
  r.part_frames = tfx_cuda_engine_part_frames (e, r.in_place, r.out_place);
  r.has_parts = !must_wait || in->n_frames > r.part_frames;
  ret = choose_streams (e, &r);
  if (ret == 0)
    ret = start_parts (e, &r);
  if (ret == 0 && must_wait &&
      (r.out_place != TFX_PLACE_DEVICE ||
          __atomic_load_n (&e->cuda->waiting, __ATOMIC_RELAXED)))
    ret = finish_all (e);
  return ret;
}

/* The device no longer responds, even to a repeated call. */
static void
say_lost (TfxEngine *e)
{
  __atomic_store_n (&e->cuda->lost, true, __ATOMIC_RELEASE);
}

/* Ends the parts that were on the streams before one failed, and the work of the
 * abandoned one, before the CPU filters the same samples. */
static void
end_failed (TfxEngine *e)
{
  if (tfx_cuda_engine_drain (e) < 0 || finish_all (e) < 0)
    say_lost (e);
  for (unsigned i = 0; i < TFX_N_PARTS; i++) {
    Part *p = &e->parts[i];

    if (p->is_busy && p->has_output)
      p->flight->n_parts--;
    p->is_busy = p->has_output = false;
  }
}

static int
take_cleared (TfxEngine *e)
{
  int n = e->n_cleared;

  e->n_cleared = 0;
  return n;
}

static int
run_or_start (TfxEngine *e, const TfxBlock *in, const TfxBlock *out,
    TfxFlight *flight, bool must_wait)
{
  int ret = tfx_context_enter (e->cuda);

  *flight = (TfxFlight){ 0 };
  if (ret < 0)
    return ret;
  e->double_arithmetic = out->type == TFX_SAMPLE_F64;
  e->has_run = true;
  ret = run (e, in, out, flight, must_wait);
  if (ret < 0)
    end_failed (e);
  else
    ret = take_cleared (e);
  tfx_context_leave (e->cuda);
  return ret;
}

int
tfx_cuda_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  return run_or_start (e, in, out, &e->whole, true);
}

size_t
tfx_cuda_engine_n_done (const TfxEngine *e)
{
  return e->whole.n_done;
}

int
tfx_cuda_engine_start (TfxEngine *e, const TfxBlock *in, const TfxBlock *out,
    TfxFlight *flight)
{
  return run_or_start (e, in, out, flight, false);
}

/* The oldest come first. */
int
tfx_cuda_engine_finish (TfxEngine *e, TfxFlight *flight)
{
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  for (unsigned i = 0; ret == 0 && i < TFX_N_PARTS && flight->n_parts > 0; i++)
    ret = finish_part (e, &e->parts[(e->next + i) % TFX_N_PARTS]);
  if (ret < 0)
    end_failed (e);
  else
    ret = take_cleared (e);
  tfx_context_leave (e->cuda);
  return ret;
}

void
tfx_cuda_engine_finish_flights (TfxEngine *e)
{
  bool entered, is_needed = false;

  for (unsigned i = 0; i < TFX_N_PARTS; i++)
    is_needed = is_needed || e->parts[i].has_output;
  if (!is_needed)
    return;
  entered = tfx_context_enter (e->cuda) == 0;
  end_failed (e);
  if (entered)
    tfx_context_leave (e->cuda);
}
