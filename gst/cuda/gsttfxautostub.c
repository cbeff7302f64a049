#include "gsttfxdevice.h"
#include "gsttfxcudaflow.h"
void gst_tfx_device_settle (GstTfxElement *self) { gst_tfx_device_move (self); }
gboolean gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query) { return FALSE; }
