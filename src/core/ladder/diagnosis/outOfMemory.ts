const outOfMemory =
  /out of memory|cudaMalloc failed|failed to allocate|unable to allocate|ErrorOutOf(Device|Host)Memory|insufficient memory|alloc_buffer failed|bad_alloc|OutOfMemory|oom-kill|Killed process/i;

/** Whether the server's words say that memory ran out (CUDA, HIP, Vulkan, Metal, host, the kernel's killer). */
export const looksLikeOutOfMemory = (lines: readonly string[]): boolean =>
  lines.some((line) => outOfMemory.test(line));
