/**
 * Checks the environment of fencepost: Node, the machine, the folders, the terminal and this
 * package. `checkEnvironment` collects the facts, and each check judges some of them.
 */
import { existsSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, platform, tmpdir, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { initSync, parse } from 'es-module-lexer';
import { satisfies, valid, validRange } from 'semver';
import { z } from 'zod';
import { MissingSqlEngine } from '../../systems/store/sql-table.ts';
import { prepare, storeKinds } from '../../systems/store/store-kinds.ts';
import { packageRoot } from '../shipped.ts';
import { type Check, messageOf, ok, problem, warning } from './check.ts';

interface Environment {
  /** The current folder of the user. */
  readonly folder: string;
  readonly hasColour: boolean;
  readonly width: number;
  /** The expected digests of the schemas in `dist`, by file. */
  readonly digests: Readonly<Record<string, string>>;
}

/** The memory limit that `openPool` sets per worker. */
const WORKER_MB = 512;

/** Runs every check except the canary, in the order in which they are printed. */
export async function checkEnvironment(environment: Environment): Promise<readonly Check[]> {
  const { folder, hasColour, width, digests } = environment;
  const root = packageRoot();
  const manifest = readManifest(root);
  if (manifest === null) {
    return [problem('package', `${root} has no package.json`, 'install fencepost again')];
  }
  const [wallMs, monotonicMs] = [Date.now(), performance.now()];
  const threads = await checkThreads(WORKER_MB);
  const sql = await checkSql();
  const work = checkFolder('folder', folder, 'or name one with --output');
  const temporary = checkFolder('temporary', tmpdir(), 'and name it in TMPDIR');
  const isTerminal = process.stdout.isTTY === true;
  return [
    checkNode(process.versions.node, manifest.engines['node'] ?? '*', `${platform()} ${arch()}`),
    ...checkPackage({ root, manifest, digests }, folder),
    ...checkPeers(manifest.peerDependencies, folder),
    checkTerminal({ isTerminal, hasColour, width, env: process.env }),
    threads,
    sql,
    checkMemory({ cores: availableParallelism(), memoryMb: memoryMb(), workerMb: WORKER_MB }),
    work.check,
    temporary.check,
    checkClock({
      wallMs: [wallMs, Date.now()],
      monotonicMs: [monotonicMs, performance.now()],
      fileMs: work.fileMs,
    }),
  ];
}

/** Returns the memory of the container if it is limited, or else of the machine. */
function memoryMb(): number {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return (limit > 0 && limit < total ? limit : total) / 2 ** 20;
}

/** Checks the `version` of Node against `wanted`, the range in `engines`. */
export function checkNode(version: string, wanted: string, platform: string): Check {
  const is = `Node ${version} on ${platform}`;
  if (isVersionInRange(version, wanted) === true) return ok('node', `${is}, wanted ${wanted}`);
  return problem('node', `${is}; wanted ${wanted}`, 'install a Node of that range: nodejs.org');
}

interface MachineFacts {
  readonly cores: number;
  /** The memory of the machine, or of the container in which this process runs. */
  readonly memoryMb: number;
  /** The memory limit of each worker thread. */
  readonly workerMb: number;
}

/** Checks whether memory suffices for one worker per core, the default of `run`. */
export function checkMemory({ cores, memoryMb, workerMb }: MachineFacts): Check {
  const facts = `${cores} ${cores === 1 ? 'core' : 'cores'}, ${Math.round(memoryMb)} MB of memory`;
  const fitting = Math.floor(memoryMb / workerMb) - 1;
  if (fitting >= cores) return ok('memory', facts);
  const most = `${facts}; one worker per core may use ${workerMb} MB`;
  return warning('memory', most, `use fewer workers: run --workers ${Math.max(fitting, 1)}`);
}

/** Two readings of both clocks, some milliseconds apart. */
interface ClockFacts {
  readonly wallMs: readonly [number, number];
  readonly monotonicMs: readonly [number, number];
  /** The modification time of a file that was just written, or null if none could be written. */
  readonly fileMs: number | null;
}

/** This code is newer, so a correct clock cannot show an earlier time. */
const EARLIEST_MS = Date.UTC(2025, 0);
const LATEST_MS = Date.UTC(2100, 0);
const MOST_APART_MS = 5000;

/** Checks the clocks. No simulation reads them, but time limits and file times depend on them. */
export function checkClock({ wallMs, monotonicMs, fileMs }: ClockFacts): Check {
  const wall = wallMs[1] - wallMs[0];
  const monotonic = monotonicMs[1] - monotonicMs[0];
  const advice = 'set the clock of this machine; check for a replacement (faketime)';
  if (!(monotonic > 0)) return problem('clock', 'the monotonic clock does not advance', advice);
  if (wallMs[1] < EARLIEST_MS || wallMs[1] > LATEST_MS) {
    return warning('clock', `the wall clock shows ${new Date(wallMs[1]).toISOString()}`, advice);
  }
  if (Math.abs(wall - monotonic) > Math.max(monotonic / 2, 50)) {
    const drift = `the wall clock advanced by ${Math.round(wall)} ms in ${Math.round(monotonic)} ms`;
    return warning('clock', drift, advice);
  }
  if (fileMs !== null && Math.abs(fileMs - wallMs[1]) > MOST_APART_MS) {
    const apart = Math.round(Math.abs(fileMs - wallMs[1]) / 1000);
    return warning(
      'clock',
      `the clocks of the file system and this machine differ by ${apart} s`,
      advice,
    );
  }
  return ok('clock', `${new Date(wallMs[1]).toISOString()}, wall and monotonic clock agree`);
}

const PROGRAM = `const { workerData, parentPort } = require('node:worker_threads');
workerData[0] = 7; parentPort.postMessage('written');`;

const START_MS = 30_000;

/** Checks that a worker thread starts and shares memory, as sweeps require. */
export async function checkThreads(
  workerMb: number,
  program: string = PROGRAM,
  limitMs: number = START_MS,
): Promise<Check> {
  const cell = new Float64Array(new SharedArrayBuffer(8));
  const startedMs = performance.now();
  const resourceLimits = { maxOldGenerationSizeMb: workerMb };
  try {
    const worker = new Worker(program, { eval: true, workerData: cell, resourceLimits });
    await firstMessage(worker, limitMs);
    if (cell[0] !== 7) throw new Error('it shares no memory with this thread');
    const tookMs = Math.round(performance.now() - startedMs);
    return ok('threads', `worker threads start, in ${tookMs} ms`);
  } catch (error) {
    const failure = `worker threads do not start: ${messageOf(error)}`;
    return problem('threads', failure, 'run in one thread: --workers 0; look at the memory limits');
  }
}

async function firstMessage(worker: Worker, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const late = new Error(`none started within ${limitMs / 1000} s`);
      timer = setTimeout(() => reject(late), limitMs);
      worker.once('message', () => resolve());
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('it ended without a message')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** Loads SQLite, if it is installed, and starts a store that uses it. */
export async function checkSql(): Promise<Check> {
  const store = 'versioned-sql';
  try {
    await prepare([{ store }]);
    const server = storeKinds.get(store)?.build('store', null);
    server?.close?.();
    return ok('sql', 'SQLite in WebAssembly loads');
  } catch (error) {
    if (error instanceof MissingSqlEngine) return ok('sql', error.message);
    const failure = `SQLite in WebAssembly does not load: ${messageOf(error)}`;
    const fix = 'install node-sqlite3-wasm again; Node must not run with --jitless';
    return warning('sql', `${failure}; only the stores …-sql need it`, fix);
  }
}

interface FolderLook {
  readonly check: Check;
  /** The modification time of the file, or null if none could be written. */
  readonly fileMs: number | null;
}

/** Creates and deletes a small file. `use` describes how to choose another folder. */
export function checkFolder(name: string, folder: string, use: string): FolderLook {
  const file = join(folder, `.fencepost-doctor-${process.pid}.tmp`);
  try {
    writeFileSync(file, 'x', { flag: 'wx' });
    const { mtimeMs, size } = statSync(file);
    rmSync(file);
    if (size !== 1) throw new Error('a written file is missing');
    return { check: ok(name, `${folder} is writable`), fileMs: mtimeMs };
  } catch (error) {
    const failure = `${folder} is not writable: ${messageOf(error)}`;
    return { check: problem(name, failure, `choose a writable folder, ${use}`), fileMs: null };
  }
}

interface TerminalFacts {
  readonly isTerminal: boolean;
  readonly hasColour: boolean;
  readonly width: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const NARROW = 60;

export function checkTerminal({ isTerminal, hasColour, width, env }: TerminalFacts): Check {
  const where = isTerminal ? `a terminal of ${width} columns` : 'no terminal: plain lines';
  const reasons = ['NO_COLOR', 'FORCE_COLOR', 'TERM', 'CI'].flatMap((name) => {
    const value = env[name] ?? '';
    return value === '' ? [] : [`${name}=${value}`];
  });
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const description = `${where}, ${hasColour ? 'with color' : 'without color'}${why}`;
  if (!isTerminal || width >= NARROW) return ok('terminal', description);
  return warning('terminal', description, `make it at least ${NARROW} columns wide, better 100`);
}

const REINSTALL = 'install fencepost again: npm install --save-dev fencepost';

export interface PackageFacts {
  readonly root: string;
  readonly manifest: Manifest;
  /** The expected digests of the schemas in `dist`, by file. */
  readonly digests: Readonly<Record<string, string>>;
}

/** Checks the files, the schemas, and the copy installed in the work folder. */
export function checkPackage(facts: PackageFacts, workFolder: string): readonly Check[] {
  return [checkFiles(facts), checkSchemas(facts), checkCopy(facts, workFolder)];
}

function checkFiles({ root, manifest }: PackageFacts): Check {
  const missing = missingFiles(root, manifest);
  const [first] = missing;
  const name = `fencepost ${manifest.version}`;
  if (first === undefined) return ok('package', `${name} from ${root}, no file missing`);
  const defect = `${name} from ${root}: ${missing.length} files are missing, the first is ${first}`;
  return problem('package', defect, REINSTALL);
}

/** Returns the missing files, out of the files that the manifest names and all their imports. */
export function missingFiles(root: string, manifest: Manifest): readonly string[] {
  const begin = [...textsIn(manifest.exports), ...textsIn(manifest.bin)];
  const waiting = begin.map((path) => join(root, path));
  const met = new Set(waiting);
  const missing: string[] = [];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (!existsSync(file)) missing.push(file.slice(root.length + 1));
    else if (file.endsWith('.js')) {
      for (const imported of importsOf(file)) {
        if (!met.has(imported)) waiting.push(imported);
        met.add(imported);
      }
    }
  }
  return missing.sort();
}

/**
 * Matches a file loaded by URL, such as a thread. Bundles write `new URL('./b.js', new
 * URL('<place>', import.meta.url).href)`; the inner URL is not a file.
 */
const BY_URL =
  /\bnew URL\(\s*["'`](\.[^"'`]+\.js)["'`],\s*(?:import\.meta\.url\)(?!\.href)|new URL\(["'`]([^"'`]+))/g;

function importsOf(file: string): readonly string[] {
  const code = readFileSync(file, 'utf8');
  initSync();
  const [imports] = parse(code, file);
  const imported = imports.map(({ n, s, e }) => n ?? code.slice(s, e).replaceAll('`', ''));
  const here = dirname(file);
  return [
    ...imported.filter((path) => /^\.[^$]*\.js$/.test(path)).map((path) => join(here, path)),
    ...[...code.matchAll(BY_URL)].map(([, path = '', from]) => {
      return join(here, dirname(from ?? '.'), path);
    }),
  ];
}

/** Returns every string in a value, such as all paths in `exports`. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

function checkSchemas({ root, digests }: PackageFacts): Check {
  const names = Object.keys(digests);
  const stale = names.filter((name) => digestIn(join(root, 'dist', name)) !== digests[name]);
  if (stale.length === 0) return ok('schemas', `${names.join(' and ')} match this version`);
  return warning('schemas', `${stale.join(' and ')}: from another version`, REINSTALL);
}

/** Returns the digest of a schema in hexadecimal, independent of white space in its file. */
export function digestOfSchema(schema: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(schema))));
}

function digestIn(file: string): string | null {
  try {
    return digestOfSchema(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

/** Checks that this copy is the one in the work folder, which user modules import. */
function checkCopy({ root, manifest }: PackageFacts, workFolder: string): Check {
  const found = findPackage(manifest.name, workFolder);
  if (found === null) {
    const state = 'fencepost is not installed in this folder; your modules could not import it';
    return warning('copy', state, 'npm install --save-dev fencepost');
  }
  if (realpathSync(found) === realpathSync(root))
    return ok('copy', 'the copy installed in this folder');
  const other = readManifest(found)?.version ?? '';
  const state = `another copy is installed here: ${other} in ${found}`;
  return warning('copy', state, 'run that copy: npx --no-install fencepost doctor');
}

/** Returns one check per peer dependency. `peers` maps names to ranges. */
export function checkPeers(
  peers: Readonly<Record<string, string>>,
  workFolder: string,
): readonly Check[] {
  return Object.entries(peers).map(([name, range]) => {
    const found = findPackage(name, workFolder);
    if (found === null) return ok(name, `${name} is not installed; it is optional`);
    const version = readManifest(found)?.version ?? '';
    const versions = `${name} ${version === '' ? 'without a version' : version}, wanted ${range}`;
    if (isVersionInRange(version, range) === true) return ok(name, versions);
    return warning(name, versions, `npm install --save-dev '${name}@${range}'`);
  });
}

/** The fields that are checked. Missing fields are empty. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly bin: string | Readonly<Record<string, string>>;
  /** Paths, possibly nested under conditions. */
  readonly exports: unknown;
}

const words = z.record(z.string(), z.string());

const manifest: z.ZodType<Manifest> = z.object({
  name: z.string().default(''),
  version: z.string().default(''),
  engines: words.default({}),
  peerDependencies: words.default({}),
  bin: z.union([z.string(), words]).default({}),
  exports: z.unknown().default({}),
});

/** Reads a manifest. Returns null if it is missing or invalid. */
export function readManifest(folder: string): Manifest | null {
  try {
    return manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  } catch {
    return null;
  }
}

function findPackage(name: string, folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (readManifest(at)?.name === name) return at;
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
    if (dirname(at) === at) return null;
  }
}

/** Returns true if `version` is in `range`, or null if unknown syntax leaves the answer open. */
export function isVersionInRange(version: string, range: string): boolean | null {
  if (valid(version) === null) return null;
  const alternatives = range.split('||').map((part) => part.trim());
  const known = alternatives.filter((part) => validRange(part) !== null);
  // A prerelease counts as the version that it precedes.
  if (known.some((part) => satisfies(version, part, { includePrerelease: true }))) return true;
  return known.length < alternatives.length ? null : false;
}
