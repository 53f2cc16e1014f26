/* A HIP run-time that runs nothing: enough of its interface to test what the crate does on the host. Device memory is
   host memory. FAKE_VERSION, FAKE_DEVICES, FAKE_ARCH and FAKE_FAULT set what it says of itself and of launches. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sticky = 0, allocations = 0;
static int number(const char *name, int otherwise) { const char *t = getenv(name); return t ? atoi(t) : otherwise; }

int hipRuntimeGetVersion(int *v) { *v = number("FAKE_VERSION", 60200000); return 0; }
const char *hipGetErrorString(int c) { return c == 700 ? "an illegal memory access" : "some error"; }
int hipGetDeviceCount(int *n) { *n = number("FAKE_DEVICES", 1); return *n ? 0 : 100; }
int hipSetDevice(int d) { return 0; }
int hipDeviceGetName(char *s, int n, int d) { strncpy(s, "Fake", n); return 0; }
int hipDeviceGetAttribute(int *v, int a, int d) {
    switch (a) {
    case 29: *v = 2147483647; break; case 56: *v = 1024; break;
    case 63: *v = 104; break;        case 74: *v = 65536; break;
    case 87: *v = 64; break;         default: return 1;
    }
    return 0;
}
/* The architecture stands somewhere in a structure that differs from version to version. */
int hipGetDevicePropertiesR0600(void *p, int d) {
    const char *arch = getenv("FAKE_ARCH");
    memset(p, 0, 1024);
    strcpy((char *)p + 900, arch ? arch : "gfx90a:sramecc+:xnack-");
    return 0;
}
int hipMemGetInfo(size_t *f, size_t *t) { *f = 1 << 29; *t = 1 << 30; return 0; }
int hipMalloc(void **p, size_t n) {
    if (sticky) return sticky;
    if (n > 1 << 29) return 2;
    ++allocations;
    *p = malloc(n);
    return 0;
}
int hipFree(void *p) { --allocations; free(p); return sticky; }
int hipMemcpyHtoDAsync(void *d, const void *s, size_t n, void *st) { memcpy(d, s, n); return sticky; }
int hipMemcpyDtoHAsync(void *d, void *s, size_t n, void *st) { memcpy(d, s, n); return sticky; }
int hipMemsetAsync(void *p, int v, size_t n, void *st) { memset(p, v, n); return sticky; }
int hipStreamCreateWithFlags(void **s, unsigned f) { *s = malloc(1); return sticky; }
int hipStreamDestroy(void *s) {
    free(s);
    if (allocations) fprintf(stderr, "%d blocks of memory outlive the stream\n", allocations);
    return sticky;
}
int hipStreamSynchronize(void *s) { return sticky; }
int hipEventCreate(void **e) { *e = malloc(1); return sticky; }
int hipEventDestroy(void *e) { free(e); return sticky; }
int hipEventRecord(void *e, void *s) { return sticky; }
int hipEventElapsedTime(float *t, void *a, void *b) { *t = 1.5f; return sticky; }
int hipModuleLoadData(void **m, const void *image) { *m = malloc(1); return memcmp(image, "\177ELF", 4) ? 200 : sticky; }
int hipModuleUnload(void *m) { free(m); return sticky; }
int hipModuleGetFunction(void **f, void *m, const char *name) { *f = m; return *name ? sticky : 500; }
/* Says what was asked for, in place of running it. */
int hipModuleLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned lds,
                          void *s, void **params, void **extra) {
    if (sticky) return sticky;
    printf("launch: %u x %u x %u teams of %u x %u x %u work items, %u bytes\n", x, y, z, bx, by, bz, lds);
    fflush(stdout);
    if (number("FAKE_FAULT", 0)) sticky = 700;
    return 0;
}
