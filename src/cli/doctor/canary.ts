/**
 * The canary: `fencepost run` of a system that must break and of its cure, both said to hold. A
 * pipeline that sweeps, judges, shrinks, reports and replays must raise the alarm for the one and
 * not for the other; each stage is looked at by itself, from outside, by what it wrote.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CanaryEvidence, type Ended, judgeCanary } from './canary-judge.ts';
import type { Check } from './check.ts';

export interface CanaryOptions {
  /** The script of the command line that is looked at. */
  readonly cli: string;
  /** The scenario, whose systems are `unfenced` and `fenced`. */
  readonly scenario: string;
  /** Worker threads. */
  readonly workers: number;
}

/** Seeds of each system: a pause that breaks the claim comes about once in ten. */
export const CANARY_SEEDS = 200;

/** Runs it in a temporary folder, which is deleted again; a check a stage, in their order. */
export async function runCanary(options: CanaryOptions): Promise<readonly Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-canary-'));
  try {
    return judgeCanary(await gather(options, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PLAN = 'canary-unfenced-grant-order.yaml';
const CURED = 'cured.yaml';

async function gather(options: CanaryOptions, folder: string): Promise<CanaryEvidence> {
  const { cli, scenario, workers } = options;
  const asked = ['--seeds', String(CANARY_SEEDS), '--workers', String(workers)];
  const output = ['--output', folder, '--reporter', 'text,html,json'];
  const run = await call(cli, ['run', scenario, ...asked, ...output]);
  const plan = textOf(folder, PLAN);
  const replay = plan === null ? null : await call(cli, ['replay', join(folder, PLAN), '--json']);
  const cured = plan === null ? null : await replayCured(cli, folder, plan);
  return {
    seeds: CANARY_SEEDS,
    run,
    report: textOf(folder, 'report.json'),
    pages: readdirSync(folder)
      .filter((name) => name.endsWith('.html'))
      .map((name) => textOf(folder, name) ?? ''),
    plan,
    replay,
    cured,
  };
}

/** The shrunk plan over the store that cures it. */
async function replayCured(cli: string, folder: string, plan: string): Promise<Ended> {
  writeFileSync(join(folder, CURED), plan.replace(/\bstore: unfenced\b/, 'store: fenced'));
  return await call(cli, ['replay', join(folder, CURED), '--json']);
}

function textOf(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return null;
  }
}

/** A pipeline that hangs is one that sees nothing. */
const LIMIT_MS = 180_000;
const MOST_BYTES = 50_000_000;

function call(cli: string, args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1' };
  const options = { env, timeout: LIMIT_MS, maxBuffer: MOST_BYTES } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], options, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, out, err });
    });
  });
}
