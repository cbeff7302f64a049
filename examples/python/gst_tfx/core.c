/* SPDX-License-Identifier: LGPL-2.1-or-later
 * core.c: the C part of the Python package: a running chain, and the catalogue.
 *
 * It uses the stable ABI of Python 3.11, so one build serves all later versions.
 * Arrays come by the buffer protocol; only the modules in Python need NumPy. */
#include "device.h"
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tfx.h"

/* The exception with the place of an error in a text. */
static PyObject *chain_error;

typedef struct Chain
{
  PyObject_HEAD TfxExpr *expr;
  TfxFilter *filter;
  TfxPlan *plan;
  double rate_hz;
  uint64_t positions;
  unsigned n_in, n_out, n_room; /* channels; n_room: of blocks */
  bool is_alike;                /* see tfx_device_is_alike() */
  TfxSample sample;
  uint64_t n_run, n_copies; /* frames; blocks that the CPU ran for a device */
} Chain;

/* ---- errors ----------------------------------------------------------------------- */

static PyObject *
raise_code (int code, const char *what)
{
  if (code == -ENOMEM)
    return PyErr_NoMemory ();
  return PyErr_Format (PyExc_RuntimeError, "%s: %s", what, strerror (-code));
}

/* With the attributes message, line and column.  An exception of the reader stays. */
static PyObject *
raise_expr (const TfxExprError *error)
{
  PyObject *e;

  if (PyErr_Occurred ())
    return NULL;
  if (error->code == -ENOMEM)
    return PyErr_NoMemory ();
  e = PyObject_CallFunction (chain_error, "s",
      error->rendered[0] ? error->rendered : error->message);
  if (e) {
    PyObject *values[] = { PyUnicode_FromString (error->message),
      PyLong_FromUnsignedLong (error->line),
      PyLong_FromUnsignedLong (error->column) };
    static const char *const names[] = { "message", "line", "column" };

    for (int i = 0; i < 3; i++) {
      if (values[i])
        PyObject_SetAttrString (e, names[i], values[i]);
      Py_XDECREF (values[i]);
    }
    PyErr_SetObject (chain_error, e);
    Py_DECREF (e);
  }
  return NULL;
}

/* A number that had to change becomes a Python warning, or the first one an exception. */
static void
warn_clamp (const TfxExprClamp *clamp, void *data)
{
  int *failed = data;

  if (*failed == 0)
    *failed = PyErr_WarnEx (PyExc_UserWarning, clamp->message, 2);
}

/* ---- building --------------------------------------------------------------------- */

/* A chain for the expression.  NULL with an exception. */
static TfxChain *
build (const Chain *self, const TfxExpr *expr)
{
  TfxExprError error;
  TfxChain *chain = NULL;
  int failed = 0;

  if (tfx_expr_build_at (expr, self->rate_hz, self->n_in, self->positions,
          warn_clamp, &failed, &chain, &error) < 0) {
    raise_expr (&error);
    return NULL;
  }
  if (failed)
    tfx_chain_unref (&chain);
  return chain;
}

/* Chain (text, rate, channels, is_double, reader): see tfx_files_reader(). */
static PyObject *
chain_new (PyTypeObject *type, PyObject *args, PyObject *kwds)
{
  const char *text;
  Py_ssize_t length;
  int is_double = 0, ret;
  Chain *self;
  TfxExprError error;
  TfxChain *chain;
  TfxFilterSpec spec;
  TfxFileReader files;
  PyObject *reader;

  self = (Chain *)((allocfunc)PyType_GetSlot (type, Py_tp_alloc)) (type, 0);
  if (!self)
    return NULL;
  if (!PyArg_ParseTuple (args, "s#dIpO", &text, &length, &self->rate_hz,
          &self->n_in, &is_double, &reader))
    goto fail;
  files = tfx_files_reader (reader);
  self->sample = is_double ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32;
  self->expr = tfx_expr_parse_with_files (text, (size_t)length, &files, &error);
  if (!self->expr) {
    raise_expr (&error);
    goto fail;
  }
  tfx_expr_channels (self->expr, self->n_in, &self->n_out, &self->n_room);
  chain = build (self, self->expr);
  if (!chain)
    goto fail;
  spec = (TfxFilterSpec){ .rate_hz = self->rate_hz,
    .n_channels = self->n_room,
    .sample = self->sample };
  self->is_alike = tfx_device_is_alike (chain);
  ret = tfx_filter_new (chain, &spec, &self->filter);
  tfx_chain_unref (&chain);
  if (ret == 0)
    ret = tfx_plan_new (&self->filter, 1, tfx_cpu_backend (), &self->plan);
  if (ret < 0) {
    raise_code (ret, "no filter for this chain");
    goto fail;
  }
  return (PyObject *)self;
fail:
  Py_DECREF (self);
  return NULL;
}

static void
chain_dealloc (PyObject *object)
{
  Chain *self = (Chain *)object;
  PyTypeObject *type = Py_TYPE (object);

  if (self->plan) {
    tfx_filter_lock (self->filter);
    tfx_plan_free (&self->plan);
    tfx_filter_unlock (self->filter);
  }
  tfx_filter_unref (&self->filter);
  tfx_expr_free (&self->expr);
  ((freefunc)PyType_GetSlot (type, Py_tp_free)) (object);
  Py_DECREF (type);
}

/* ---- samples ---------------------------------------------------------------------- */

/* An array of frames and channels as a block. */
static int
get_block (const Chain *self, PyObject *array, int flags, Py_buffer *view,
    TfxBlock *block)
{
  const Py_ssize_t size = self->sample == TFX_SAMPLE_F64 ? 8 : 4;
  const char *format = self->sample == TFX_SAMPLE_F64 ? "d" : "f";

  if (PyObject_GetBuffer (array, view, flags | PyBUF_STRIDES | PyBUF_FORMAT) <
      0)
    return -1;
  if (view->ndim != 2 || !view->format || strcmp (view->format, format) != 0 ||
      view->shape[1] != (Py_ssize_t)self->n_room ||
      view->strides[0] % size != 0 || view->strides[1] % size != 0) {
    PyErr_Format (PyExc_ValueError,
        "an array of shape (frames, %u) and type %s is needed", self->n_room,
        size == 8 ? "float64" : "float32");
    PyBuffer_Release (view);
    return -1;
  }
  *block = (TfxBlock){ .data = view->buf,
    .type = self->sample,
    .n_channels = self->n_room,
    .n_frames = (size_t)view->shape[0],
    .frame_stride = view->strides[0] / size,
    .channel_stride = view->strides[1] / size };
  return 0;
}

/* run (in, out, device = None, is_away = False): it releases the interpreter's lock, and
 * holds that of the filter.  is_away: the arrays are in the memory of the device. */
static PyObject *
chain_run (PyObject *object, PyObject *args)
{
  Chain *self = (Chain *)object;
  PyObject *in_array, *out_array;
  Py_buffer in_view, out_view;
  TfxBlock in, out;
  TfxCuda *cuda = NULL;
  int is_away = 0, ret = -EINVAL;

  if (!PyArg_ParseTuple (args, "OO|O&p", &in_array, &out_array,
          tfx_device_convert, &cuda, &is_away) ||
      get_block (self, in_array, PyBUF_SIMPLE, &in_view, &in) < 0)
    return NULL;
  if (get_block (self, out_array, PyBUF_WRITABLE, &out_view, &out) < 0) {
    PyBuffer_Release (&in_view);
    return NULL;
  }
  if (in.n_frames == out.n_frames) {
    Py_BEGIN_ALLOW_THREADS tfx_filter_lock (self->filter);
    if (cuda)
      ret = tfx_device_run (cuda, is_away, self->filter, &self->plan, &in, &out,
          &self->n_copies);
    else if ((ret = tfx_plan_switch (&self->plan, tfx_cpu_backend ())) == 0)
      ret = tfx_plan_run (self->plan, &in, &out);
    self->n_run += ret < 0 ? 0 : in.n_frames;
    tfx_filter_unlock (self->filter);
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release (&in_view);
  PyBuffer_Release (&out_view);
  if (ret < 0 && cuda)
    return tfx_device_raise (cuda, ret);
  if (ret < 0)
    return raise_code (ret, "the samples cannot be filtered");
  Py_RETURN_NONE;
}

static PyObject *
chain_reset (PyObject *object, PyObject *unused)
{
  Chain *self = (Chain *)object;

  Py_BEGIN_ALLOW_THREADS tfx_filter_lock (self->filter);
  tfx_filter_reset (self->filter);
  tfx_filter_unlock (self->filter);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* ---- parameters ------------------------------------------------------------------- */

/* Sets a parameter of a copy of the expression.  NULL with an exception. */
static TfxExpr *
copy_with (const Chain *self, const char *stage, const char *param,
    PyObject *value)
{
  const int index = tfx_expr_find (self->expr, stage);
  TfxExpr *expr = tfx_expr_copy (self->expr);
  TfxExprError error;
  TfxValue v = { .type = TFX_VALUE_NONE };
  int ret;

  if (!expr) {
    PyErr_NoMemory ();
    return NULL;
  }
  if (index < 0) {
    PyErr_Format (PyExc_KeyError, "the chain has no stage '%s'", stage);
    tfx_expr_free (&expr);
    return NULL;
  }
  if (PyBool_Check (value)) {
    v = (TfxValue){ .type = TFX_VALUE_BOOL, .number = value == Py_True };
  } else if (PyUnicode_Check (value)) {
    const char *word = PyUnicode_AsUTF8AndSize (value, NULL);

    ret = word ? tfx_expr_set_word (expr, (size_t)index, param, word, &error)
               : -EINVAL;
    if (ret == 0)
      return expr;
    if (word)
      raise_expr (&error);
    tfx_expr_free (&expr);
    return NULL;
  } else if (PySequence_Check (value) && !PyFloat_Check (value)) {
    const Py_ssize_t n = PySequence_Size (value);

    v.type = TFX_VALUE_LIST;
    v.list = n > 0 ? calloc ((size_t)n, sizeof *v.list) : NULL;
    for (Py_ssize_t i = 0; v.list && i < n; i++) {
      PyObject *item = PySequence_GetItem (value, i);

      v.list[v.n_list++] = item ? PyFloat_AsDouble (item) : 0.0;
      Py_XDECREF (item);
    }
  } else if (value != Py_None) {
    v = (TfxValue){ .type = TFX_VALUE_NUMBER,
      .number = PyFloat_AsDouble (value) };
  }
  ret = PyErr_Occurred ()
            ? -EINVAL
            : tfx_expr_set (expr, (size_t)index, param, &v, &error);
  free (v.list);
  if (ret == 0)
    return expr;
  if (ret == -ENOENT && !PyErr_Occurred ())
    PyErr_Format (PyExc_KeyError, "stage '%s' has no parameter '%s'", stage,
        param);
  else if (!PyErr_Occurred ())
    raise_expr (&error);
  tfx_expr_free (&expr);
  return NULL;
}

/* set (stage, param, value, is_check = False): a ramp of 10 ms, or a cross-fade for another
 * structure.  is_check: only raises the exceptions and warnings of the value. */
static PyObject *
chain_set (PyObject *object, PyObject *args)
{
  Chain *self = (Chain *)object;
  const char *stage, *param;
  PyObject *value;
  TfxExpr *expr;
  TfxChain *chain;
  int is_check = 0, ret;

  if (!PyArg_ParseTuple (args, "ssO|p", &stage, &param, &value, &is_check))
    return NULL;
  expr = copy_with (self, stage, param, value);
  chain = expr ? build (self, expr) : NULL;
  if (!chain || is_check) {
    tfx_expr_free (&expr);
    if (!chain)
      return NULL;
    tfx_chain_unref (&chain);
    Py_RETURN_NONE;
  }
  Py_BEGIN_ALLOW_THREADS tfx_filter_lock (self->filter);
  ret = tfx_filter_set_chain (self->filter, chain);
  tfx_filter_unlock (self->filter);
  Py_END_ALLOW_THREADS tfx_chain_unref (&chain);
  if (ret < 0) {
    tfx_expr_free (&expr);
    if (ret == -ENOTSUP)
      return PyErr_Format (PyExc_ValueError,
          "%s.%s changes the latency of a running chain; make a new Chain",
          stage, param);
    return raise_code (ret, "the value cannot be set");
  }
  tfx_expr_free (&self->expr);
  self->expr = expr;
  Py_RETURN_NONE;
}

/* Makes a stage with other numbers of the parameters.  0 with *made, or -1 with an
 * exception. */
static int
build_with (Chain *self, int stage, PyObject *params, const double *numbers,
    TfxStage **made)
{
  TfxExprError error;
  int ret = 0;

  for (Py_ssize_t k = 0; ret == 0 && k < PyTuple_Size (params); k++) {
    const char *param =
        PyUnicode_AsUTF8AndSize (PyTuple_GetItem (params, k), NULL);

    if (!param)
      return -1;
    ret = tfx_expr_set_number (self->expr, (size_t)stage, param, 0, numbers[k],
        &error);
  }
  if (ret == 0)
    ret = tfx_expr_build_stage (self->expr, (size_t)stage, self->rate_hz,
        self->n_in, self->positions, made, &error);
  if (ret < 0)
    raise_expr (&error);
  return ret < 0 ? -1 : 0;
}

/* curve (stage, params, first, values): the stage reaches the values at the frames first,
 * first + grid, ...; see tfx_filter_queue_stage().  values: double [point][param]. */
static PyObject *
chain_curve (PyObject *object, PyObject *args)
{
  Chain *self = (Chain *)object;
  const char *name;
  unsigned long long first;
  PyObject *params, *array;
  Py_ssize_t n;
  Py_buffer view;
  int stage, ret = 0;

  if (!PyArg_ParseTuple (args, "sO!KO", &name, &PyTuple_Type, &params, &first,
          &array) ||
      PyObject_GetBuffer (array, &view, PyBUF_SIMPLE) < 0)
    return NULL;
  stage = tfx_expr_find (self->expr, name);
  n = PyTuple_Size (params);
  for (Py_ssize_t i = 0; ret == 0 && i + n <= view.len / 8; i += n) {
    TfxStage *made = NULL;

    ret = build_with (self, stage, params, (const double *)view.buf + i, &made);
    if (ret < 0)
      break;
    tfx_filter_lock (self->filter);
    ret = tfx_filter_queue_stage (self->filter, first, made);
    tfx_filter_unlock (self->filter);
    first += tfx_stage_grid_frames (made);
    tfx_stage_unref (&made);
    if (ret < 0)
      PyErr_Format (PyExc_ValueError,
          "stage '%s' cannot follow a curve: another value changes its "
          "structure",
          name);
  }
  PyBuffer_Release (&view);
  if (ret < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* grid (stage): the distance in frames of the points of its curves, and the latency at its
 * output. */
static PyObject *
chain_grid (PyObject *object, PyObject *args)
{
  Chain *self = (Chain *)object;
  TfxExprError error;
  TfxStage *made;
  const char *name;
  size_t n_grid, n_late;
  int stage;

  if (!PyArg_ParseTuple (args, "s", &name))
    return NULL;
  stage = tfx_expr_find (self->expr, name);
  if (stage < 0)
    return PyErr_Format (PyExc_KeyError, "the chain has no stage '%s'", name);
  if (tfx_expr_build_stage (self->expr, (size_t)stage, self->rate_hz,
          self->n_in, self->positions, &made, &error) < 0)
    return raise_expr (&error);
  n_grid = tfx_stage_grid_frames (made);
  tfx_filter_lock (self->filter);
  n_late = tfx_filter_latency_at (self->filter, tfx_stage_id (made));
  tfx_filter_unlock (self->filter);
  tfx_stage_unref (&made);
  return Py_BuildValue ("(nn)", (Py_ssize_t)n_grid, (Py_ssize_t)n_late);
}

/* ---- asking ----------------------------------------------------------------------- */

/* response (frequencies, out): both arrays of doubles; out gets real and imaginary
 * parts of the response from input channel to output channel. */
static PyObject *
chain_response (PyObject *object, PyObject *args)
{
  Chain *self = (Chain *)object;
  TfxComplex h[TFX_EXPR_MAX_CHANNELS];
  PyObject *freq_array, *out_array;
  unsigned from, to;
  Py_buffer freq, out;
  TfxChain *chain = NULL;
  int ret;

  if (!PyArg_ParseTuple (args, "OOII", &freq_array, &out_array, &from, &to))
    return NULL;
  if (from >= self->n_in || to >= self->n_out)
    return PyErr_Format (PyExc_IndexError, "there is no channel %u",
        from >= self->n_in ? from : to);
  if (PyObject_GetBuffer (freq_array, &freq, PyBUF_SIMPLE) < 0)
    return NULL;
  if (PyObject_GetBuffer (out_array, &out, PyBUF_WRITABLE) < 0) {
    PyBuffer_Release (&freq);
    return NULL;
  }
  tfx_filter_lock (self->filter);
  ret = tfx_filter_get_chain (self->filter, &chain);
  tfx_filter_unlock (self->filter);
  for (Py_ssize_t i = 0; ret == 0 && i < freq.len / 8 && i < out.len / 16;
       i++) {
    const double f = ((const double *)freq.buf)[i];
    double *y = (double *)out.buf + 2 * i;

    memset (h, 0, sizeof h);
    if (self->n_room <= TFX_EXPR_MAX_CHANNELS) {
      h[from] = (TfxComplex){ 1.0, 0.0 };
      tfx_chain_spread (chain, h, f, self->rate_hz);
      y[0] = h[to].re;
      y[1] = h[to].im;
    } else {
      h[0] = tfx_chain_response_at (chain, from, f, self->rate_hz);
      y[0] = from == to ? h[0].re : 0.0;
      y[1] = from == to ? h[0].im : 0.0;
    }
  }
  tfx_chain_unref (&chain);
  PyBuffer_Release (&freq);
  PyBuffer_Release (&out);
  if (ret < 0)
    return raise_code (ret, "no response");
  Py_RETURN_NONE;
}

static PyObject *
chain_text (PyObject *object, PyObject *unused)
{
  char *text = tfx_expr_print (((Chain *)object)->expr);
  PyObject *string = text ? PyUnicode_FromString (text) : PyErr_NoMemory ();

  free (text);
  return string;
}

static PyObject *
get_latency (PyObject *object, void *closure)
{
  Chain *self = (Chain *)object;
  size_t n;

  tfx_filter_lock (self->filter);
  n = tfx_filter_latency_at (self->filter, 0);
  tfx_filter_unlock (self->filter);
  return PyLong_FromSize_t (n);
}

static PyObject *
get_n_frames (PyObject *object, void *closure)
{
  Chain *self = (Chain *)object;
  uint64_t n;

  tfx_filter_lock (self->filter);
  n = tfx_filter_n_frames (self->filter);
  tfx_filter_unlock (self->filter);
  return PyLong_FromUnsignedLongLong (n);
}

static PyObject *
get_channels (PyObject *object, void *closure)
{
  const Chain *self = (const Chain *)object;

  return Py_BuildValue ("(IIIN)", self->n_in, self->n_out, self->n_room,
      PyBool_FromLong (self->is_alike));
}

static PyObject *
from_value (const TfxValue *v)
{
  switch (v->type) {
    case TFX_VALUE_BOOL:
      return PyBool_FromLong (v->number != 0.0);
    case TFX_VALUE_NUMBER:
      return PyFloat_FromDouble (v->number);
    case TFX_VALUE_WORD:
      return PyUnicode_FromString (v->word);
    case TFX_VALUE_TEXT:
      return PyUnicode_FromString (v->text);
    case TFX_VALUE_LIST: {
      PyObject *list = PyList_New ((Py_ssize_t)v->n_list);

      for (size_t i = 0; list && i < v->n_list; i++)
        PyList_SetItem (list, (Py_ssize_t)i, PyFloat_FromDouble (v->list[i]));
      return list;
    }
    default:
      Py_RETURN_NONE;
  }
}

/* As the property stats of the elements, since the chain was made. */
static PyObject *
get_stats (PyObject *object, void *closure)
{
  Chain *self = (Chain *)object;
  PyObject *dict;
  TfxStats s;

  tfx_filter_lock (self->filter);
  tfx_plan_get_stats (self->plan, &s);
  dict = Py_BuildValue ("{sKsKsKsKsKsKsnsnssss}", "frames", self->n_run,
      "dispatches", s.dispatches, "launches", s.launches, "uploads",
      s.uploads + self->n_copies, "downloads", s.downloads + self->n_copies,
      "recoveries", s.recoveries, "stages", tfx_plan_n_stages (self->plan),
      "sections", tfx_plan_n_sections (self->plan), "device", s.device,
      "kernel", s.kernel);
  tfx_filter_unlock (self->filter);
  return dict;
}

/* [(name, class, {parameter: value})] */
static PyObject *
get_stages (PyObject *object, void *closure)
{
  const TfxExpr *expr = ((Chain *)object)->expr;
  const size_t n = tfx_expr_n_stages (expr);
  PyObject *list = PyList_New ((Py_ssize_t)n);

  for (size_t i = 0; list && i < n; i++) {
    const TfxClass *klass = tfx_expr_stage_class (expr, i);
    PyObject *params = PyDict_New ();

    for (unsigned k = 0; params && k < klass->n_params; k++) {
      PyObject *value = NULL;
      TfxValue v;

      if (tfx_expr_get (expr, i, klass->params[k].name, &v) == 0)
        value = from_value (&v);
      if (value)
        PyDict_SetItemString (params, klass->params[k].name, value);
      Py_XDECREF (value);
    }
    PyList_SetItem (list, (Py_ssize_t)i,
        Py_BuildValue ("(ssN)", tfx_expr_stage_name (expr, i), klass->name,
            params));
  }
  return list;
}

/* ---- the module ------------------------------------------------------------------- */

/* All words, also the aliases, with spaces between. */
static PyObject *
join_words (const TfxWord *words)
{
  PyObject *all = PyUnicode_FromString ("");

  for (; words && words->word; words++) {
    const char *const *alias = words->aliases;

    for (const char *word = words->word; all && word; word = *alias++) {
      PyObject *shorter = all;

      all = PyUnicode_FromFormat ("%U %s", shorter, word);
      Py_DECREF (shorter);
    }
  }
  return all;
}

/* catalogue (): [(name, doc, example, [(parameter, flags, default, unit, minimum,
 * maximum, doc, types, words, whether a tuple of a word and a number is one, columns
 * of a list in rows)], positional values, chains after them, keyword of a chain)] */
static PyObject *
core_catalogue (PyObject *module, PyObject *unused)
{
  const size_t n = tfx_catalogue_n_classes ();
  PyObject *list = PyList_New ((Py_ssize_t)n);

  for (size_t i = 0; list && i < n; i++) {
    const TfxClass *c = tfx_catalogue_class (i);
    PyObject *params = PyList_New (c->n_params);

    for (unsigned k = 0; params && k < c->n_params; k++) {
      const TfxParam *p = &c->params[k];

      PyList_SetItem (params, k,
          Py_BuildValue ("(sINsddsINOn)", p->name, p->flags,
              from_value (&p->initial), p->unit, p->minimum, p->maximum, p->doc,
              p->types, join_words (p->words), p->second ? Py_True : Py_False,
              (Py_ssize_t)p->n_columns));
    }
    PyList_SetItem (list, (Py_ssize_t)i,
        Py_BuildValue ("(sssNIIz)", c->name, c->doc, c->example, params,
            c->n_positional, c->max_chains, c->chain_name));
  }
  return list;
}

static PyMethodDef chain_methods[] = { { "run", chain_run, METH_VARARGS, NULL },
  { "reset", chain_reset, METH_NOARGS, NULL },
  { "set", chain_set, METH_VARARGS, NULL },
  { "curve", chain_curve, METH_VARARGS, NULL },
  { "grid", chain_grid, METH_VARARGS, NULL },
  { "response", chain_response, METH_VARARGS, NULL },
  { "text", chain_text, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL } };

static PyGetSetDef chain_members[] = {
  { "latency", get_latency, NULL, NULL, NULL },
  { "channels", get_channels, NULL, NULL, NULL },
  { "n_frames", get_n_frames, NULL, NULL, NULL },
  { "stats", get_stats, NULL, NULL, NULL },
  { "stages", get_stages, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL }
};

static PyType_Slot chain_slots[] = { { Py_tp_new, chain_new },
  { Py_tp_dealloc, chain_dealloc }, { Py_tp_methods, chain_methods },
  { Py_tp_getset, chain_members }, { 0, NULL } };

static PyType_Spec chain_spec = { "gst_tfx._core.Chain", sizeof (Chain), 0,
  Py_TPFLAGS_DEFAULT, chain_slots };

static PyMethodDef functions[] = {
  { "catalogue", core_catalogue, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL }
};

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, "_core", NULL,
  -1, functions };

PyMODINIT_FUNC PyInit__core (void);

PyMODINIT_FUNC
PyInit__core (void)
{
  PyObject *module = PyModule_Create (&definition);
  PyObject *type = module ? PyType_FromSpec (&chain_spec) : NULL;

  if (type)
    chain_error = PyErr_NewExceptionWithDoc ("gst_tfx.ChainError",
        "A text that is no chain; message, line and column name the fault.",
        PyExc_ValueError, NULL);
  if (!chain_error || PyModule_AddObjectRef (module, "Chain", type) < 0 ||
      PyModule_AddObjectRef (module, "ChainError", chain_error) < 0 ||
      tfx_device_add (module) < 0)
    Py_CLEAR (module);
  Py_XDECREF (type);
  return module;
}
