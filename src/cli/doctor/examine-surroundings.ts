/** Gathers what the checks judge: reads this machine, this package and the folder at hand. */
import { arch, availableParallelism, platform, tmpdir, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Check, problem } from './check.ts';
import { checkSql, checkThreads } from './check-engines.ts';
import { checkFolder } from './check-folder.ts';
import { type ClockFacts, checkClock, checkMemory, checkNode } from './check-machine.ts';
import { checkPackage } from './check-package.ts';
import { checkPeers } from './check-peers.ts';
import { checkTerminal } from './check-terminal.ts';
import { readManifest } from './manifest.ts';

export interface Surroundings {
  /** Where the person works. */
  readonly folder: string;
  readonly hasColour: boolean;
  readonly width: number;
  /** The schemas of `dist`, as this code makes them. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** The folder of this package: above `src`, or above `dist`. */
export function packageRoot(): string {
  return fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '');
}

/** What `openPool` gives to each worker. */
const WORKER_MB = 512;

/** Every check but the canary, in the order in which they are told. */
export async function examineSurroundings(given: Surroundings): Promise<readonly Check[]> {
  const { folder, hasColour, width, schemas } = given;
  const root = packageRoot();
  const manifest = readManifest(root);
  if (manifest === null) {
    return [problem('package', `${root} has no package.json`, 'install fencepost again')];
  }
  const before = { wallMs: Date.now(), monotonicMs: performance.now() };
  const threads = await checkThreads(WORKER_MB);
  const sql = await checkSql();
  const work = checkFolder('folder', folder, 'or name one with --output');
  const temporary = checkFolder('temporary', tmpdir(), 'and name it in TMPDIR');
  const isTerminal = process.stdout.isTTY === true;
  return [
    checkNode(process.versions.node, manifest.engines['node'] ?? '*', `${platform()} ${arch()}`),
    ...checkPackage({ root, manifest, schemas }, folder),
    ...checkPeers(manifest.peerDependencies, folder),
    checkTerminal({ isTerminal, hasColour, width, env: process.env }),
    threads,
    sql,
    checkMemory({ cores: availableParallelism(), memoryMb: memoryMb(), workerMb: WORKER_MB }),
    work.check,
    temporary.check,
    checkClock(clocksSince(before, work.fileMs)),
  ];
}

/** Of the container, where there is one that has less than the machine. */
function memoryMb(): number {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return (limit > 0 && limit < total ? limit : total) / 2 ** 20;
}

function clocksSince(
  { wallMs, monotonicMs }: { readonly wallMs: number; readonly monotonicMs: number },
  fileMs: number | null,
): ClockFacts {
  return {
    wallMs: [wallMs, Date.now()],
    monotonicMs: [monotonicMs, performance.now()],
    fileMs,
  };
}
