// Mutation testing of what everything rests on: `npm run mutation`. A mutant is caught by the unit
// tests and short laws that reach it. Stryker would write all its mutants into the code and
// slow it down for the few that are tried; so they are drawn here, and it is given their places.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { isDrawn } from './lots.mjs';

const ROOMS = [
  ...['src/core', 'src/check', 'src/search/sweep', 'src/search/corpus'],
  'src/linearizability',
];
const MUTATED = ROOMS.flatMap((room) =>
  readdirSync(room, { recursive: true })
    .filter((name) => /\.ts$/.test(name) && !/\.(test|fixture|d)\.ts$/.test(name))
    .map((name) => `${room}/${name}`),
)
  .filter((path) => path.startsWith(process.env['FENCEPOST_MUTATION_ONLY'] ?? ''))
  .sort();
/** What an error says is tested where it matters; a text that reads otherwise is no mistake. */
const mutator = { plugins: null, excludedMutations: ['StringLiteral'] };

async function placesOfDrawn() {
  const require = createRequire(process.argv[1]);
  const instrumenter = pathToFileURL(require.resolve('@stryker-mutator/instrumenter')).href;
  const { Instrumenter } = await import(instrumenter);
  const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };
  const files = MUTATED.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(name, 'utf8'),
  }));
  const { mutants } = await new Instrumenter(silent).instrument(files, {
    ...mutator,
    ignorers: [],
  });
  const made = mutants.filter(({ status }) => status !== 'Ignored');
  const drawn = made.filter(isDrawn);
  console.log(`${drawn.length} of ${made.length} mutants are drawn`);
  return drawn.map(({ fileName, location: { start, end } }) => {
    const from = `${start.line + 1}:${start.column}`;
    return `${fileName}:${from}-${end.line + 1}:${end.column}`;
  });
}

export default {
  testRunner: 'vitest',
  // Stryker would rewrite it with the API of an older compiler; nothing in it points outside.
  tsconfigFile: 'none.json',
  vitest: { configFile: 'tools/mutate/vitest.config.mjs', related: false },
  plugins: ['@stryker-mutator/vitest-runner', './tools/mutate/draw.mjs'],
  checkers: ['drawn'],
  mutate: await placesOfDrawn(),
  ignorePatterns: ['dist', 'reports', '/fixtures/compatibility', '.ci'],
  mutator: { excludedMutations: mutator.excludedMutations },
  coverageAnalysis: 'perTest',
  // What a module does as it loads, each test of the set reaches: hours for a few tables.
  ignoreStatic: true,
  // Half of them are checkers, which have next to nothing to do.
  concurrency: 2 * availableParallelism(),
  timeoutMS: 15_000,
  dryRunTimeoutMinutes: 20,
  reporters: ['notes', 'progress-append-only'],
  tempDirName: 'reports/.stryker',
  symlinkNodeModules: true,
};
