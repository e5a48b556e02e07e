/** Reads the script that the page carries; the build makes it from `src/page`. */
import { existsSync, readFileSync } from 'node:fs';

const SCRIPT = new URL('./page/script.js', import.meta.url);

/** Null where nothing was built, as in the sources: the page then says all, and stands still. */
export function readPageScript(): string | null {
  return existsSync(SCRIPT) ? readFileSync(SCRIPT, 'utf8') : null;
}
