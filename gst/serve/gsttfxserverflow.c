/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverflow.c: a WebSocket's stream, with bounds on what it keeps in memory.
 */
#include "gsttfxserver.h"

/* Bytes that are read before the main loop does something else. */
#define PART_BYTES 65536
/* Bytes without a whole message: fragments, pings. */
#define MAX_UNREAD (1 << 20)
/* The opcode of a text frame. */
#define TEXT_FRAME 1

typedef struct Output
{
  GFilterOutputStream parent;
  gsize frame_left; /* of the frame that is being written */
  gboolean is_text, is_blocked;
  gsize queued;
} Output;

typedef struct Input
{
  GFilterInputStream parent;
  Output *output; /* borrowed: the stream has both */
  gsize part_left, unread;
} Input;

typedef GFilterOutputStreamClass OutputClass;
typedef GFilterInputStreamClass InputClass;

/* ---- writing -------------------------------------------------------------------------- */

#define BASE_OUT(stream)                                                       \
  G_POLLABLE_OUTPUT_STREAM (g_filter_output_stream_get_base_stream (           \
      G_FILTER_OUTPUT_STREAM (stream)))

static GSource *
output_create_source (GPollableOutputStream *stream, GCancellable *cancellable)
{
  g_autoptr (GSource) base =
      g_pollable_output_stream_create_source (BASE_OUT (stream), cancellable);

  return g_pollable_source_new_full (stream, base, cancellable);
}

/* Each call has the rest of one frame. */
static gssize
output_write (GPollableOutputStream *stream, const void *data, gsize length,
    GError **error)
{
  Output *self = (Output *)stream;
  const gssize n =
      g_pollable_output_stream_write_nonblocking (BASE_OUT (stream), data,
          length, NULL, error);

  self->is_blocked = n < (gssize)length;
  if (n <= 0)
    return n;
  if (self->frame_left == 0) {
    self->frame_left = length;
    self->is_text = (*(const guint8 *)data & 0xf) == TEXT_FRAME;
  }
  self->frame_left -= (gsize)n;
  if (self->is_text)
    self->queued -= MIN ((gsize)n, self->queued);
  return n;
}

static void
output_init_pollable (GPollableOutputStreamInterface *iface)
{
  iface->create_source = output_create_source;
  iface->write_nonblocking = output_write;
}

static GType output_get_type (void);
G_DEFINE_TYPE_WITH_CODE (Output, output, G_TYPE_FILTER_OUTPUT_STREAM,
    G_IMPLEMENT_INTERFACE (G_TYPE_POLLABLE_OUTPUT_STREAM, output_init_pollable))

static void
output_class_init (OutputClass *klass)
{
}

static void
output_init (Output *self)
{
}

/* ---- reading -------------------------------------------------------------------------- */

#define BASE_IN(stream)                                                        \
  G_POLLABLE_INPUT_STREAM (                                                    \
      g_filter_input_stream_get_base_stream (G_FILTER_INPUT_STREAM (stream)))

/* Waits for the client to read while it does not. */
static GSource *
input_create_source (GPollableInputStream *stream, GCancellable *cancellable)
{
  Input *self = (Input *)stream;
  g_autoptr (GSource) base =
      self->output->is_blocked
          ? g_pollable_output_stream_create_source (BASE_OUT (self->output),
                cancellable)
          : g_pollable_input_stream_create_source (BASE_IN (stream),
                cancellable);

  self->part_left = PART_BYTES;
  return g_pollable_source_new_full (stream, base, cancellable);
}

static gssize
input_read (GPollableInputStream *stream, void *buffer, gsize length,
    GError **error)
{
  Input *self = (Input *)stream;
  gssize n;

  if (self->unread > MAX_UNREAD) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
        "the message is too large");
    return -1;
  }
  if (self->part_left == 0 || self->output->is_blocked) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK, "not now");
    return -1;
  }
  n = g_pollable_input_stream_read_nonblocking (BASE_IN (stream), buffer,
      MIN (length, self->part_left), NULL, error);
  if (n > 0) {
    self->part_left -= (gsize)n;
    self->unread += (gsize)n;
  }
  return n;
}

static void
input_init_pollable (GPollableInputStreamInterface *iface)
{
  iface->create_source = input_create_source;
  iface->read_nonblocking = input_read;
}

static GType input_get_type (void);
G_DEFINE_TYPE_WITH_CODE (Input, input, G_TYPE_FILTER_INPUT_STREAM,
    G_IMPLEMENT_INTERFACE (G_TYPE_POLLABLE_INPUT_STREAM, input_init_pollable))

static void
input_class_init (InputClass *klass)
{
}

static void
input_init (Input *self)
{
}

/* ---- both ----------------------------------------------------------------------------- */

GIOStream *
gst_tfx_server_flow_new (GIOStream *base)
{
  Input *input = g_object_new (input_get_type (), "base-stream",
      g_io_stream_get_input_stream (base), NULL);
  Output *output = g_object_new (output_get_type (), "base-stream",
      g_io_stream_get_output_stream (base), NULL);
  GIOStream *flow =
      g_simple_io_stream_new (G_INPUT_STREAM (input), G_OUTPUT_STREAM (output));

  input->output = output;
  g_object_set_data_full (G_OBJECT (flow), "base", base, g_object_unref);
  g_object_unref (input);
  g_object_unref (output);
  return flow;
}

void
gst_tfx_server_flow_queue (GIOStream *flow, gsize length)
{
  Output *output = (Output *)g_io_stream_get_output_stream (flow);

  output->queued += length + (length < 126 ? 2 : length < 65536 ? 4 : 10);
}

gsize
gst_tfx_server_flow_get_queued (GIOStream *flow)
{
  return ((Output *)g_io_stream_get_output_stream (flow))->queued;
}

void
gst_tfx_server_flow_note_message (GIOStream *flow)
{
  ((Input *)g_io_stream_get_input_stream (flow))->unread = 0;
}
