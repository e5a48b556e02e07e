/**
 * Tests array jobs: on each system in the table of `docs/fleet.md` the parts cover every seed once,
 * and the Kubernetes Jobs of `fixtures/fleet` give the files and exit codes that they promise.
 */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { rangeOfShard } from '../search/sweep/shards.ts';
import { parseSeeds } from './command.ts';
import { root } from './command-line.fixture.ts';
import { parseShard } from './run-scenarios.ts';

const PARTS = 20;
const [page, corpus] = ['fleet', 'corpus'].map((name) =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'),
);
const table =
  /\| system \| `--shard` of the task \|\n[|-]+\n((?:\|.*\n)+)/.exec(page ?? '')?.[1] ?? '';
const rows = [...table.matchAll(/^\| ([A-Za-z ]+)[^|]*\| `(\$[^`]+)` \|$/gm)].map(
  ([, where = '', shard = '']): [string, string] => [where.trim(), shard],
);

/** The documented variables of each system: the first index, and the variables of one part. */
const systems: Readonly<Record<string, [first: number, index: string, count: string | null]>> = {
  Kubernetes: [0, 'JOB_COMPLETION_INDEX', null],
  'AWS Batch': [0, 'AWS_BATCH_JOB_ARRAY_INDEX', 'AWS_BATCH_JOB_ARRAY_SIZE'],
  Slurm: [1, 'SLURM_ARRAY_TASK_ID', 'SLURM_ARRAY_TASK_COUNT'],
  'GitLab CI': [1, 'CI_NODE_INDEX', 'CI_NODE_TOTAL'],
  CircleCI: [0, 'CIRCLE_NODE_INDEX', 'CIRCLE_NODE_TOTAL'],
  Buildkite: [0, 'BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT'],
};

describe('array jobs', () => {
  test('cover exactly the systems of the table', () => {
    expect(rows.map(([where]) => where).sort()).toEqual(Object.keys(systems).sort());
  });

  test.each(rows)('on %s examine every seed once, with `--shard %s`', (where, shard) => {
    const [first, index, count] = systems[where] ?? [0, '', null];
    let next = 1;
    for (let part = 0; part < PARTS; part += 1) {
      const env = {
        [index]: `${first + part}`,
        ...(count === null ? {} : { [count]: `${PARTS}` }),
      };
      const { stdout } = spawnSync('/bin/sh', ['-uc', `printf %s "${shard}"`], {
        env,
        encoding: 'utf8',
      });
      const range = rangeOfShard({ from: 1, to: 1_003 }, parseShard(stdout));
      expect(range.from).toBe(next);
      next = range.to + 1;
    }
    expect(next).toBe(1_004);
  });
});

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly workingDir: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: Readonly<Record<'requests' | 'limits', { readonly cpu: string }>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Job {
  readonly metadata: Readonly<Record<string, string>>;
  readonly spec: {
    readonly completions: number;
    readonly podFailurePolicy: { readonly rules: readonly unknown[] };
    readonly template: {
      readonly spec: {
        readonly containers: readonly [Container];
        readonly volumes: readonly Readonly<Record<string, unknown>>[];
      };
    };
  };
}

test('the nightly seeds of docs/corpus.md are another million each night', () => {
  const [, night = '', seeds = ''] =
    /^(N=.*?) +#.*\n.*--seeds (\S.*\)) --shard/m.exec(corpus ?? '') ?? [];
  const today = Math.floor(Date.now() / 86_400_000);
  const rangeOf = (typed: string): { from: number; to: number } =>
    parseSeeds(printed(`${typed}; printf %s ${seeds}`));
  const [one, two] = [rangeOf(`N=${today}`), rangeOf(`N=${today + 1}`)];
  expect([one.to - one.from, two.from]).toEqual([999_999, one.to + 1]);
  expect([one, two]).toContainEqual(rangeOf(night));
});

vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), 'fencepost-jobs-'));
const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const zombie = readFileSync(join(root, 'fixtures/zombie-writer.yaml'), 'utf8');
/** The same scenario, but the claim that breaks is listed under `holds`. */
const wrong = zombie.replace(/breaks: \[.*\]/, 'holds: [grant-order]');

const textOf = (name: string): string => readFileSync(join(root, 'fixtures/fleet', name), 'utf8');

/** A folder for the PATH of containers. Its `fencepost` only exits with `CODE` if that is set. */
const bin = join(folder, 'bin');
const cli = join(root, 'dist/cli.js');

beforeAll(() => {
  mkdirSync(bin);
  const lines = ['#!/bin/sh', '[ -z "$CODE" ] || exit $CODE', `exec node '${cli}' "$@"`, ''];
  writeFileSync(join(bin, 'fencepost'), lines.join('\n'), { mode: 0o755 });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs shell commands. Returns their output. */
function printed(commands: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', commands], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout;
}

/** Throws if the text is ambiguous, for example because of a duplicate key. */
function jobOf(name: string, text: string = textOf(name)): Job {
  return parse(text, { strict: true, uniqueKeys: true });
}

const jobs = ['indexed-job.yaml', 'merge-job.yaml'] as const;

describe('the Kubernetes Jobs of a fleet', () => {
  test('share a folder, scenarios and an image, and get a new name each time', () => {
    const [shards, merge] = jobs.map((name) => jobOf(name));
    const [shard, merger] = [shards, merge].map((job) => job?.spec.template.spec);
    expect(merger?.volumes).toEqual(shard?.volumes);
    const [of, from] = [shard?.containers[0], merger?.containers[0]];
    expect([from?.volumeMounts, from?.env, from?.image]).toEqual([
      of?.volumeMounts,
      of?.env,
      `example.com/fencepost:${version}`,
    ]);
    expect(of?.image).toBe(from?.image);
    expect(parse(textOf('claim.yaml'))).toMatchObject({
      metadata: { name: 'fencepost-reports' },
      spec: { accessModes: ['ReadWriteMany'] },
    });
    expect(JSON.stringify(shard?.volumes)).toContain('"claimName":"fencepost-reports"');
    const [, configMap] = /configmap (\S+) --from-file scenarios/.exec(textOf(jobs[0])) ?? [];
    expect(JSON.stringify(shard?.volumes)).toContain(`"configMap":{"name":"${configMap}"}`);
    for (const { metadata } of [shards, merge].flatMap((job) => job ?? [])) {
      expect(Object.keys(metadata)).toEqual(['generateName']);
    }
  });

  test('have as many cores as threads, and do not retry bad input', () => {
    const { spec } = jobOf('indexed-job.yaml');
    const [{ name, command, resources }] = spec.template.spec.containers;
    const [, threads] = /--workers (\d+)/.exec(command.join(' ')) ?? [];
    expect([resources.requests.cpu, resources.limits.cpu]).toEqual([threads, threads]);
    expect(spec.podFailurePolicy.rules).toEqual([
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
      { action: 'FailIndex', onExitCodes: { containerName: name, operator: 'In', values: [2] } },
    ]);
  });

  test.each([
    ['0 if all expectations are met', zombie, 0],
    ['1 if a `holds` claim broke', wrong, 1],
  ])('end with the code of the sweep: %s; no shard fails', (_, scenario, code) => {
    const cluster = new Cluster(`cluster-${code}`, scenario);
    for (let index = 0; index < SHARDS; index += 1) {
      const shard = cluster.run('indexed-job.yaml', index);
      expect(shard.code, shard.said).toBe(0);
    }
    const merged = cluster.run('merge-job.yaml', null);
    expect(merged.code, merged.said).toBe(code);
    expect(readdirSync(join(cluster.claim, '0'))).toContain('zombie-writer.html');
  });

  test('end with 5 if a shard is missing; a shard with bad input ends with 2', () => {
    const cluster = new Cluster('cluster-missing', zombie);
    expect(cluster.run('indexed-job.yaml', 1).code).toBe(0);
    expect(cluster.run('merge-job.yaml', null).code).toBe(5);
    const bad = new Cluster('cluster-bad', 'name: nothing\n');
    expect(bad.run('indexed-job.yaml', 0).code).toBe(2);
  });

  test('fail a shard that ended without a result, and no other', () => {
    const codes = [0, 1, 2, 3, 4, 5, 130, 137].map((code): [number, number | null] => {
      const cluster = new Cluster(`cluster-ends-${code}`, zombie);
      return [code, cluster.run('indexed-job.yaml', 0, `${code}`).code];
    });
    const failed = codes.filter(([, code]) => code !== 0);
    expect(failed).toEqual([2, 3, 130, 137].map((code) => [code, code]));
  });

  test('examine other seeds each night with the documented command', () => {
    const [, sed = ''] = /`(sed .*?)` over both Jobs/.exec(textOf('indexed-job.yaml')) ?? [];
    const today = Math.floor(Date.now() / 86_400_000);
    for (const name of jobs) {
      const out = printed(`${sed} '${join(root, 'fixtures/fleet', name)}'`);
      const [{ env }] = jobOf(name, out).spec.template.spec.containers;
      expect([today, today + 1]).toContain(Number(env[0]?.value));
    }
    const [{ command }] = jobOf('indexed-job.yaml').spec.template.spec.containers;
    const [, seeds = ''] = /--seeds (".*?") --shard/.exec(command.join(' ')) ?? [];
    const rangeOf = (night: number): { from: number; to: number } =>
      parseSeeds(printed(`NIGHT=${night}; printf %s ${seeds}`));
    expect(rangeOf(0)).toEqual({ from: 0, to: 99_999_999 });
    expect(rangeOf(today + 1).from).toBe(rangeOf(today).to + 1);
    const [, night = ''] = /`(NIGHT=.*?);` instead/.exec(textOf('indexed-job.yaml')) ?? [];
    expect([today, today + 1]).toContain(Number(printed(`${night}; echo $NIGHT`)));
  });
});

const SHARDS = 3;

/** Runs containers of Jobs. A ConfigMap is mounted as links, a claim as one folder for all. */
class Cluster {
  readonly claim: string;
  private readonly name: string;
  private readonly scenario: string;

  constructor(name: string, scenario: string) {
    this.name = name;
    this.scenario = scenario;
    this.claim = join(folder, name, 'claim');
    mkdirSync(this.claim, { recursive: true });
  }

  run(file: string, index: number | null, code = ''): { code: number | null; said: string } {
    const [container] = jobOf(file).spec.template.spec.containers;
    const work = join(folder, this.name, `${container.name}-${index ?? 0}`);
    mkdirSync(work);
    const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
    const env: NodeJS.ProcessEnv = { ...process.env, PATH, NO_COLOR: '1', CODE: code };
    expect(container.workingDir).toBe('/work');
    for (const { name, mountPath } of container.volumeMounts) this.mount(name, work, mountPath);
    for (const { name, value } of container.env) env[name] = value;
    if (index !== null) env['JOB_COMPLETION_INDEX'] = `${index}`;
    const [program = '', ...args] = container.command.map(smaller);
    const ended = spawnSync(program, args, { cwd: work, env, encoding: 'utf8' });
    return { code: ended.status, said: ended.stdout + ended.stderr };
  }

  private mount(name: string, work: string, mountPath: string): void {
    const place = join(work, mountPath.replace(/^\/work\//, ''));
    if (name === 'reports') {
      symlinkSync(this.claim, place);
      return;
    }
    mkdirSync(join(place, '..2026_01_01'), { recursive: true });
    writeFileSync(join(place, '..2026_01_01/zombie-writer.yaml'), this.scenario);
    symlinkSync('..2026_01_01', join(place, '..data'));
    symlinkSync('..data/zombie-writer.yaml', join(place, 'zombie-writer.yaml'));
  }
}

/** The same command for fewer seeds, in fewer shards, on one thread. */
function smaller(text: string): string {
  return text
    .replaceAll('100000000', '60')
    .replaceAll('99999999', '59')
    .replace('/20" --workers 4', `/${SHARDS}" --workers 1`);
}
