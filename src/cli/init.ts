/**
 * `fencepost init` writes starter files into a folder and prints the next command. It overwrites no
 * existing file, but adds a line to `.gitignore` and scripts to `package.json`. The templates are
 * files of the package (`fixtures/starter`).
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Command, Option } from 'commander';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { paintFor } from '../text/colour.ts';
import { FENCEPOST, shellWords } from '../text/prose.ts';
import { type Done, withExample } from './command.ts';
import { UserError } from './exit.ts';
import { readText, writeText } from './files.ts';
import { lockRisks, locksUsed } from './lock-risks.ts';
import { slashed } from './shipped.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface InitFlags {
  readonly lock?: string;
  readonly ci?: 'github';
}

export function addInit(command: Command, done: Done): void {
  withExample(command, 'init --ci github && npx --no-install fencepost run locks/zombie.yaml')
    .addOption(
      new Option('--lock <name>', 'write scenarios in which this lock fails, and its cure').choices(
        Object.keys(lockRisks),
      ),
    )
    .addOption(new Option('--ci <server>', 'also write a workflow').choices(['github']))
    .action((folder: string | undefined, flags: InitFlags) => done(begin(folder ?? '.', flags)));
}

/** Initializes `folder`, which is created if necessary. */
function begin(folder: string, flags: InitFlags): Exit {
  const terminal = openTerminal();
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new UserError([`${folder}:1:1: this is not a folder`]);
  }
  const facts = factsOf(folder);
  const beginning = beginningOf(facts, flags);
  const steps = planBeginning(facts, beginning);
  for (const step of steps) {
    if (step.kind !== 'left') writeText(join(folder, step.target), step.text);
    printStep(step, terminal);
  }
  for (const advice of adviceFor(folder, beginning.parts)) terminal.print(`! ${advice}`);
  terminal.print('');
  const enter = resolve(folder) === resolve('.') ? [] : ['cd', folder, '&&'];
  const run = [...FENCEPOST, 'run', ...scenariosOf(beginning)];
  terminal.print(`next: ${shellWords([...enter, ...run]).join(' ')}`);
  return exits.met;
}

/**
 * Chooses the parts: with `--lock` only that lock, otherwise a user-defined lock and the locks that
 * the project uses.
 */
function beginningOf(facts: FolderFacts, flags: InitFlags): BeginningOptions {
  const parts = new Set<StarterPart>(['locks']);
  // The tests belong to the user-defined lock.
  if (flags.lock === undefined) parts.add('vitest');
  if (flags.ci === 'github') parts.add('github');
  if (flags.lock !== undefined) return { parts, chosen: null, locks: [flags.lock] };
  const dependencies = dependenciesIn(facts.manifest);
  const driver = dependencies.includes('ioredis') ? 'ioredis' : null;
  return { parts, chosen: { driver }, locks: locksUsed(dependencies) };
}

function dependenciesIn(manifest: string | null): readonly string[] {
  const read = parseObject(manifest ?? '');
  return ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((field) => {
    const named = read?.[field];
    return isObject(named) ? Object.keys(named) : [];
  });
}

function factsOf(folder: string): FolderFacts {
  const schema = findAbove(folder, 'node_modules/fencepost/dist/scenario.schema.json');
  return {
    has: (target) => existsSync(join(folder, target)),
    manifest: textIn(folder, 'package.json'),
    ignored: textIn(folder, '.gitignore'),
    isInGit: findAbove(folder, '.git') !== null,
    schema: schema === null ? null : pathFrom(resolve(folder, 'locks'), schema),
  };
}

/** Returns null if the file does not exist, and '' if it cannot be read. */
function textIn(folder: string, name: string): string | null {
  const file = join(folder, name);
  try {
    return existsSync(file) ? readText(file) : null;
  } catch (error) {
    if (error instanceof UserError) return '';
    throw error;
  }
}

/** Returns `path` in the folder or in its nearest ancestor that has it, or null if none does. */
function findAbove(folder: string, path: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = join(at, path);
    if (existsSync(found)) return found;
    if (dirname(at) === at) return null;
  }
}

function pathFrom(folder: string, file: string): string {
  return slashed(relative(folder, file));
}

function printStep(step: Step, terminal: Terminal): void {
  if (step.kind === 'left') terminal.print(`- left ${step.target}: it ${step.why}`);
  else {
    const verb = step.kind === 'written' ? 'wrote' : 'extended';
    terminal.print(`✓ ${verb} ${step.target}  ${paintFor(terminal.colour).faint(step.about)}`);
  }
}

const OTHER_LOCK_FILES = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'];

function adviceFor(folder: string, parts: ReadonlySet<StarterPart>): readonly string[] {
  const missing = [...(parts.has('vitest') ? ['fencepost', 'vitest'] : ['fencepost'])].filter(
    (name) => findAbove(folder, `node_modules/${name}/package.json`) === null,
  );
  const install = `npm install --save-dev ${missing.join(' ')}`;
  const advice = missing.length === 0 ? [] : [`not installed here yet: ${install}`];
  return parts.has('github') ? [...advice, ...workflowAdvice(folder)] : advice;
}

function workflowAdvice(folder: string): readonly string[] {
  const advice: string[] = [];
  const git = findAbove(folder, '.git');
  if (git !== null && dirname(git) !== resolve(folder)) {
    const root = pathFrom(resolve(folder), dirname(git));
    advice.push(`GitHub reads workflows in ${root} only: move it, with a working-directory`);
  }
  const other = OTHER_LOCK_FILES.find((name) => existsSync(join(folder, name)));
  if (other !== undefined) {
    advice.push(`the workflow installs with npm; change its install step for ${other}`);
  } else if (!existsSync(join(folder, 'package-lock.json'))) {
    advice.push('the workflow installs with `npm ci`, which needs a package-lock.json in git');
  }
  return advice;
}

export interface FolderFacts {
  /** Returns true if the path exists below the folder. */
  readonly has: (target: string) => boolean;
  /** The text of the folder's `package.json`, or null if there is none. */
  readonly manifest: string | null;
  /** The text of the folder's `.gitignore`, or null if there is none. */
  readonly ignored: string | null;
  /** True if the folder is in a git repository. */
  readonly isInGit: boolean;
  /**
   * The path from `locks` to the scenario schema, with slashes; null if fencepost is not installed.
   */
  readonly schema: string | null;
}

export interface BeginningOptions {
  readonly parts: ReadonlySet<StarterPart>;
  /**
   * The user-defined lock to write, or null to write none. `driver` is null if the lock uses no
   * driver.
   */
  readonly chosen: { readonly driver: Driver | null } | null;
  /** The locks of `lockRisks` for which scenarios are written. */
  readonly locks: readonly string[];
}

/** The step for one file. A `left` file stays unchanged; `why` explains this in a clause. */
type Step =
  | {
      readonly kind: 'written' | 'extended';
      readonly target: string;
      readonly about: string;
      readonly text: string;
    }
  | { readonly kind: 'left'; readonly target: string; readonly why: string };

/** Returns the steps, in the order of the files. */
export function planBeginning(facts: FolderFacts, options: BeginningOptions): readonly Step[] {
  const isTyped = facts.has('tsconfig.json') && !facts.has(USER_LOCK);
  const files = filesOf(isTyped, options)
    .filter(({ part }) => options.parts.has(part))
    .map((file): Step => {
      const { target, about } = file;
      if (facts.has(target)) return { kind: 'left', target, why: 'exists already' };
      // Templates are in `fixtures`, beside `src` and `dist`.
      const path = `../../fixtures/starter/${templateOf(file)}`;
      const plain = withSchema(readFileSync(new URL(path, import.meta.url), 'utf8'), facts.schema);
      const text = isTyped ? plain.replaceAll('my-lock.mjs', 'my-lock.ts') : plain;
      return { kind: 'written', target, about, text };
    });
  if (facts.isInGit || facts.ignored !== null) files.push(ignoreStep(facts.ignored));
  if (facts.manifest === null) return files;
  return [...files, manifestStep(facts.manifest, options)];
}

/** Makes git ignore the reports of `run`, which can be regenerated. Kept plans are elsewhere. */
function ignoreStep(ignored: string | null): Step {
  const target = '.gitignore';
  if (ignored === '') return { kind: 'left', target, why: 'is empty, or cannot be read' };
  if (ignored === null) {
    return { kind: 'written', target, about: 'reports are generated', text: 'reports/\n' };
  }
  if (/^\/?reports\/?\s*$/m.test(ignored)) {
    return { kind: 'left', target, why: 'already ignores reports' };
  }
  const end = ignored.includes('\r\n') ? '\r\n' : '\n';
  const before = ignored === '' || ignored.endsWith('\n') ? ignored : `${ignored}${end}`;
  return {
    kind: 'extended',
    target,
    about: 'reports are generated',
    text: `${before}reports/${end}`,
  };
}

function manifestStep(text: string, options: BeginningOptions): Step {
  const scripts = { locks: `fencepost run ${scenariosOf(options).join(' ')}` };
  const edit = addScripts(text, scripts);
  const names = Object.keys(scripts).join(', ');
  const target = 'package.json';
  if (edit.kind === 'edited') {
    const about = `npm run ${edit.added.join(', npm run ')}`;
    return { kind: 'extended', target, about, text: edit.text };
  }
  const isThere = edit.kind === 'same';
  const why = isThere
    ? `has a script ${names} already`
    : `cannot be read: it gets no script ${names}`;
  return { kind: 'left', target, why };
}

const SCHEMA_LINE = /^(# yaml-language-server: \$schema=).*$/m;

const USUAL_SCHEMA = '../node_modules/fencepost/dist/scenario.schema.json';

/** Sets the path of the schema, which an editor resolves relative to the file. */
function withSchema(text: string, schema: string | null): string {
  if (text.startsWith('# ') && !SCHEMA_LINE.test(text)) {
    return `# yaml-language-server: $schema=${schema ?? USUAL_SCHEMA}\n${text}`;
  }
  return schema === null ? text : text.replace(SCHEMA_LINE, (_, key: string) => key + schema);
}

type ScriptsEdit =
  | { readonly kind: 'edited'; readonly text: string; readonly added: readonly string[] }
  /** `same`: all scripts already exist. */
  | { readonly kind: 'same' | 'unreadable' };

type Scripts = Readonly<Record<string, string>>;
type Manifest = Readonly<Record<string, unknown>>;

/** Adds the scripts whose names do not exist yet. */
export function addScripts(text: string, scripts: Scripts): ScriptsEdit {
  const manifest = parseObject(text);
  if (manifest === null) return { kind: 'unreadable' };
  const existing = manifest['scripts'] ?? {};
  if (!isObject(existing)) return { kind: 'unreadable' };
  const names = Object.keys(scripts).filter((name) => !Object.hasOwn(existing, name));
  if (names.length === 0) return { kind: 'same' };
  const added = Object.fromEntries(names.map((name) => [name, scripts[name]]));
  const wanted = { ...manifest, scripts: { ...existing, ...added } };
  return { kind: 'edited', text: editText(text, added, wanted), added: names };
}

/**
 * Inserts the scripts into the text. If no edit results in `wanted`, renders the complete manifest.
 */
function editText(text: string, added: Manifest, wanted: Manifest): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = Object.entries(added).map(
    ([name, script]) => `${indent}${indent}${JSON.stringify(name)}: ${JSON.stringify(script)}`,
  );
  const block = lines.join(`,${end}`);
  const candidates = [
    text.replace(/"scripts"\s*:\s*\{/, (open) => `${open}${end}${block},`),
    text.replace(
      /\s*\}\s*$/,
      () => `,${end}${indent}"scripts": {${end}${block}${end}${indent}}${end}}${end}`,
    ),
  ];
  const fitting = candidates.find((candidate) => isDeepStrictEqual(parseObject(candidate), wanted));
  return fitting ?? `${JSON.stringify(wanted, null, indent)}\n`.replaceAll('\n', end);
}

function parseObject(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A part of the starter files. Only `locks` is always written. */
type StarterPart = 'locks' | 'vitest' | 'github';

interface StarterFile {
  readonly part: StarterPart;
  /** The path below the folder. */
  readonly target: string;
  readonly about: string;
  /** The path below `fixtures/starter` if different: packing skips names that start with a dot. */
  readonly template?: string;
  /** True for folders with a tsconfig, false for others; absent for both. */
  readonly isTyped?: boolean;
  /**
   * Restricts the file to user-defined locks with this driver (null: no driver); absent for all
   * locks.
   */
  readonly driver?: Driver | null;
}

/** Drivers that a user-defined lock may use. */
type Driver = 'ioredis';

const USER_LOCK = 'locks/my-lock.mjs';

function userLock(driver: Driver | null): readonly StarterFile[] {
  const on = driver === null ? 'whose client is asynchronous code' : `on ${driver}`;
  const from = (name: string) => (driver === null ? {} : { template: `${driver}/${name}` });
  const about = `a lock of your own, ${on}`;
  return [
    { part: 'locks', target: USER_LOCK, about, isTyped: false, driver, ...from('my-lock.mjs') },
    {
      part: 'locks',
      target: 'locks/my-lock.ts',
      about,
      isTyped: true,
      driver,
      ...from('my-lock.ts'),
    },
    {
      part: 'locks',
      target: 'locks/my-lock.yaml',
      driver,
      ...from('my-lock.yaml'),
      about: 'what is expected of it, and which faults may happen',
    },
  ];
}

/** All files, in a sensible reading order. */
export const starterFiles: readonly StarterFile[] = [
  {
    part: 'locks',
    target: 'locks/zombie.yaml',
    about: 'a paused holder; one store checks fencing tokens, another does not',
  },
  ...userLock(null),
  ...userLock('ioredis'),
  { part: 'vitest', target: 'locks/locks.test.ts', about: 'the same as tests of vitest' },
  {
    part: 'github',
    target: '.github/workflows/fencepost.yml',
    template: 'github/fencepost.yml',
    about: 'runs everything on every push, on four machines',
  },
];

/** Returns the files for one folder. */
export function startersIn(isTyped: boolean, driver: Driver | null = null): readonly StarterFile[] {
  const fits = <T>(wanted: T | undefined, choice: T): boolean =>
    wanted === undefined || wanted === choice;
  return starterFiles.filter((file) => fits(file.isTyped, isTyped) && fits(file.driver, driver));
}

/** Returns the files to write. A scenario that two locks share is included once. */
function filesOf(isTyped: boolean, { chosen, locks }: BeginningOptions): readonly StarterFile[] {
  const starters = startersIn(isTyped, chosen?.driver ?? null);
  const owned = chosen !== null ? starters.filter(({ part }) => part !== 'github') : [];
  const risks = new Map(locks.flatMap((lock) => Object.entries(lockRisks[lock] ?? {})));
  const scenarios = [...risks].map(([name, about]): StarterFile => {
    return { part: 'locks', target: `locks/${name}.yaml`, about, template: `../${name}.yaml` };
  });
  return [...owned, ...scenarios, ...starters.filter(({ part }) => part === 'github')];
}

function scenariosOf(options: BeginningOptions): readonly string[] {
  const targets = filesOf(false, options).map(({ target }) => target);
  return targets.filter((target) => /^locks\/.*\.yaml$/.test(target));
}

/** Returns the path of a file's template below `fixtures/starter`. */
export function templateOf({ target, template = target }: StarterFile): string {
  return template;
}
