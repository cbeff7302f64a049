/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tile_tmpl.c: samples that lie apart, each channel in a plane of its own; part
 * of kernels-vec.c.
 *
 * Full vectors of channels take a tile of W rows, which is turned while the
 * sections still work on the one before.  Fewer channels are read and written
 * sample by sample: a wave leaves time for that. */

static inline ptrdiff_t
sample_bytes (const TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);
}

static inline __attribute__ ((always_inline)) double
sample_at (const char *p, const TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? *(const float *)p : *(const double *)p;
}

static inline __attribute__ ((always_inline)) void
set_sample_at (char *p, double v, const TfxSample type)
{
  if (type == TFX_SAMPLE_F32)
    *(float *)p = (float)v;
  else
    *(double *)p = v;
}

/* W frames of up to W planes, zero for those that are missing; and back. */
static inline __attribute__ ((always_inline)) void
turn_f32_to_rows (double *tile, const char *plane, ptrdiff_t apart, unsigned n)
{
  VFloats r[W];

#pragma GCC unroll 8
  for (unsigned c = 0; c < W; c++, plane += apart)
    r[c] = c < n ? *(const VFloats *)plane : (VFloats){ 0 };
  v_transpose_f32 (r);
#pragma GCC unroll 8
  for (unsigned i = 0; i < W; i++)
    v_store (tile + i * W, v_widen (r[i]));
}

static inline __attribute__ ((always_inline)) void
turn_f64_to_rows (double *tile, const char *plane, ptrdiff_t apart, unsigned n)
{
  V r[W];

#pragma GCC unroll 8
  for (unsigned c = 0; c < W; c++, plane += apart)
    r[c] = c < n ? v_load_f64 ((const double *)plane) : v_set1 (0.0);
  v_transpose (r);
#pragma GCC unroll 8
  for (unsigned i = 0; i < W; i++)
    v_store (tile + i * W, r[i]);
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f32 (char *plane, ptrdiff_t apart, unsigned n,
    const double *tile)
{
  VFloats r[W];

#pragma GCC unroll 8
  for (unsigned i = 0; i < W; i++)
    r[i] = v_narrow (v_load (tile + i * W));
  v_transpose_f32 (r);
#pragma GCC unroll 8
  for (unsigned c = 0; c < W && c < n; c++, plane += apart)
    *(VFloats *)plane = r[c];
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f64 (char *plane, ptrdiff_t apart, unsigned n,
    const double *tile)
{
  V r[W];

#pragma GCC unroll 8
  for (unsigned i = 0; i < W; i++)
    r[i] = v_load (tile + i * W);
  v_transpose (r);
#pragma GCC unroll 8
  for (unsigned c = 0; c < W && c < n; c++, plane += apart)
    v_store_f64 ((double *)plane, r[c]);
}

/* W frames from where they lie apart, if they do, and back. */
static inline __attribute__ ((always_inline)) void
load_tile (double *tile, const char *in, ptrdiff_t apart, unsigned n,
    TfxSample type)
{
  if (apart && type == TFX_SAMPLE_F32)
    turn_f32_to_rows (tile, in, apart, n);
  else if (apart)
    turn_f64_to_rows (tile, in, apart, n);
}

static inline __attribute__ ((always_inline)) void
store_tile (char *out, ptrdiff_t apart, unsigned n, TfxSample type,
    const double *tile)
{
  if (apart && type == TFX_SAMPLE_F32)
    turn_to_planes_f32 (out, apart, n, tile);
  else if (apart)
    turn_to_planes_f64 (out, apart, n, tile);
}

/* n frames, fewer than W. */
static __attribute__ ((noinline)) void
load_some (double *tile, const char *in, const TfxRows *rows, size_t n)
{
  const ptrdiff_t size = sample_bytes (rows->type);

  for (unsigned c = 0; c < rows->n; c++, in += rows->apart * size) {
    for (size_t i = 0; i < n; i++)
      tile[i * W + c] = sample_at (in + (ptrdiff_t)i * size, rows->type);
  }
}

static __attribute__ ((noinline)) void
store_some (char *out, const TfxRows *rows, const double *tile, size_t n)
{
  const ptrdiff_t size = sample_bytes (rows->type);

  for (unsigned c = 0; c < rows->n; c++, out += rows->apart * size) {
    for (size_t i = 0; i < n; i++)
      set_sample_at (out + (ptrdiff_t)i * size, tile[i * W + c], rows->type);
  }
}

/* As v_load_row_f32() and v_store_row_f32() do, for 1 < C < W. */
static inline __attribute__ ((always_inline)) V
load_apart (const char *p, ptrdiff_t apart, const TfxSample type,
    const unsigned C, const unsigned n)
{
#if W == 4
  const double a = sample_at (p, type), b = sample_at (p + apart, type);

  return (V){ a, b, a, b };
#elif W == 8
  const double a = sample_at (p, type), b = sample_at (p + apart, type);
  const double c = n > 2 ? sample_at (p + 2 * apart, type) : 0.0;
  const double d = n > 3 ? sample_at (p + 3 * apart, type) : 0.0;

  return C == 2 ? (V){ a, b, a, b, a, b, a, b } : (V){ a, b, c, d, a, b, c, d };
#else
  return v_set1 (0.0);
#endif
}

static inline __attribute__ ((always_inline)) void
store_apart (char *p, ptrdiff_t apart, V a, const TfxSample type,
    const unsigned C, const unsigned n)
{
#pragma GCC unroll 4
  for (unsigned c = 0; c < C; c++, p += apart) {
    if (c < n)
      set_sample_at (p, a[W - C + c], type);
  }
}
