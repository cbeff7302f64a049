/* SPDX-License-Identifier: LGPL-2.1-or-later
 * image.cc: the stand-in's kernels, taken from PTX; see ../standin/kernels.h.
 *
 * Settings, beside those of ../standin/standin.h, read at every launch:
 *
 *   TFX_STANDIN_PTX         a folder of NAME-ARCH.ptx; the kernels of an image
 *                           that is no PTX are looked up there, in the files of
 *                           the newest ARCH that the device runs.  Without it
 *                           such an image is refused: it has no code for us
 *   TFX_STANDIN_RACES       1: look for accesses that nothing orders
 *   TFX_STANDIN_DIVERGENCE  1: groups of lanes in random order; 2: also apart
 *                           where they could run together
 *   TFX_STANDIN_WEAK        1: stores arrive late and caches are stale, until
 *                           a fence
 *   TFX_STANDIN_COUNTS      a file: a line of counts for each launch */
#include <algorithm>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <sstream>

#include "ptx.h"

#include "kernels.h"
extern "C" {
#include "standin.h"
}

struct PtxKernel : StandinKernel
{
  std::unique_ptr<ptx::Kernel> code;
};

typedef std::map<std::string, std::unique_ptr<PtxKernel>> Kernels;

struct StandinImage
{
  bool is_text;
  Kernels kernels; /* of a text; those of others are in the folder */
};

/* Unloaded kernels, which may still run. */
static std::vector<Kernels> unloaded;

static std::string
setting (const char *name)
{
  const char *value = getenv (name);

  return value ? value : "";
}

static Kernels
read_text (const std::string &text, const std::string &origin)
{
  Kernels kernels;

  for (auto &k : ptx::parse (text, origin)) {
    std::unique_ptr<PtxKernel> kernel (new PtxKernel ());

    kernel->code = std::move (k.second);
    kernel->name = kernel->code->name.c_str ();
    kernel->args_size = kernel->code->param_size;
    kernel->max_threads = kernel->code->max_threads;
    kernels[k.first] = std::move (kernel);
  }
  return kernels;
}

/* ---- the folder ---------------------------------------------------------------- */

struct File
{
  int arch;
  std::string path;
  bool is_read;
  Kernels kernels;
};

static std::vector<File>
list_files (const std::string &path)
{
  std::vector<File> files;
  DIR *folder = path.empty () ? NULL : opendir (path.c_str ());

  for (dirent *e; folder && (e = readdir (folder));) {
    std::string name = e->d_name;
    size_t dash = name.rfind ('-'), end = name.rfind (".ptx");

    if (dash != std::string::npos && end != std::string::npos && end > dash)
      files.push_back ({ atoi (name.c_str () + dash + 1), path + "/" + name,
          false, Kernels () });
  }
  if (folder)
    closedir (folder);
  std::sort (files.begin (), files.end (), [] (const File &a, const File &b) {
    return a.arch != b.arch ? a.arch > b.arch : a.path < b.path;
  });
  return files;
}

static const StandinKernel *
find_in_folder (const std::string &name)
{
  static std::vector<File> files = list_files (setting ("TFX_STANDIN_PTX"));
  int compute = standin_card ()->compute;

  for (File &file : files) {
    if (file.arch > compute)
      continue;
    if (!file.is_read) {
      std::stringstream text;

      text << std::ifstream (file.path).rdbuf ();
      file.kernels =
          read_text (text.str (), file.path.substr (file.path.rfind ('/') + 1));
      file.is_read = true;
    }
    auto found = file.kernels.find (name);
    if (found != file.kernels.end ())
      return found->second.get ();
  }
  return NULL;
}

/* ---- images -------------------------------------------------------------------- */

CUresult
standin_image_new (const void *data, StandinImage **image)
{
  const char *text = (const char *)data;
  bool is_text = (text[0] == '/' || text[0] == '.') && strstr (text, ".entry");
  std::unique_ptr<StandinImage> made (new StandinImage{ is_text, Kernels () });

  if (!is_text && setting ("TFX_STANDIN_PTX").empty ())
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  try {
    if (is_text)
      made->kernels = read_text (text, "a module");
  } catch (const std::runtime_error &e) {
    return standin_fault (CUDA_ERROR_INVALID_PTX, "%s", e.what ());
  }
  *image = made.release ();
  return CUDA_SUCCESS;
}

void
standin_image_free (StandinImage *image)
{
  unloaded.push_back (std::move (image->kernels));
  delete image;
}

const StandinKernel *
standin_image_find (StandinImage *image, const char *name)
{
  try {
    if (!image->is_text)
      return find_in_folder (name);
  } catch (const std::runtime_error &e) {
    standin_fault (CUDA_ERROR_INVALID_PTX, "%s", e.what ());
    return NULL;
  }
  auto found = image->kernels.find (name);
  return found == image->kernels.end () ? NULL : found->second.get ();
}

/* ---- running -------------------------------------------------------------------- */

static bool
find_range (uint64_t at, ptx::Range *range)
{
  return standin_memory_range (at, &range->low, &range->high);
}

static void
write_counts (const std::string &path, const ptx::Launch &launch,
    const ptx::Totals &totals)
{
  std::ofstream out (path, std::ios::app);

  out << "kernel " << launch.kernel->name << " grid " << launch.grid
      << " block " << launch.block << " shared " << launch.shared;
  for (int i = 0; i < ptx::N_KINDS; i++)
    out << " " << ptx::kind_names[i] << " " << totals.warp[i] << "/"
        << totals.thread[i];
  out << " mma " << totals.mma_issued << "/" << totals.mma_multiplies;
  out << " sectors-read " << totals.sectors_read << " sectors-written "
      << totals.sectors_written << " sectors-touched " << totals.sectors_touched
      << " shared-passes " << totals.shared_passes << " shared-ideal "
      << totals.shared_ideal << "\n";
}

const char *
standin_kernel_run (const StandinGrid *grid)
{
  static uint64_t n_launches;
  static std::string failure;
  std::string counts = setting ("TFX_STANDIN_COUNTS");
  ptx::Totals totals;
  ptx::Launch launch = {};
  ptx::Options &o = launch.options;

  launch.kernel = static_cast<const PtxKernel *> (grid->kernel)->code.get ();
  launch.args = grid->args;
  launch.grid = grid->grid_dim;
  launch.block = grid->block_dim;
  launch.shared = grid->shared_size;
  launch.find = find_range;
  o.n_resident = grid->n_resident;
  o.order = grid->order == STANDIN_REVERSE  ? ptx::Order::reverse
            : grid->order == STANDIN_RANDOM ? ptx::Order::random
                                            : ptx::Order::forward;
  o.seed = grid->seed * 1000003 + n_launches++;
  o.divergence = (int)standin_setting ("TFX_STANDIN_DIVERGENCE", 0);
  o.races = standin_setting ("TFX_STANDIN_RACES", 0) != 0;
  o.weak = standin_setting ("TFX_STANDIN_WEAK", 0) != 0;
  o.counts = !counts.empty ();
  failure = ptx::run (launch, &totals);
  if (o.counts)
    write_counts (counts, launch, totals);
  return failure.empty () ? NULL : failure.c_str ();
}
