/** Laws of the README's table of array jobs: on each system the parts are all there, once each. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseShard } from '../src/commands/seeds.ts';
import { rangeOfShard } from '../src/sweep/shard.ts';

const PARTS = 20;
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const table = /\| where \| `--shard` of the part \|\n[|-]+\n((?:\|.*\n)+)/.exec(readme)?.[1] ?? '';
const rows = [...table.matchAll(/^\| ([A-Za-z ]+)[^|]*\| `(\$[^`]+)` \|$/gm)].map(
  ([, where = '', shard = '']): [string, string] => [where.trim(), shard],
);

/** As each system documents its variables: the first index, and the variables of one part. */
const systems: Readonly<Record<string, [first: number, index: string, count: string | null]>> = {
  Kubernetes: [0, 'JOB_COMPLETION_INDEX', null],
  'AWS Batch': [0, 'AWS_BATCH_JOB_ARRAY_INDEX', 'AWS_BATCH_JOB_ARRAY_SIZE'],
  Slurm: [1, 'SLURM_ARRAY_TASK_ID', 'SLURM_ARRAY_TASK_COUNT'],
  'GitLab CI': [1, 'CI_NODE_INDEX', 'CI_NODE_TOTAL'],
  CircleCI: [0, 'CIRCLE_NODE_INDEX', 'CIRCLE_NODE_TOTAL'],
  Buildkite: [0, 'BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT'],
};

describe('array jobs', () => {
  test('are of the systems whose variables are known here', () => {
    expect(rows.map(([where]) => where).sort()).toEqual(Object.keys(systems).sort());
  });

  test.each(rows)('on %s examine every seed once, by `--shard %s`', (where, shard) => {
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
