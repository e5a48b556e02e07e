// Writes one lock with each file extension that Node or TypeScript knows, in packages of each type,
// and prints the results: a line each, with digests of its traces and of a sweep in a worker thread.
// All lines must be equal, on every Node. Run `node tools/endings.mjs` after a build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expand, loadScenario, replay } from 'fencepost';

const { transformSync } = createRequire(import.meta.url)('@swc/wasm-typescript');
const root = fileURLToPath(new URL('..', import.meta.url));
const starter = join(root, 'fixtures/starter/locks');
const SEEDS = 5;

// The lock imports another file, by the specifier that its extension requires.
const typed = readFileSync(join(starter, 'my-lock.ts'), 'utf8').replace(
  'tries < 40',
  'tries < TRIES',
);
// One system is enough: all three run the same files.
const scenario = readFileSync(join(starter, 'my-lock.yaml'), 'utf8').replace(
  /^ {2}first:.*?(?=^ {2}fenced:)/ms,
  '',
);
const lockFrom = (specifier) => `${typed}\nimport { TRIES } from '${specifier}';\n`;
const tries = 'export const TRIES: number = 40;\n';

/** The same in CommonJS. */
const required = (text) =>
  text
    .replace(/^import \{(.*)\} from ('.*');$/gm, (_, names, from) => {
      const values = names.split(',').filter((name) => !name.includes('type '));
      return `const {${values.join(',').replaceAll(' as ', ': ')}} = require(${from});`;
    })
    .replace('export const TRIES: number =', 'exports.TRIES =')
    .replace('export default', 'module.exports =');
/** Removes the types. */
const stripped = (text) => transformSync(text, { mode: 'strip-only' }).code;
const asIs = (text) => text;
/** With syntax that is more than types but has the same meaning. */
const enumerated = (text) =>
  text.replace(
    'export const TRIES: number = 40;',
    'enum Tries { Most = 40 }\nexport const TRIES = Tries.Most;',
  );

const rows = [
  ...[
    ['ts', './tries'],
    ['ts', './tries.js'],
    ['ts', '@lib/tries'],
    ['ts', './tries.ts'],
  ].map((row) => [...row, asIs]),
  ['ts', './tries', enumerated],
  ['mts', './tries.mjs', enumerated],
  [
    'cts',
    './tries',
    (text) =>
      enumerated(text)
        .replace('export const', 'namespace All { export const')
        .replace(/(TRIES = Tries.Most;)/, '$1 }\nexport = All;')
        .replace(
          /^import \{ TRIES \} from (.*);/m,
          'import all = require($1);\nconst { TRIES } = all;',
        ),
  ],
  ...[
    ['mts', './tries'],
    ['mts', './tries.mjs'],
    ['mts', './tries.mts'],
  ].map((row) => [...row, asIs]),
  ...[
    ['cts', './tries'],
    ['cts', './tries.cjs'],
    ['cts', './tries.cts'],
  ].map((row) => [...row, required]),
  ['mjs', './tries.mjs', stripped],
  ['js', './tries.js', stripped],
  ['cjs', './tries.cjs', (text) => stripped(required(text))],
];

const folder = mkdtempSync(join(tmpdir(), 'fencepost-endings-'));

const hashOf = (value) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** Returns a hash of the counts of each scenario, swept in a worker thread. */
function sweptBy(files) {
  const args = ['--seeds', `1..${SEEDS}`, '--workers', '1', '--reporter', 'text', '--json'];
  const output = ['--output', join(folder, 'reports')];
  const ran = spawnSync(
    process.execPath,
    [join(root, 'dist/cli.js'), 'run', ...files, ...args, ...output],
    {
      encoding: 'utf8',
    },
  );
  const { scenarios } = JSON.parse(ran.stdout.trim().split('\n').at(-1));
  return scenarios.map(({ systems }) => hashOf(systems));
}

async function tracesOf(file) {
  const scenario = await loadScenario(file);
  const traces = [];
  for (const name of scenario.systems) {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      traces.push((await replay(await expand(scenario, name, seed))).digest);
    }
  }
  return hashOf(traces);
}

const written = [];
try {
  for (const type of ['none', 'commonjs', 'module']) {
    for (const [at, [ending, specifier, rewritten]] of rows.entries()) {
      // Node treats a .js file according to its package's type.
      if (ending === 'js' && type === 'commonjs') continue;
      const project = join(folder, `${type}-${at}`);
      mkdirSync(join(project, 'node_modules'), { recursive: true });
      symlinkSync(root, join(project, 'node_modules/fencepost'));
      writeFileSync(
        join(project, 'package.json'),
        type === 'none' ? '{}' : `{ "type": "${type}" }`,
      );
      writeFileSync(
        join(project, 'tsconfig.json'),
        '{ "compilerOptions": { "paths": { "@lib/*": ["./*"] } } }',
      );
      writeFileSync(join(project, `my-lock.${ending}`), rewritten(lockFrom(specifier)));
      writeFileSync(join(project, `tries.${ending}`), rewritten(tries));
      writeFileSync(
        join(project, 'my-lock.yaml'),
        scenario
          .replaceAll('my-lock.mjs', `my-lock.${ending}`)
          .replace(/^name: .*/m, `name: ${type}-${at}`),
      );
      const file = join(project, 'my-lock.yaml');
      const what = `.${ending} from ${specifier}, type ${type}`;
      written.push({ file, what, traces: await tracesOf(file) });
    }
  }
  const swept = sweptBy(written.map(({ file }) => file));
  for (const [at, { what, traces }] of written.entries()) {
    console.log(`traces ${traces}, sweep ${swept[at]}  ${what}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
