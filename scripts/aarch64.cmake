# Cross build for 64-bit ARM against Debian's libraries in DG_SYSROOT (scripts/test-arm makes one);
# tests run under qemu's user emulation.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DG_SYSROOT)

set(CMAKE_SYSROOT ${DG_SYSROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${DG_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${DG_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${DG_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${DG_SYSROOT}/usr/lib/aarch64-linux-gnu/openblas-pthread/pkgconfig:${DG_SYSROOT}/usr/share/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${DG_SYSROOT})
