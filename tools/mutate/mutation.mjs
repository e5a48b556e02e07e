// Do the tests of the core see a mistake? `npm run mutation -- [share] [seed] [path]` draws that
// share of all mutants of the core, the claims, the sweep, the corpus and the checker
// (stryker.config.mjs), or of the files whose path begins so; runs the unit tests and short laws
// that reach each (vitest.config.mjs), and says how many are caught. What no test can catch stands
// in equivalent.json with its reason and is left out. With --notes it judges what an earlier run
// noted.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';

const LEAST = 0.9;
const PACKAGES = ['@stryker-mutator/core@9.6.1', '@stryker-mutator/vitest-runner@9.6.1'];

const args = process.argv.slice(2);
const notes = args[0] === '--notes' ? args[1] : 'reports/mutation.jsonl';
if (args[0] !== '--notes') tryMutants(...args);

const equivalents = JSON.parse(readFileSync('tools/mutate/equivalent.json', 'utf8'));
const all = readFileSync(notes, 'utf8')
  .trim()
  .split('\n')
  .map((line) => describe(JSON.parse(line)));
const judged = all.filter(({ status }) => /Killed|Timeout|Survived|NoCoverage/.test(status));
const caught = judged.filter(({ status }) => /Killed|Timeout/.test(status));
const missed = judged.filter((mutant) => !caught.includes(mutant));
const survived = missed.filter((mutant) => !isEquivalent(mutant));
const score = judge(caught.length, caught.length + survived.length);
console.log(
  `${judged.length} mutants: ${caught.length} caught, ${survived.length} survive, ` +
    `${missed.length - survived.length} equivalent; score ${percent(score.share)}, ` +
    `95 % interval ${percent(score.low)} to ${percent(score.high)}`,
);
for (const { file, line, original, replacement } of survived) {
  console.log(`${file}:${line}  ${short(original)}  →  ${short(replacement)}`);
}
process.exit(score.share < LEAST ? 1 : 0);

function tryMutants(share = '0.01', seed = '1', only = '') {
  mkdirSync('reports', { recursive: true });
  rmSync(notes, { force: true });
  const packages = PACKAGES.flatMap((name) => ['-p', name]);
  const command = ['stryker', 'run', 'tools/mutate/stryker.config.mjs'];
  const env = {
    ...process.env,
    FENCEPOST_MUTATION_SHARE: share,
    FENCEPOST_MUTATION_SEED: seed,
    FENCEPOST_MUTATION_ONLY: only,
  };
  const { status } = spawnSync('npx', ['--yes', ...packages, ...command], {
    env,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`Stryker ends with ${status}`);
}

/** Adds what stands at the place of a mutant; Stryker counts lines and columns from 1. */
function describe({ fileName, location: { start, end }, ...mutant }) {
  const file = fileName.replace(/^.*?(?=src\/)/, '');
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  lines.push(lines.pop().slice(0, end.column - 1));
  lines[0] = lines[0].slice(start.column - 1);
  return { ...mutant, file, line: start.line, original: lines.join('\n') };
}

function isEquivalent({ file, original, replacement }) {
  return equivalents.some(
    (one) => one.file === file && one.original === original && one.replacement === replacement,
  );
}

/** A share with its interval after Wilson. */
function judge(hits, count) {
  const z = 1.96;
  const share = hits / count;
  const middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
  const reach =
    (z / (1 + z ** 2 / count)) *
    Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return { share, low: middle - reach, high: middle + reach };
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

function short(code) {
  const line = code.replace(/\s+/g, ' ');
  return line.length <= 90 ? line : `${line.slice(0, 60)} … ${line.slice(-25)}`;
}
