// Runs each system of fixtures/packages on a number of seeds, reloading all modules for each, and
// prints a line per system with one digest of all its traces: the same on every Node. Run
// `FENCEPOST_SEEDS=1000 node tools/package-digests.mjs [package…]` after a build.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expand, loadScenario, replay } from 'fencepost';
import { installPackage } from './install-package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'fixtures/packages');
const seeds = Number(process.env.FENCEPOST_SEEDS ?? 4);
const scratch = mkdtempSync(join(tmpdir(), 'fencepost-digests-'));

async function tellAll(file, about) {
  const scenario = await loadScenario(file);
  for (const name of scenario.systems) {
    const digest = createHash('sha256');
    for (let seed = 1; seed <= seeds; seed += 1) {
      digest.update((await replay(await expand(scenario, name, seed))).digest);
    }
    process.stdout.write(`${about} ${name}: ${seeds} seeds, ${digest.digest('hex')}\n`);
  }
}

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : readdirSync(home).sort();
try {
  for (const name of names) {
    const folder = join(scratch, name);
    const error = installPackage(join(home, name), folder);
    if (error !== null) throw new Error(error);
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    for (const file of files.sort()) await tellAll(join(folder, file), `${name}/${file}`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
