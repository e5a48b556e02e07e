/**
 * Tests lock packages of npm, unmodified: `fixtures/packages` meets its expectations, its kept
 * plans replay to the same events, and the counts in `package-findings.ts` are right, from which
 * `reports/packages.md` is generated (`npx vitest run` with `-u` writes it). The packages are
 * installed from the registry, each by its lock file and without scripts, into a folder that is
 * reused while that lock file is unchanged. Each commit runs another half of the scenarios and
 * replays all plans, so that every package is tested each time; the nightly run runs all.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { some } from '../../properties/runs.ts';
import { type Ended, root, runHere } from '../../src/cli/command-line.fixture.ts';
import { installPackage } from '../install-package.mjs';
import { needs } from '../needs.ts';
import { findings, renderPackages } from './package-findings.ts';

const home = join(root, 'fixtures/packages');
const scratch = mkdtempSync(join(tmpdir(), 'fencepost-packages-'));
const replayed = z.object({ outcome: z.string(), digest: z.string() });

/**
 * A sweep that reloads all modules for each run, as simple-redis-mutex requires, takes a minute of
 * CPU: node-redis 5 needs 40 ms to create its first client, in plain Node too. And machines are
 * busy.
 */
const RUN_TIMEOUT_MS = 360_000;

/** Errors of npm if it cannot reach the registry. */
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;

interface Installed {
  readonly name: string;
  /** A copy of the folder with `node_modules`. */
  readonly folder: string;
  /** The error of npm, or null. */
  readonly error: string | null;
}

function install(name: string): Installed {
  const folder = join(scratch, name);
  return { name, folder, error: installPackage(join(home, name), folder) };
}

function yamlIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((file) => /\.yaml$/.test(file)) : [];
}

const ended: Map<string, Promise<Ended>> = new Map();

/** Runs each scenario once; later calls return the same result. */
function runOnce(folder: string, file: string): Promise<Ended> {
  const path = join(folder, file);
  const known = ended.get(path) ?? runHere(['run', file, '--seeds', '20'], { cwd: folder });
  ended.set(path, known);
  return known;
}

const names = readdirSync(home).sort();
const installed = names.map(install);

const inTurn: ReadonlySet<string> = new Set(
  some(names.flatMap((name) => yamlIn(join(home, name)).map((file) => join(name, file)))),
);
const isInTurn = (name: string, file: string): boolean => inTurn.has(join(name, file));

const isThere = !installed.some(({ error }) => error !== null && UNREACHABLE.test(error));

afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('reports/packages.md lists the findings of each package', async () => {
  expect(Object.keys(findings).sort()).toEqual(names);
  for (const [name, { breaks }] of Object.entries(findings)) {
    const files = yamlIn(join(home, name));
    for (const { scenario } of breaks) expect(files, name).toContain(`${scenario}.yaml`);
  }
  await expect(renderPackages()).toMatchFileSnapshot('../../reports/packages.md');
});

describe.each(installed)('$name', ({ name, folder, error }) => {
  const online = needs('npm’s registry', isThere);

  online('is installed by its lock file', () => {
    expect(error).toBeNull();
  });

  online.each(yamlIn(join(home, name)).filter((file) => isInTurn(name, file)))(
    '%s meets its expectations',
    async (file) => {
      const { out, err, code } = await runOnce(folder, file);
      expect(out).toMatch(/^✓ passed on 20 seeds: (\d+) of \1 expectations? met/m);
      expect(err).toMatch(/corpus: (\d+) plans? replayed, \1 as expected/);
      expect(code).toBe(0);
      for (const { scenario, system, claim, seeds } of findings[name]?.breaks ?? []) {
        if (file !== `${scenario}.yaml`) continue;
        expect(out.replace(/\s+/g, ' ')).toMatch(
          new RegExp(` ${system}: [^;✓]*\\b${claim} on ${seeds}\\b[^;✓]* of 20 seeds`),
        );
      }
    },
    RUN_TIMEOUT_MS,
  );

  online.each(yamlIn(join(home, name, 'plans')))('%s replays to the same events', async (plan) => {
    const { out } = await runHere(['replay', `plans/${plan}`, '--modules', '.', '--json'], {
      cwd: folder,
    });
    const text = readFileSync(join(folder, 'plans', plan), 'utf8');
    const { outcome, digest } = replayed.parse(JSON.parse(out));
    expect(outcome).toBe(text.includes('outcome: fixed') ? 'fixed' : 'reproduced');
    expect(text).toContain(`# ${digest}\n`);
  });
});

const folderOf = (name: string): string => {
  return installed.find((one) => one.name === name)?.folder ?? '';
};

/** Returns the faults of a plan as text. */
function faultsIn(plan: string): string {
  const text = readFileSync(plan, 'utf8');
  return text.slice(text.indexOf('\nfaults:'), text.indexOf('\nlimits:'));
}

needs('npm’s registry', isThere)(
  'a lost reply makes ioredis deny itself: found in 20 seeds, one drop, explained in words',
  async () => {
    const cwd = folderOf('ioredis');
    const { out } = await runOnce(cwd, 'resent-set.yaml');
    expect(out).toContain('withheld from its own client by a key that');
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /(\w+) sent it again at \d+ ms and was denied at \d+ ms by its own key: the reply to \1's `set` \(`\1\/1\/set`\) was lost\./,
    );
    expect(out).toContain('same plan on twin looks: no additional refusal; no-orphan holds');
    const faults = faultsIn(join(cwd, 'reports/resent-set-waits-no-orphan.yaml'));
    expect(faults.match(/^ {2}- /gm)).toHaveLength(1);
    expect(faults).toMatch(/- drop: \{ message: \w+\/1\/set\/1\/reply \}/);
  },
);

const REDIS_LOCK: readonly (readonly [string, string])[] = [
  ['beside its cure', 'late-del.yaml'],
  ['alone, with pauses before `del` only', 'only-del.yaml'],
];

needs('npm’s registry', isThere).each(some(REDIS_LOCK))(
  'redis-lock %s shrinks to the late DEL, which its story explains',
  async (_, file) => {
    const cwd = folderOf('redis-lock');
    const both = readFileSync(join(cwd, 'late-del.yaml'), 'utf8');
    const alone = both.replace(/^ {2}compared:.*?\n\n/ms, '\n').replace(/^.*before: eval.*\n/m, '');
    expect(alone).not.toMatch(/compared|before: eval/);
    writeFileSync(join(cwd, 'only-del.yaml'), alone.replace('name: late-del', 'name: only-del'));
    const { out } = await runOnce(cwd, file);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /(\w+), who had it from \S+ ms until \S+ ms at most, removed it at \S+ ms by `del`: \1 was paused from \S+ ms to \S+ ms, before its `del`\./,
    );
    const faults = faultsIn(
      join(cwd, `reports/${file.replace('.yaml', '')}-published-owner-only-release.yaml`),
    );
    expect(faults.match(/^ {2}- /gm)).toHaveLength(1);
    expect(faults).toMatch(/- pause: \{ process: (\w+), before: \1\/\d\/del, /);
  },
);
