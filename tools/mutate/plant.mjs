// Draws mutants and plants them: Stryker's instrumenter writes all drawn mutants into the code,
// each behind a switch that counts its passes. The drawing depends only on the seed, the place and
// the change, so that the same mutants are drawn again.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const INSTRUMENTER = '@stryker-mutator/instrumenter';
const VERSION = '9.6.1';
const ROOMS = [
  'src/core',
  'src/check',
  'src/search/sweep',
  'src/search/corpus',
  'src/linearizability',
];
/** Runs once as a thread starts; no test can repeat it. */
const THREAD = 'src/search/sweep/worker.ts';
const MUTATED = ROOMS.flatMap((room) =>
  readdirSync(room, { recursive: true })
    .filter((name) => /\.ts$/.test(name) && !/\.(test|fixture|d)\.ts$/.test(name))
    .map((name) => `${room}/${name}`),
)
  .filter((path) => path !== THREAD)
  .sort();
/** Error texts are tested where they matter; a different text is not a mistake. */
const OPTIONS = {
  plugins: null,
  excludedMutations: ['StringLiteral'],
  ignorers: [],
  noHeader: true,
};
/** Functions of runner.mjs that take numbers instead of texts, since hot code calls them often. */
const HEADER =
  'const { passes: stryCov_9fa48, isOn: stryMutAct_9fa48 } = globalThis.fencepostMutants;';

/** Returns the drawn mutants in order of their lots, the files with one, and the number of all. */
export async function plant({ share, seed, only }) {
  const instrument = await openInstrumenter();
  const files = MUTATED.filter((name) => name.startsWith(only)).map((name) => ({
    name,
    content: readFileSync(name, 'utf8'),
  }));
  const lotOf = (mutant) => hashOf(JSON.stringify([seed, ...identity(mutant)])) / 2 ** 32;
  const all = await instrument(files.map((file) => ({ ...file, mutate: true })));
  const drawn = all.mutants.filter((mutant) => lotOf(mutant) < share);
  // Switches cost time, so those of other mutants are left out.
  const planted = await instrument(
    files
      .map((file) => ({ ...file, mutate: placesIn(file.name, drawn) }))
      .filter(({ mutate }) => mutate.length > 0),
  );
  const chosen = new Set(drawn.map((mutant) => JSON.stringify(identity(mutant))));
  const mutants = planted.mutants
    .filter((mutant) => chosen.has(JSON.stringify(identity(mutant))))
    .sort((a, b) => lotOf(a) - lotOf(b))
    .map((mutant) => ({ ...mutant, id: Number(mutant.id) }));
  return { mutants, files: planted.files.map(withHeader), total: all.mutants.length };
}

/** Stryker is not a dependency of the project: it is installed on first use. */
async function openInstrumenter() {
  const home = resolve('reports/stryker');
  if (!existsSync(`${home}/node_modules/${INSTRUMENTER}`)) {
    const install = ['install', '--prefix', home, '--no-save', '--no-package-lock'];
    const { status } = spawnSync('npm', [...install, `${INSTRUMENTER}@${VERSION}`], {
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error(`npm ends with ${status}`);
  }
  const entry = createRequire(`${home}/package.json`).resolve(INSTRUMENTER);
  const { Instrumenter } = await import(pathToFileURL(entry).href);
  const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };
  return async (files) => {
    const { mutants, files: made } = await new Instrumenter(silent).instrument(files, OPTIONS);
    return { mutants: mutants.filter(({ status }) => status !== 'Ignored'), files: made };
  };
}

function withHeader({ name, content }) {
  const numbered = content.replace(/stry(?:Cov|MutAct)_9fa48\([^)]*\)/g, (call) =>
    call.replaceAll('"', ''),
  );
  return { name, content: `${HEADER}${numbered}` };
}

function placesIn(file, mutants) {
  return mutants.filter(({ fileName }) => fileName === file).map(({ location }) => location);
}

function identity({ fileName, location: { start, end }, mutatorName, replacement }) {
  const place = [start.line, start.column, end.line, end.column];
  return [fileName, ...place, mutatorName, replacement];
}

/** FNV-1a with the finalizer of murmur3. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
