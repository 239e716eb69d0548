import type { Picture } from "./takePicture";

/** Pixels per pixel of the page: sharp in print and on dense screens. */
const scale = 2;

/** The picture as a PNG file, as the browser draws it. */
export async function picturePng({ svg, width, height }: Picture): Promise<Uint8Array> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(width * scale, height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await canvas.convertToBlob({ type: "image/png" });
    return new Uint8Array(await blob.arrayBuffer());
  } finally {
    URL.revokeObjectURL(url);
  }
}
