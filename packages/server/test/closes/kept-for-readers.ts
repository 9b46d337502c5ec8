import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Keeps a file for programs that are no part of this: `PIXGATE_EXPORTS_KEPT` names the directory; without it nothing is kept. */
export async function keptForReaders(name: string, text: string): Promise<void> {
  const directory = process.env.PIXGATE_EXPORTS_KEPT
  if (directory !== undefined) await writeFile(join(directory, name), text)
}
