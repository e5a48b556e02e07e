/** Locates the histories of other projects. Their folder beside this project may be missing. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder: string = fileURLToPath(new URL('../../../shared/data', import.meta.url));

export const areRecordedHere: boolean = existsSync(folder);

export function recordedFile(name: string): string {
  return `${folder}/${name}`;
}
