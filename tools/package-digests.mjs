// Runs each system of fixtures/packages on so many seeds, all modules loaded anew for each, and
// prints a line for each with one digest of all its traces: the same on every Node. After a build:
// `FENCEPOST_SEEDS=1000 node tools/package-digests.mjs [package…]`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, expand, loadScenarioFile, runAsync } from 'fencepost';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'fixtures/packages');
const seeds = Number(process.env.FENCEPOST_SEEDS ?? 4);
const scratch = mkdtempSync(join(tmpdir(), 'fencepost-digests-'));

/** A copy of a package's folder with what its lock file asks for, kept for the next. */
function installed(name) {
  const lock = readFileSync(join(home, name, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const cache = join(tmpdir(), 'fencepost-packages', `${name}-${hash}`);
  const folder = join(scratch, name);
  const isSource = (path) => !/\/(node_modules|reports)$/.test(path);
  cpSync(join(home, name), folder, { recursive: true, filter: isSource });
  if (!existsSync(join(cache, 'node_modules'))) {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    mkdirSync(cache, { recursive: true });
    cpSync(join(folder, 'node_modules'), join(cache, 'node_modules'), { recursive: true });
    return folder;
  }
  cpSync(join(cache, 'node_modules'), join(folder, 'node_modules'), { recursive: true });
  return folder;
}

async function tellAll(file, about) {
  const read = await loadScenarioFile(file);
  if (read.kind === 'problems') throw new Error(read.problems.map(({ what }) => what).join('; '));
  const { scenario, catalogue } = read;
  for (const { name } of scenario.systems) {
    const digest = createHash('sha256');
    for (let seed = 1; seed <= seeds; seed += 1) {
      digest.update(digestOf(await runAsync(expand(scenario, name, seed), catalogue)));
    }
    process.stdout.write(`${about} ${name}: ${seeds} seeds, ${digest.digest('hex')}\n`);
  }
}

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : readdirSync(home).sort();
try {
  for (const name of names) {
    const folder = installed(name);
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    for (const file of files.sort()) await tellAll(join(folder, file), `${name}/${file}`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
