/**
 * Prints the sizes of the code that have a budget: `npm run figures`, which builds first. Tests,
 * fixtures and trailing blank lines do not count. A module reaches all that it imports, directly or
 * not, including types and dynamic imports. The path of `examineSeed` consists of the modules of
 * which a function is called while one seed of `zombie-writer` is examined with the claims of its
 * scenario.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const IS_CODE = /\.(?:ts|mjs)$/;
const IS_TEST = /\.(?:test|fixture)\.(?:ts|mjs)$|\/built\//;

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(root, folder, path))
    .filter((path) => IS_CODE.test(path) && !IS_TEST.test(path));
}

const src = sourcesIn('src').filter((path) => path.endsWith('.ts'));

const linesIn = (paths) =>
  paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);

const IMPORT = /(?:\bfrom |\bimport |\bimport\()'(\.[^']+)'/g;

/** Returns the files that `entries` reach; `without` is a folder that is not followed. */
function reachedFrom(entries, without = null) {
  const left = (path) => without !== null && path.startsWith(join(root, without));
  const sources = new Set(src.filter((path) => !left(path)));
  const met = new Set([entries].flat().map((entry) => join(root, entry)));
  for (const path of met) {
    const imports = readFileSync(path, 'utf8').matchAll(IMPORT);
    for (const [, specifier] of imports) {
      const file = join(dirname(path), specifier);
      if (sources.has(file)) met.add(file); // an example in a comment is not a module
    }
  }
  return [...met];
}

/** Returns the modules of the built package of which `work` calls a function. */
async function modulesRun(work) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const built = new URL('./built/modules/', import.meta.url).href;
  return result
    .filter(({ url, functions }) => {
      const isCalled = ({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0;
      return url.startsWith(built) && functions.some(isCalled);
    })
    .map(({ url }) => url.slice(built.length).replace(/\.js$/, '.ts'));
}

async function seedPath() {
  const { examineSeed } = await import('./built/modules/harness.js');
  const { loadScenario } = await import('./built/modules/load.js');
  const file = 'fixtures/zombie-writer.yaml';
  const read = loadScenario(readFileSync(join(root, file), 'utf8'), file);
  if (read.kind === 'problems') throw new Error(`${file} cannot be read`);
  const [system] = read.scenario.systems;
  const { holds, breaks } = system.expect;
  const examine = () => void examineSeed(read.scenario, system.name, 1, [...holds, ...breaks]);
  examine(); // excludes work that is done only once, such as filling tables
  return await modulesRun(examine);
}

const CHECK = ['src/check.ts', 'src/cli/check.ts'];

/** Returns the names that an entry exports; it exports by name only. */
function namesOf(entry) {
  const text = readFileSync(join(root, entry), 'utf8');
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].map(([, list]) => list);
  return lists.flatMap((list) => list.split(',').filter((name) => name.trim() !== ''));
}

const fleet = src.filter((path) =>
  /\/(?:adapters\/fleet\/|fleet[^/]*\.ts|cli\/(?:sweep|worker|open-queue))/.test(path),
);
const program = readFileSync(join(root, 'src/cli/program.ts'), 'utf8');
const path = await seedPath();
const largest = Math.max(...src.map((one) => linesIn([one])));

for (const [name, value] of [
  ['src, lines', linesIn(src)],
  ['src, modules', src.length],
  ['largest module of src, lines', largest],
  ['reached by cli/run, lines', linesIn(reachedFrom('src/cli/run.ts'))],
  ['reached by vitest/sim-test, lines', linesIn(reachedFrom('src/adapters/vitest/sim-test.ts'))],
  ['reached by cli/check, lines', linesIn(reachedFrom('src/cli/check.ts'))],
  ['the same + fencepost/check - its page', linesIn(reachedFrom(CHECK, 'src/report/html/'))],
  ['names of fencepost/check', namesOf('src/check.ts').length],
  ['on the path of examineSeed, modules', path.length],
  ['commands', [...program.matchAll(/^ {4}usage: /gm)].length],
  ['fleet, lines', linesIn(fleet)],
  ['tools, lines', linesIn(sourcesIn('tools'))],
  ['properties, lines', linesIn(sourcesIn('properties'))],
]) {
  process.stdout.write(`${name.padEnd(38)}${value.toLocaleString('en').padStart(8)}\n`);
}
if (process.argv.includes('--path')) {
  for (const one of path.sort()) process.stdout.write(`${one}\n`);
}
if (process.argv.includes('--fleet')) {
  for (const one of fleet) process.stdout.write(`${relative(root, one)}\n`);
}
