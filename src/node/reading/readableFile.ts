import { openRegular } from "./regularFile";

/** Whether there is an ordinary file that can be opened for reading. */
export async function isReadableFile(file: string): Promise<boolean> {
  try {
    const { handle } = await openRegular(file);
    await handle.close();
    return true;
  } catch {
    return false;
  }
}
