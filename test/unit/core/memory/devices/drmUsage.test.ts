import { describe, expect, it } from "vitest";
import { byDevice, parseDrmUsage } from "../../../../../src/core/memory/devices/drmUsage";

const KiB = 2 ** 10;
const MiB = 2 ** 20;

/** The example of Documentation/gpu/xe/xe-drm-usage-stats.rst. */
const xe = `pos:    0
flags:  0100002
mnt_id: 26
ino:    685
drm-driver:     xe
drm-client-id:  3
drm-pdev:       0000:03:00.0
drm-total-system:       0
drm-shared-system:      0
drm-active-system:      0
drm-resident-system:    0
drm-purgeable-system:   0
drm-total-gtt:  192 KiB
drm-shared-gtt: 0
drm-active-gtt: 0
drm-resident-gtt:       192 KiB
drm-total-vram0:        23992 KiB
drm-shared-vram0:       16 MiB
drm-active-vram0:       0
drm-resident-vram0:     23992 KiB
drm-total-stolen:       0
drm-resident-stolen:    0
drm-cycles-rcs: 28257900
drm-total-cycles-rcs:   7655183225
drm-engine-capacity-vcs:        2
`;

/** The example of proc_pid_fdinfo(5). */
const i915 = `pos: 0
drm-driver: i915
drm-client-id: 39
drm-pdev: 0000:00:02.0
drm-total-system0: 6044 KiB
drm-shared-system0: 0
drm-resident-system0: 6044 KiB
drm-purgeable-system0: 1688 KiB
drm-total-stolen-system0: 0
drm-engine-render: 346249 ns
`;

describe("memory of a graphics client", () => {
  it.each([
    [
      "xe",
      xe,
      { driver: "xe", device: "0000:03:00.0", id: "3", deviceBytes: 23_992 * KiB, hostBytes: 192 * KiB },
    ],
    ["i915 on an integrated GPU", i915, { deviceBytes: 0, hostBytes: 6044 * KiB }],
    [
      "i915 on a card",
      "drm-driver: i915\ndrm-client-id: 1\ndrm-resident-local0: 512 MiB\ndrm-resident-stolen-local0: 8 MiB\n",
      { device: "", deviceBytes: 520 * MiB, hostBytes: 0 },
    ],
    [
      "amdgpu of an older kernel",
      "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-memory-vram:\t1024 KiB\ndrm-memory-gtt: \t2048 KiB\ndrm-memory-cpu: \t0 KiB\n",
      { deviceBytes: MiB, hostBytes: 2 * MiB },
    ],
    [
      "amdgpu of a newer one, which says it twice",
      "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-memory-vram:\t1024 KiB\ndrm-total-vram:\t4096 KiB\ndrm-resident-vram:\t1024 KiB\n",
      { deviceBytes: MiB, hostBytes: 0 },
    ],
    [
      "a driver that tells totals only",
      "drm-driver: msm\ndrm-client-id: 2\ndrm-total-memory: 3 MiB\n",
      { deviceBytes: 0, hostBytes: 3 * MiB },
    ],
  ])("%s", (_, text, expected) => expect(parseDrmUsage(text)).toMatchObject(expected));

  it.each(["", "pos:\t0\nflags:\t02\n", "drm-driver: xe\n", "\0\0"])("is none in another file: %j", (text) =>
    expect(parseDrmUsage(text)).toBeUndefined(),
  );

  it("is counted once for each client of a device", () => {
    const one = parseDrmUsage(xe);
    const two = parseDrmUsage(xe.replace("client-id:  3", "client-id:  4"));
    if (one === undefined || two === undefined) throw new Error("two clients");
    expect(byDevice([one, one, two]).get("0000:03:00.0")?.deviceBytes).toBe(2 * 23_992 * KiB);
  });
});
