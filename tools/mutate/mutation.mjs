// Measures how many mistakes the unit tests catch. `npm run mutation -- [share] [seed] [path]`
// draws that share of all mutants of the core, the claims, the sweep, the corpus and the checker,
// or of the files whose path begins with `path` (plant.mjs); runs the unit tests and short laws
// that pass each one (vitest.config.mjs, runner.mjs); and prints how many are caught. --again
// repeats those that survived the last time, --notes prints the last result again. Mutants that no
// test can catch are listed in equivalent.json with a reason and left out.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { isEquivalent, readEquivalents } from './equivalents.mjs';
import { linesOf, reachLines } from './notes.mjs';
import { plant } from './plant.mjs';

const LEAST = 0.9;
const FOLDER = resolve('reports/mutation');

const [first = '0.01', seed = '1', only = ''] = process.argv.slice(2);
const equivalents = readEquivalents('tools/mutate/equivalent.json');
if (first === '--again') await tryMutants({ ...planted(), mutants: survivorsOf(ended()) });
else if (first !== '--notes') await tryMutants(await draw());

const all = ended();
const judged = all.filter(({ status }) => /Killed|Timeout|Survived|NoCoverage/.test(status));
const caught = judged.filter(({ status }) => /Killed|Timeout/.test(status));
const missed = judged.filter((mutant) => !caught.includes(mutant));
const survived = survivorsOf(all);
const score = judge(caught.length, caught.length + survived.length);
console.log(
  `${judged.length} mutants: ${caught.length} caught, ${survived.length} survive, ` +
    `${missed.length - survived.length} equivalent; ${all.length - judged.length} run only ` +
    `while modules load, not counted; score ${percent(score.share)}, ` +
    `95 % interval ${percent(score.low)} to ${percent(score.high)}`,
);
for (const { file, line, original, replacement } of survived) {
  console.log(`${file}:${line}  ${short(original)}  →  ${short(replacement)}`);
}
process.exit(score.share < LEAST ? 1 : 0);

async function draw() {
  const { mutants, files, total } = await plant({ share: Number(first), seed, only });
  console.log(`${mutants.length} of ${total} mutants drawn`);
  return { mutants, files };
}

async function tryMutants(plants) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/planted.json`, JSON.stringify(plants));
  const parts = availableParallelism();
  await vitest('reach', `0/${parts}`, parts);
  console.log(`tests run without mutants ${seconds()}`);
  await Promise.all(Array.from({ length: parts }, (_, part) => tryPart(part, parts)));
  console.log(`tests run with each mutant ${seconds()}`);
}

/** Restarts the process after a mutant ended it, as long as there is progress. */
async function tryPart(part, parts) {
  const path = `${FOLDER}/tried-${part}.jsonl`;
  for (let before = -1; ; ) {
    await vitest('try', `${part}/${parts}`, 1);
    const lines = existsSync(path) ? linesOf(path) : [];
    if (lines.some(({ finished }) => finished)) return;
    if (lines.length === before) throw new Error(`part ${part} makes no progress: see ${path}`);
    before = lines.length;
  }
}

/** Tests that fail are not used; their errors are in the log. */
function vitest(step, part, workers) {
  const config = ['run', '--config', 'tools/mutate/vitest.config.mjs', '--reporter=dot'];
  const env = {
    ...process.env,
    FENCEPOST_MUTATION_FOLDER: FOLDER,
    FENCEPOST_MUTATION_STEP: step,
    FENCEPOST_MUTATION_PART: part,
  };
  const run = spawn('npx', ['vitest', ...config, `--maxWorkers=${workers}`], { env });
  const log = createWriteStream(`${FOLDER}/${step}-${part.split('/')[0]}.log`, { flags: 'a' });
  run.stdout.pipe(log);
  run.stderr.pipe(log);
  return once(run, 'close');
}

function planted() {
  return JSON.parse(readFileSync(`${FOLDER}/planted.json`, 'utf8'));
}

/** Returns the mutants that were tried, each with its result. */
function ended() {
  const whileLoading = new Set(reachLines(FOLDER).flatMap((line) => line.loading ?? []));
  const ends = readdirSync(FOLDER)
    .filter((name) => /^tried-.*jsonl$/.test(name))
    .flatMap((name) => linesOf(`${FOLDER}/${name}`))
    .filter(({ status }) => status !== undefined);
  return planted().mutants.flatMap((mutant) => {
    const end = ends.findLast((one) => one.mutant === mutant.id);
    if (end === undefined) return [];
    // Mutants in top-level code could only be tried by reloading all modules.
    const isIgnored = end.status === 'NoCoverage' && whileLoading.has(mutant.id);
    return [describe({ ...mutant, status: isIgnored ? 'Ignored' : end.status })];
  });
}

function survivorsOf(mutants) {
  return mutants.filter(
    (mutant) => /Survived|NoCoverage/.test(mutant.status) && !isEquivalent(mutant, equivalents),
  );
}

/** Adds the code at a mutant's place; the instrumenter counts lines and columns from 0. */
function describe(mutant) {
  const { fileName: file, location } = mutant;
  const { start, end } = location;
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(start.line, end.line + 1);
  lines.push(lines.pop().slice(0, end.column));
  lines[0] = lines[0].slice(start.column);
  return { ...mutant, file, line: start.line + 1, original: lines.join('\n') };
}

/** A share with its Wilson interval. */
function judge(hits, count) {
  const z = 1.96;
  const share = hits / count;
  const middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
  const reach =
    (z / (1 + z ** 2 / count)) *
    Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return { share, low: middle - reach, high: middle + reach };
}

function seconds() {
  return `after ${Math.round(performance.now() / 1000)} s`;
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

function short(code) {
  const line = code.replace(/\s+/g, ' ');
  return line.length <= 90 ? line : `${line.slice(0, 60)} … ${line.slice(-25)}`;
}
