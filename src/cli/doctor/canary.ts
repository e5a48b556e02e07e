/**
 * The canary runs `fencepost run` on a system that must break and on its cure. The scenario
 * declares that both hold. The pipeline (sweep, judge, shrink, report, replay) must report the
 * first system and not the second. Each stage is checked separately and from the outside, by its
 * output.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Check, ok, problem } from './check.ts';

interface CanaryOptions {
  /** The script of the command line to check. */
  readonly cli: string;
  /** The scenario, with the systems `unfenced` and `fenced`. */
  readonly scenario: string;
  readonly workers: number;
}

/** Seeds per system. About one seed in ten has a pause that breaks the claim. */
export const CANARY_SEEDS = 200;

/** Runs the canary in a temporary folder. Returns one check per stage, in order. */
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

/** Time limit per command. A pipeline that hangs detects nothing. */
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

/** The result of a command. `code` is null if it was killed. */
interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CanaryEvidence {
  /** The number of seeds requested per system. */
  readonly seeds: number;
  readonly run: Ended;
  /** The output of `--reporter json`, or null if there is none. */
  readonly report: string | null;
  readonly pages: readonly string[];
  readonly plan: string | null;
  /** The replay of `plan`. `cured` is its replay with the store that cures the failure. */
  readonly replay: Ended | null;
  readonly cured: Ended | null;
}

const count = z.number();

const system = z.object({
  name: z.string(),
  met: z.boolean().nullable(),
  seeds: count,
  claims: z.record(z.string(), z.object({ broken: count, exercised: count })),
  counterexample: z
    .object({ clients: count, faults: count, events: count, originalEvents: count, chance: count })
    .extend({ digest: z.string() })
    .nullable(),
});

const report = z.object({
  summary: z.object({ scenarios: z.tuple([z.object({ systems: z.array(system) })]) }),
});

type System = z.infer<typeof system>;

const CLAIM = 'grant-order';
const FIX = 'do not trust this copy: install fencepost again, or report it';

/** Returns a check per stage, in order. All are `ok` if the canary was detected. */
export function judgeCanary(evidence: CanaryEvidence): readonly Check[] {
  const systems = systemsIn(evidence.report);
  const broken = systems.find(({ name }) => name === 'unfenced');
  const cured = systems.find(({ name }) => name === 'fenced');
  return [
    checkAlarm(evidence),
    checkBroken(evidence, broken),
    checkCure(evidence, cured),
    checkShrunk(broken),
    checkReports(evidence),
    checkReplay(evidence, broken),
    checkCuredReplay(evidence),
  ];
}

function systemsIn(text: string | null): readonly System[] {
  try {
    return report.parse(JSON.parse(text ?? '')).summary.scenarios[0].systems;
  } catch {
    return [];
  }
}

function judge(name: string, isSeen: boolean, seen: string, missed: string): Check {
  return isSeen ? ok(`canary-${name}`, seen) : problem(`canary-${name}`, missed, FIX);
}

function checkAlarm({ run }: CanaryEvidence): Check {
  const [line = ''] = run.err.trim().split('\n').slice(-1);
  const missed = `a run with a failure exits with ${run.code ?? 'a signal'}, not with 1: ${line}`;
  return judge('alarm', run.code === 1, 'a run with a failure exits with 1', missed);
}

function checkBroken({ seeds }: CanaryEvidence, found: System | undefined): Check {
  const broken = found?.claims[CLAIM]?.broken ?? 0;
  const isSeen = found?.met === false && found.seeds === seeds && broken > 0;
  const result = `unfenced broke ${CLAIM} on ${broken} of ${found?.seeds ?? 0} seeds`;
  return judge('sweep', isSeen, result, `${result}, and counts as ${verdictOf(found)}`);
}

function checkCure({ seeds }: CanaryEvidence, found: System | undefined): Check {
  const { broken = 0, exercised = 0 } = found?.claims[CLAIM] ?? {};
  const isSeen = found?.met === true && found.seeds === seeds && broken === 0 && exercised > 0;
  const seen = `${CLAIM} held on ${seeds} seeds with the cure, fenced (exercised on ${exercised})`;
  const missed = `fenced broke ${CLAIM} on ${broken} of ${found?.seeds ?? 0} seeds`;
  return judge('cure', isSeen, seen, `${missed}, and counts as ${verdictOf(found)}`);
}

function verdictOf(found: System | undefined): string {
  if (found === undefined || found.met === null) return 'not judged';
  return found.met ? 'holding' : 'broken';
}

function checkShrunk(found: System | undefined): Check {
  const size = found?.counterexample ?? null;
  if (size === null) return judge('shrink', false, '', 'no counterexample was shrunk');
  const { clients, faults, events, originalEvents, chance } = size;
  const isSmall = clients === 2 && faults === 1 && chance === 0 && events < originalEvents;
  const sizeText = `${originalEvents} → ${events} events, ${clients} clients and ${faults} fault`;
  return judge('shrink', isSmall, `shrunk ${sizeText}`, `shrunk ${sizeText}: not small`);
}

function checkReports({ run, pages }: CanaryEvidence): Check {
  const words = ['Stale write accepted', 'Let A be', 'However', 'paused', 'replay: '];
  const missing = words.filter((word) => !run.out.includes(word));
  const isDrawn = pages.some((page) => page.includes('<svg') && page.includes('Stale write'));
  const lacks = missing.map((word) => `text without "${word}"`);
  if (!isDrawn) lacks.push('no page');
  const seen = 'the failure is described in text and on a page';
  return judge('report', lacks.length === 0, seen, `not reported: ${lacks.join(', ')}`);
}

const replayed = z.object({ outcome: z.string(), digest: z.string() });

function outcomeOf(ended: Ended | null): z.infer<typeof replayed> {
  try {
    return replayed.parse(JSON.parse(ended?.out ?? ''));
  } catch {
    return { outcome: 'not replayed', digest: '' };
  }
}

function checkReplay({ replay }: CanaryEvidence, found: System | undefined): Check {
  const { outcome, digest } = outcomeOf(replay);
  const isSame = digest !== '' && digest === found?.counterexample?.digest;
  const isSeen = replay?.code === 0 && outcome === 'reproduced' && isSame;
  const seen = 'replayed from its file: reproduced, with the same digest';
  const missed = `replayed from its file: ${outcome}, same digest: ${isSame}`;
  return judge('replay', isSeen, seen, missed);
}

function checkCuredReplay({ cured }: CanaryEvidence): Check {
  const { outcome } = outcomeOf(cured);
  const seen = 'the same plan with the cure: fixed';
  // The plan expects `reproduced`, so a replay with the outcome `fixed` exits with 1.
  const isSeen = cured?.code === 1 && outcome === 'fixed';
  return judge('fixed', isSeen, seen, `the same plan with the cure: ${outcome}`);
}
