/**
 * Lists the frozen subjects: the scenarios of `fixtures`, its packages, users' locks, and commands.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyUsersScenario, withKeyUsers } from '../../properties/key-users.ts';
import { userLockKinds, userLocks, userScenario } from '../../properties/user-locks.ts';
import { loadScenarioFile } from '../../src/host/modules/load-files.ts';
import { installPackage } from '../install-package.mjs';
import { type Depth, type Loaded, type Sections, seedSections } from './seeds.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixtures = join(root, 'fixtures');
/** Seeds for built-in systems, and for user code, whose runs take longer. */
const SEEDS = 1_000;
const SEEDS_OF_CODE = 50;

export interface Subject {
  /** `scenarios/zombie-writer`: its file in `fixtures/frozen`, without the extension. */
  readonly name: string;
  readonly record: (depth: Depth) => Promise<Sections>;
}

/** Returns all subjects, the slowest first. */
export function subjects(): readonly Subject[] {
  const lockSubjects = userLockKinds.map((kind): Subject => {
    const name = `own-locks/${kind.title.toLowerCase().replace(/\W+/g, '-')}`;
    const loaded = { scenario: userScenario(kind, false), catalogue: userLocks };
    return { name, record: (depth) => seedSections(loaded, SEEDS_OF_CODE, depth) };
  });
  const keys = { scenario: keyUsersScenario(), catalogue: withKeyUsers };
  const code = ['modules', 'guide', 'driver'].flatMap((folder) => yamlIn(join(fixtures, folder)));
  const scenarios = [fixtures, join(fixtures, 'canary')].flatMap(yamlIn);
  return [
    ...readdirSync(join(fixtures, 'packages')).sort().map(packageSubject),
    { name: 'key-users', record: (depth) => seedSections(keys, SEEDS_OF_CODE, depth) },
    ...Object.entries(OUTPUTS).map(outputSubject),
    ...code.map((file) => fileSubject(basename(dirname(file)), file, SEEDS_OF_CODE)),
    ...lockSubjects,
    ...scenarios.map((file) => fileSubject('scenarios', file, SEEDS)),
  ];
}

function yamlIn(folder: string): readonly string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.sort().map((file) => join(folder, file));
}

async function load(file: string): Promise<Loaded> {
  const read = await loadScenarioFile(file);
  if (read.kind === 'scenario') return read;
  throw new Error(`${file}: ${read.problems.map(({ what }) => what).join('; ')}`);
}

function fileSubject(group: string, file: string, seeds: number): Subject {
  const record: Subject['record'] = async (depth) => seedSections(await load(file), seeds, depth);
  return { name: `${group}/${basename(file, '.yaml')}`, record };
}

/** A package from npm, with all scenarios of its folder. */
function packageSubject(name: string): Subject {
  const record: Subject['record'] = async (depth) => {
    const scratch = mkdtempSync(join(tmpdir(), 'fencepost-freeze-'));
    try {
      const folder = join(scratch, name);
      const error = installPackage(join(fixtures, 'packages', name), folder);
      if (error !== null) throw new Error(error);
      const sections = new Map<string, readonly string[]>();
      for (const file of yamlIn(folder)) {
        const seedLines = await seedSections(await load(file), SEEDS_OF_CODE, depth);
        for (const [name, lines] of seedLines)
          sections.set(`${basename(file, '.yaml')}, ${name}`, lines);
      }
      return sections;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  };
  return { name: `packages/${name}`, record };
}

/** Scenarios, with one kept plan each, whose terminal output is frozen. */
const OUTPUTS: Readonly<Record<string, string>> = {
  'zombie-writer': 'zombie-writer-unfenced-grant-order',
  'six-steps': 'six-steps-unfenced-grant-order',
  'redlock-late-reply': 'redlock-late-reply-unchecked-mutual-exclusion',
  'zookeeper-fencing': 'zookeeper-fencing-unfenced-grant-order',
  'cache-lock-boundary': 'cache-lock-boundary-published-owner-only-release',
  'kubernetes-late-reply': 'kubernetes-late-reply-reply-lease-conservative',
  'token-regression': 'token-regression-volatile-tokens-increase',
  'lost-update': 'lost-update-fenced-no-lost-update',
  'postgres-pooler': 'postgres-pooler-transaction-mutual-exclusion',
  'modules/spin-lock': 'spin-lock-naive-owner-only-release',
};

/** The output of the built command line for a scenario, for humans and for programs. */
function outputSubject([scenario, plan]: readonly [string, string]): Subject {
  const place = join('fixtures', dirname(scenario), 'plans', `${plan}.yaml`);
  const output = `reports/freeze/${basename(scenario)}`;
  const record: Subject['record'] = async () => {
    const run = ['run', `fixtures/${scenario}.yaml`, '--seeds', '100', '--output', output];
    const commands = [run, ['replay', place], ['show', place]];
    const sections = commands.flatMap((command) =>
      [command, [...command, '--json']].map((args): [string, readonly string[]] => {
        const lines = printedBy(args);
        // The next command would replay the written counterexamples first.
        rmSync(join(root, output), { recursive: true, force: true });
        return [`fencepost ${args.join(' ')}`, lines];
      }),
    );
    return new Map(sections);
  };
  return { name: `outputs/${basename(scenario)}`, record };
}

/** Returns the output of a command without speeds, and its exit code. */
function printedBy(args: readonly string[]): readonly string[] {
  const options = { cwd: root, env: {}, encoding: 'utf8' } as const;
  const { stdout, status } = spawnSync(process.execPath, ['dist/cli.js', ...args], options);
  const untimed = stdout
    .replace(/"(seeds|events)PerSecond":[\d.]+,/g, '')
    .replace(/; [\d,]+ seeds\/s, [\d,]+ events\/s/g, '');
  return [...untimed.split('\n'), `exit ${status}`];
}
