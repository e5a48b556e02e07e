/** Finds a recorded history, in a file or a Jepsen folder, and reads it, gzipped or not. */
import { createReadStream, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UserError } from './exit.ts';
import { allowed } from './files.ts';

/** Jepsen's names for the history of a run. The first one that exists is read. */
const NAMES = ['history.edn', 'history.edn.gz', 'history.txt', 'history.txt.gz'];
const LATEST = 'latest';
const MOST_LISTED = 10;

/**
 * Returns the history file at `path`. In a folder, looks for a history, then for the run `latest`
 * (a link by Jepsen), then for a single run.
 */
export function findHistory(path: string): string {
  if (path === '-' || !allowed(`${path}:1:1`, () => statSync(path)).isDirectory()) return path;
  const refuse = (problem: string, runs: readonly string[] = []): never => {
    const listed = runs.slice(0, MOST_LISTED).map((run) => `  ${run}`);
    const more = runs.length - listed.length;
    const rest = more > 0 ? [`  … and ${more} more`] : [];
    throw new UserError([`${path}:1:1: this directory contains ${problem}`, ...listed, ...rest]);
  };
  const latest = historyIn(join(path, LATEST));
  const found = historyIn(path) ?? (latest === null ? null : withoutLink(path, latest));
  if (found !== null) return found;
  // `store/<test>` contains runs, `store` contains tests.
  const folders = foldersIn(path);
  const runs = [...folders, ...folders.flatMap(foldersIn)].flatMap((run) => historyIn(run) ?? []);
  const [only = ''] = runs;
  if (runs.length > 1) return refuse(`${runs.length} runs and no "${LATEST}"; name one:`, runs);
  if (runs.length === 1) return only;
  const log = join(path, 'jepsen.log');
  const hint = isFile(log) ? `; ${log} can be checked, but its lines may be out of order` : '';
  return refuse(`no history (${NAMES.join(', ')})${hint}`);
}

/** Returns null if `folder` does not exist or contains no history. */
function historyIn(folder: string): string | null {
  return NAMES.map((name) => join(folder, name)).find(isFile) ?? null;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // The path does not exist, or a link is broken or circular.
    return false;
  }
}

/** Replaces the link `latest` in a path with the folder of the run, named after its start time. */
function withoutLink(folder: string, file: string): string {
  const inside = relative(realpathSync(folder), realpathSync(file));
  return inside.startsWith('..') ? file : join(folder, inside);
}

/** Returns the subfolders without following links, so that none is visited twice. */
function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory());
    return folders.map(({ name }) => join(folder, name)).sort();
  } catch {
    // An unreadable folder has no readable run.
    return [];
  }
}

const CHUNK_BYTES = 1 << 18;
/** A file beyond both limits is considered a decompression bomb. */
const MOST_UNPACKED = 1 << 26;
const MOST_RATIO = 100;

/** Yields the bytes of a file; `-` is standard input. Decompresses gzip files. */
export async function* readBytes(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const source =
    file === '-'
      ? addAbortSignal(signal, process.stdin)
      : createReadStream(file, { highWaterMark: CHUNK_BYTES, signal });
  const chunks = bytesOf(source);
  let head: Uint8Array = Buffer.alloc(0);
  // A pipe may deliver only one byte at a time.
  while (head.length < 2) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  let size = head.length;
  const all = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
    for await (const chunk of chunks) {
      size += chunk.length;
      yield chunk;
    }
  };
  if (head[0] === 0x1f && head[1] === 0x8b) yield* unpack(file, all(), () => size);
  else yield* all();
}

async function* bytesOf(source: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) if (chunk instanceof Uint8Array) yield chunk;
}

/** Decompresses; `size` returns the number of compressed bytes read so far. */
async function* unpack(
  file: string,
  packed: AsyncGenerator<Uint8Array>,
  size: () => number,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // An error ends the loop below, which throws it.
  pipeline(Readable.from(packed), gunzip, () => {});
  let unpacked = 0;
  try {
    for await (const chunk of bytesOf(gunzip)) {
      unpacked += chunk.length;
      if (unpacked > Math.max(MOST_UNPACKED, MOST_RATIO * size())) {
        const problem = `it unpacks to more than ${MOST_RATIO} times its size; gunzip it first`;
        throw new UserError([`${file}:1:1: ${problem}`]);
      }
      yield chunk;
    }
  } catch (error) {
    const isOfZip = error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
    if (!isOfZip) throw error;
    const isTruncated = error.message === 'unexpected end of file';
    const cause = isTruncated ? 'it is truncated' : error.message;
    throw new UserError([`${file}:1:1: this gzip file is broken: ${cause}`]);
  }
}
