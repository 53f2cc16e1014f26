/* A CUDA driver that runs nothing: enough of its interface to test what the crate does on the host. Device memory is
   host memory; `stray` is the kernel that faults. FAKE_VERSION and FAKE_INIT set what the driver says of itself. */
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ptr;
static int sticky = 0, capturing = 0, allocations = 0;
static void *current = 0;
static int context_object, stream_objects[64], streams = 0;
static int number(const char *name, int otherwise) { const char *t = getenv(name); return t ? atoi(t) : otherwise; }

int cuDriverGetVersion(int *v) { *v = number("FAKE_VERSION", 13000); return 0; }
int cuInit(unsigned f) { return number("FAKE_INIT", 0); }
int cuGetErrorString(int c, const char **t) { *t = c == 700 ? "an illegal memory access" : "some error"; return 0; }
int cuGetErrorName(int c, const char **t) { *t = "CUDA_ERROR"; return 0; }
int cuDeviceGetCount(int *n) { *n = number("FAKE_DEVICES", 1); return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strncpy(s, "Fake", n); return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { *n = 1 << 30; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) {
    switch (a) {
    case 1: *v = 1024; break;       case 2: case 3: *v = 1024; break;
    case 5: *v = 2147483647; break; case 6: case 7: *v = 65535; break;
    case 8: *v = 49152; break;      case 10: *v = 32; break;
    case 12: case 82: *v = 65536; break;
    case 39: *v = 2048; break;      case 75: *v = 9; break;
    case 76: *v = 0; break;         case 97: *v = 232448; break;
    case 81: *v = 233472; break;    default: *v = 100;
    }
    return 0;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = &context_object; return sticky; }
int cuDevicePrimaryCtxRelease_v2(int d) { return sticky; }
int cuCtxGetCurrent(void **c) { *c = current; return 0; }
int cuCtxSetCurrent(void *c) { current = c; return sticky; }
int cuCtxSynchronize(void) { return sticky; }
int cuStreamCreate(void **s, unsigned f) { *s = &stream_objects[streams++ % 64]; return sticky; }
int cuStreamDestroy_v2(void *s) { return sticky; }
int cuStreamSynchronize(void *s) { return sticky ? sticky : capturing ? 900 : 0; }
int cuStreamWaitEvent(void *s, void *e, unsigned f) { return sticky; }
int cuStreamBeginCapture_v2(void *s, int m) { capturing = 1; return sticky; }
int cuStreamEndCapture(void *s, void **g) { if (!capturing) return 901; capturing = 0; *g = malloc(1); return sticky; }
int cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long f) { *e = malloc(1); return sticky; }
int cuGraphLaunch(void *e, void *s) { if (number("FAKE_GRAPH_FAULTS", 0)) sticky = 700; return 0; }
int cuGraphExecDestroy(void *e) { free(e); return sticky; }
int cuGraphDestroy(void *g) { free(g); return sticky; }
int cuEventCreate(void **e, unsigned f) { *e = malloc(1); return sticky; }
int cuEventDestroy_v2(void *e) { free(e); return sticky; }
int cuEventRecord(void *e, void *s) { return sticky; }
int cuEventSynchronize(void *e) { return sticky; }
int cuEventQuery(void *e) { return sticky ? sticky : 600; }
int cuEventElapsedTime(float *t, void *a, void *b) { *t = 1.5f; return sticky; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { *f = 1 << 29; *t = 1 << 30; return sticky; }
int cuMemAlloc_v2(ptr *p, size_t n) {
    if (sticky) return sticky;
    if (n > 1 << 29) return 2;
    ++allocations;
    *p = (ptr)malloc(n);
    return 0;
}
int cuMemFree_v2(ptr p) { --allocations; free((void *)p); return sticky; }
int cuMemHostAlloc(void **p, size_t n, unsigned f) { *p = aligned_alloc(4096, (n + 4095) / 4096 * 4096); return sticky; }
int cuMemFreeHost(void *p) { free(p); return sticky; }
int cuMemsetD8Async(ptr p, unsigned char v, size_t n, void *s) { memset((void *)p, v, n); return sticky; }
int cuMemcpyHtoDAsync_v2(ptr d, const void *s, size_t n, void *st) { memcpy((void *)d, s, n); return sticky; }
int cuMemcpyDtoHAsync_v2(void *d, ptr s, size_t n, void *st) { memcpy(d, (void *)s, n); return sticky; }
int cuMemcpyDtoDAsync_v2(ptr d, ptr s, size_t n, void *st) { memmove((void *)d, (void *)s, n); return sticky; }
int cuModuleLoadData(void **m, const void *image) { *m = malloc(1); return memcmp(image, "new", 3) ? sticky : 209; }
int cuModuleUnload(void *m) { free(m); return sticky; }
int cuModuleGetFunction(void **f, void *m, const char *name) {
    static const char *known[] = {"store", "stray", "other"};
    for (int i = 0; i < 3; ++i) if (!strcmp(name, known[i])) { *f = (void *)known[i]; return sticky; }
    return 500;
}
int cuFuncGetAttribute(int *v, int a, void *f) {
    static const int values[] = {512, 1024, 0, 0, 40, 90, 90, 0, 48128};
    *v = a < 9 ? values[a] : 0;
    return sticky;
}
int cuFuncSetAttribute(void *f, int a, int v) { return v > 231424 ? 1 : sticky; }
/* store(double* out, double value, int repeat) */
int cuFuncGetParamInfo(void *f, size_t i, size_t *o, size_t *n) { *n = i == 2 ? 4 : 8; *o = 8 * i; return i > 2; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int b, size_t s) { *n = 2048 / b; return sticky; }
int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *s, void **params, void **extra) {
    if (sticky) return sticky;
    if (!strcmp(f, "stray")) { sticky = capturing ? 0 : 700; return 0; }
    if (!strcmp(f, "store") && !capturing)
        for (int i = 0; i < *(int *)params[2]; ++i) (*(double **)params[0])[i] = *(double *)params[1];
    return 0;
}
