/**
 * Manages the kept plans of a test, in `__fencepost__/<test file>/` beside the test. Files change
 * only on request. A kept plan fails the test if it breaks a claim that should hold, or if it no
 * longer exercises its claim.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { amendedText, renamedPlan } from '../../core/plan/amend.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { wordsOf } from '../../load.ts';
import { whyRefused } from '../../run.ts';
import { planWordFindings } from '../../scenario/build-systems.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import type { Finding } from '../../search/campaign/result.ts';
import type { KeptPlan } from '../../search/campaign/setting.ts';
import { type KeptReplay, replayKept } from '../../search/corpus/kept-replay.ts';
import { idOf, signatureOf } from '../../search/corpus/signature.ts';
import { changeAtomically, createAtomically } from '../../search/corpus/write-atomically.ts';
import { renderProblem } from '../../text/problem.ts';
import { shellWords } from '../../text/prose.ts';
import {
  asShrunk,
  findingOf,
  keptBlock,
  keptText,
  sequenceLines,
  verdictLine,
} from './failure-block.ts';
import type { SimRun } from './sim-run.ts';
import {
  commandWith,
  corpusFolderOf,
  ScenarioCheckFailed,
  TestRefused,
  typedPath,
} from './test-place.ts';
import { namedInTest } from './watchdog.ts';

/** The kept plans of a test. Each is read on demand and judged after its replay. */
export class KeptPlans {
  private readonly run: SimRun;
  private readonly plans: Map<string, KeptTestPlan> = new Map();
  /** Claims that a kept plan broke as expected, as `<system> <claim>`. */
  private readonly broken: Set<string> = new Set();

  constructor(run: SimRun) {
    this.run = run;
  }

  /**
   * Reads the plans. If this test cannot run a plan, deletes it on request, and otherwise throws a
   * `ScenarioCheckFailed`.
   */
  *read(): Generator<KeptPlan> {
    for (const kept of keptPlansOf(this.run)) {
      const why = whyUnrunnable(kept, this.run);
      if (why !== null) {
        stale(kept, this.run, why);
        continue;
      }
      this.plans.set(kept.file, kept);
      const { file, plan } = kept;
      const { catalogue } = this.run;
      yield { kind: 'plan', file, plan, catalogue, hasChanged: true, moduleChanges: [] };
    }
  }

  /** Throws a `ScenarioCheckFailed` if the plan breaks a claim that should hold, or is stale. */
  async judge({ file, kind }: KeptPlan, replay: KeptReplay | null): Promise<void> {
    const kept = this.plans.get(file);
    if (kind === 'damaged' || kept === undefined || replay === null) return;
    const result = await judgeReplay(kept, replay, this.run);
    if (result !== null) this.broken.add(`${kept.plan.system.name} ${result.claim}`);
  }

  /** Returns true if a kept plan broke a claim that should break. */
  broke(system: string, claim: string): boolean {
    return this.broken.has(`${system} ${claim}`);
  }
}

/** Replays and judges a plan. Resolves to null if it broke nothing. */
async function replayOne(kept: KeptTestPlan, run: SimRun): Promise<KeptReplay | null> {
  const why = whyUnrunnable(kept, run);
  if (why !== null) return stale(kept, run, why);
  const typed = typedPath(kept.file);
  const named = { what: `kept plan ${typed}`, setting: `FENCEPOST_REPLAY=${typed}` };
  const options = { catalogue: run.catalogue, hasChanged: true };
  const replay = (): Promise<KeptReplay> => replayKept(kept.plan, options);
  return await judgeReplay(kept, await namedInTest(run.place, named, replay), run);
}

/**
 * Judges a replay. Throws if the plan is stale or breaks a claim that should hold. Resolves to null
 * if it broke nothing.
 */
async function judgeReplay(
  kept: KeptTestPlan,
  result: KeptReplay,
  run: SimRun,
): Promise<KeptReplay | null> {
  const { plan, file } = kept;
  const { claim, outcome, trace, difference } = result;
  if (trace.ending.kind === 'failed') {
    const { process, error } = trace.ending;
    const text = `✗ kept plan ${typedPath(file)} failed to run: ${process}: ${error}`;
    throw new ScenarioCheckFailed([text], run.mistakes.find(error));
  }
  if (difference !== null) {
    throw new ScenarioCheckFailed([
      `✗ kept plan ${typedPath(file)} is not deterministic: ${difference}`,
    ]);
  }
  const expect = run.systems.find(({ name }) => name === plan.system.name)?.expect;
  if (result.otherCause !== null) {
    const clause = result.outcome === 'reproduced' ? 'breaks' : 'a similar plan breaks';
    const how = `${clause} ${result.claim}, but by another cause: ${result.otherCause}`;
    run.print(`fencepost: ${typedPath(file)}: ${how}`);
  }
  keepClose(kept, result, run);
  if (outcome === 'reproduced') {
    if (expect?.holds.includes(claim) !== true) return result;
    const finding = await findingOf(asShrunk(result.plan, claim), run);
    const breaks = `✗ kept plan ${typedPath(file)} breaks ${claim}`;
    throw new ScenarioCheckFailed([finding === null ? breaks : keptBlock(finding, run, file)]);
  }
  if (outcome === 'diverged' && run.requests.isUpdate && result.lost?.rename != null) {
    const plan = renamedPlan(kept.plan, [result.lost.rename]);
    const text = amendedText(kept.text, kept.plan, plan);
    if (changed(kept, text)) run.print(`fencepost: changed ${typedPath(file)}`);
    return await replayOne({ ...kept, plan, text }, run);
  }
  const isGuard = outcome === 'fixed' && expect?.breaks.includes(claim) !== true;
  if (isGuard || outcome === plan.expect?.outcome) return null;
  return stale(kept, run, `it is ${outcome}: ${meaningOf(result)}`);
}

/** Prints the changes that a plan needed to reproduce, or writes them to its file on request. */
function keepClose(kept: KeptTestPlan, { plan, changes }: KeptReplay, run: SimRun): void {
  if (changes.length === 0) return;
  const name = typedPath(kept.file);
  if (!run.requests.isUpdate) {
    run.print(
      `fencepost: ${name} reproduced with ${changes.join(', ')}; keep it: FENCEPOST_UPDATE=1`,
    );
  } else if (changed(kept, amendedText(kept.text, kept.plan, plan))) {
    run.print(`fencepost: changed ${name}`);
  }
}

function meaningOf({ outcome, claim, divergedAt, lost }: KeptReplay): string {
  if (outcome === 'fixed') return `${claim} held but should break`;
  if (outcome === 'inert') return `the hazard of ${claim} no longer arises`;
  const { rename, nearest = [] } = lost ?? {};
  const now = rename?.to ?? nearest.join(', ');
  const hint = now === '' ? '' : `; is it called ${now} now?`;
  return `no match for ${divergedAt}${hint}`;
}

/** Deletes a plan that guards nothing, if requested; otherwise fails the test. */
function stale(kept: KeptTestPlan, run: SimRun, why: string): null {
  if (run.requests.isUpdate && run.requests.planFile === null) {
    if (changed(kept, null)) run.print(`fencepost: removed ${typedPath(kept.file)}`);
    return null;
  }
  const command = shellWords(commandWith('FENCEPOST_UPDATE=1', run.place)).join(' ');
  throw new ScenarioCheckFailed([
    `✗ kept plan ${typedPath(kept.file)} no longer tests anything`,
    `  ${why}`,
    'to remove it, and keep new failures instead:',
    command,
  ]);
}

/** Replays a single file and prints the run. Resolves to false if it belongs to another test. */
export async function replayWished(file: string, run: SimRun): Promise<boolean> {
  const kept = readKept(file);
  if (!isOf(run, kept)) return false;
  if (whyUnrunnable(kept, run) === null) {
    const { trace, verdict, outcome } = await replayKept(kept.plan, {
      catalogue: run.catalogue,
      hasChanged: true,
    });
    const lines = sequenceLines(trace, verdict);
    run.print([...lines, '', `${outcome}: ${verdictLine(verdict)}`].join('\n'));
  }
  await replayOne(kept, run);
  return true;
}

interface KeptTestPlan {
  readonly file: string;
  readonly text: string;
  readonly plan: Plan;
}

function keptPlansOf(run: SimRun): readonly KeptTestPlan[] {
  const folder = corpusFolderOf(run.place);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^[^.].*\.yaml$/.test(name));
  return names.sort().flatMap((name) => {
    const kept = readKept(join(folder, name));
    return isOf(run, kept) ? [kept] : [];
  });
}

/** Returns true if a plan belongs to this test and not to another one of the same scenario. */
function isOf({ scenario, systems }: SimRun, { plan }: KeptTestPlan): boolean {
  const isNamed = ({ name }: SystemScenario): boolean => name === plan.system.name;
  if (plan.scenario !== scenario.name) return false;
  return systems.some(isNamed) || !scenario.systems.some(isNamed);
}

function readKept(path: string): KeptTestPlan {
  const file = resolve(path);
  const typed = typedPath(file);
  if (!existsSync(file)) throw new TestRefused([`${typed}: there is no such file`]);
  const text = readFileSync(file, 'utf8');
  const read = readPlan({ file: typed, text });
  if (read.kind === 'problems') throw new TestRefused(read.problems.map(renderProblem));
  return { file, text, plan: read.plan };
}

function whyUnrunnable({ plan }: KeptTestPlan, { systems, catalogue }: SimRun): string | null {
  const { name } = plan.system;
  if (!systems.some((system) => system.name === name)) return `the test has no system "${name}"`;
  const [unknown] = planWordFindings(plan, wordsOf(catalogue));
  return unknown?.what ?? whyRefused(plan, catalogue);
}

/**
 * Writes the plan of a finding and returns its file. Replaces the kept plan of the same kind of
 * failure, if there is one.
 */
export function keep(finding: Finding, run: SimRun): string {
  const id = idOf(signatureOf(finding.plan, finding.verdict));
  const claim = finding.claim.replace(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^-+|-+$/g, '');
  const file = join(corpusFolderOf(run.place), `${run.slug}-${claim}-${id}.yaml`);
  const text = keptText(finding, run, file);
  mkdirSync(dirname(file), { recursive: true });
  if (createAtomically(file, text)) run.print(`fencepost: wrote ${typedPath(file)}`);
  else if (changed({ file, text: readFileSync(file, 'utf8') }, text)) {
    run.print(`fencepost: changed ${typedPath(file)}`);
  }
  return file;
}

/** Writes `after` to the file, or deletes the file if null. Returns false if nothing changes. */
function changed(
  { file, text }: Pick<KeptTestPlan, 'file' | 'text'>,
  after: string | null,
): boolean {
  if (text === after) return false;
  const change = changeAtomically(file, text, after);
  if (change.kind === 'done') return true;
  const why =
    change.kind === 'changed' ? 'another process changed it' : `${change.by} holds its lock file`;
  throw new TestRefused([`${typedPath(file)}: not changed: ${why}`]);
}
