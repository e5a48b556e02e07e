/**
 * `fencepost show`: what happens in a plan, or in one seed of a scenario, and how every claim
 * fares.
 */

import { explain } from '../check/explain.ts';
import type { Invalid, Verdict } from '../check/verdict.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { examineAsync } from '../host/async/examine-async.ts';
import { pinAsync } from '../host/async/run-async.ts';
import { deliveryLines } from '../report/deliveries.ts';
import type { Finding } from '../report/finding.ts';
import { findingDiagram, renderDiagram } from '../report/mermaid.ts';
import { renderSequence } from '../report/sequence-text.ts';
import { siblingLine } from '../report/sibling-text.ts';
import { essentialSteps, listSteps } from '../report/steps.ts';
import { digestOf } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { runSiblings } from '../search/corpus/siblings.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { paintFor } from '../text/colour.ts';
import { suggest } from '../text/problem.ts';
import { countOf } from '../text/prose.ts';
import { wrap } from '../text/visible.ts';
import { type Exit, exits, UserError } from './exit.ts';
import {
  isPlanFile,
  type LoadedPlan,
  loadPlan,
  loadScenarios,
  type ModuleOptions,
} from './files.ts';
import { noteChanges } from './note-changes.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface ShowOptions {
  /** With a scenario: which seed of which system; null takes the first system. */
  readonly seed: number;
  readonly system: string | null;
  /** Prints the plan, or with `pinned` the plan without chance, instead of what happens. */
  readonly plan: 'none' | 'drawn' | 'pinned';
  /** How what happens is shown: in columns, or as a diagram that other programs draw. */
  readonly format: 'text' | 'mermaid';
  /** Prints every event instead of those that matter. */
  readonly isVerbose: boolean;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly modules: ModuleOptions['modules'];
}

export async function showCommand(file: string, options: ShowOptions): Promise<Exit> {
  const terminal = openTerminal(options);
  const isPlan = isPlanFile(file);
  const loaded: Shown = isPlan
    ? await loadPlan(file, options)
    : await planOfScenario(file, options);
  const { plan, catalogue } = loaded;
  await prepare([plan.system], catalogue);
  if (isPlan) noteChanges(file, loaded.changedModules, terminal);
  if (options.plan !== 'none') {
    const shown = options.plan === 'pinned' ? await pinAsync(plan, catalogue) : plan;
    process.stdout.write(renderPlan(shown));
    return exits.met;
  }
  const expected = plan.expect === undefined ? [] : [plan.expect.claim];
  const judged = claimsJudged(expected, catalogue);
  const { trace, verdicts } = await examineAsync(plan, judged, catalogue);
  if (options.isJson) {
    for (const event of trace.events) {
      process.stdout.write(`${JSON.stringify({ type: 'event', version: 1, ...event })}\n`);
    }
    const { ending, unmatched } = trace;
    const head = { type: 'show', version: 1 };
    const last = { ...head, digest: digestOf(trace), ending, unmatched, verdicts };
    process.stdout.write(`${JSON.stringify(last)}\n`);
    return exits.met;
  }
  const broken = verdicts.flatMap((verdict) => (verdict.kind === 'invalid' ? [verdict] : []));
  if (options.format === 'mermaid') {
    process.stdout.write(`${diagramOf({ plan, trace }, broken[0])}\n`);
    return exits.met;
  }
  const evidence = broken[0]?.evidence ?? [];
  const list = options.isVerbose ? listSteps : essentialSteps;
  const steps = list(trace, { evidence, faults: plan.faults });
  const setting = { width: Math.min(terminal.width, 100), paint: paintFor(terminal.colour) };
  for (const line of renderSequence(steps, trace.processes, setting)) terminal.print(line);
  const last = trace.events.at(-1)?.atUs ?? 0;
  if (!options.isVerbose && (steps.at(-1)?.atUs ?? 0) < last) {
    terminal.print(`… the run goes on until ${proseDuration(last)}; -v shows every event`);
  }
  terminal.print('');
  const deliveries = deliveryLines(trace);
  if (deliveries.length > 0) {
    terminal.print('deliveries:');
    for (const line of deliveries) terminal.print(line);
    terminal.print('');
  }
  printVerdicts(verdicts, terminal);
  for (const name of trace.unmatched) terminal.print(`no match for ${name}`);
  for (const line of await siblingTexts(loaded, { trace, broken }, options)) terminal.print(line);
  terminal.print(`digest ${digestOf(trace)}`);
  return exits.met;
}

/** The diagram of what breaks, or of a run in which nothing does. */
function diagramOf({ plan, trace }: Pick<Finding, 'plan' | 'trace'>, verdict?: Invalid): string {
  if (verdict !== undefined) {
    return findingDiagram({ plan, trace, verdict, explanation: explain(trace, verdict) });
  }
  const title = `${plan.system.name} in ${plan.scenario}`;
  return renderDiagram(trace, { title, claim: null, evidence: [], faults: plan.faults });
}

/** What the siblings do with the plan of a scenario's first system; none where one was named. */
async function siblingTexts(
  { plan, catalogue, scenario }: Shown,
  { trace, broken }: { readonly trace: Trace; readonly broken: readonly Invalid[] },
  { system }: ShowOptions,
): Promise<readonly string[]> {
  const own = scenario?.systems.find(({ name }) => name === plan.system.name);
  const claim = own?.expect.breaks.find((name) => broken.some((verdict) => verdict.claim === name));
  if (scenario === undefined || claim === undefined || system !== null) return [];
  await prepare(scenario.systems, catalogue);
  const siblings = await runSiblings(scenario, { plan, claim }, catalogue);
  return siblings.map((sibling) => siblingLine(sibling, trace).text);
}

/** A line for each claim, and one for all whose hazard did not arise. */
function printVerdicts(verdicts: readonly Verdict[], terminal: Terminal): void {
  const isIdle = ({ kind, exercised }: Verdict): boolean => kind === 'valid' && exercised === 0;
  for (const verdict of verdicts) if (!isIdle(verdict)) printVerdict(verdict, terminal);
  const idle = verdicts.filter(isIdle).map(({ claim }) => claim);
  if (idle.length === 0) return;
  const lines = wrap(`not tested: ${idle.join(', ')}`, Math.min(terminal.width, 100) - 2);
  for (const [at, line] of lines.entries()) terminal.print(`${at === 0 ? '–' : ' '} ${line}`);
}

function printVerdict(verdict: Verdict, terminal: Terminal): void {
  const signs = { valid: '✓', invalid: '✗', unknown: '?' } as const;
  const words = { valid: 'holds', invalid: 'breaks', unknown: 'unknown' } as const;
  const { kind, claim, exercised } = verdict;
  const why = kind === 'unknown' ? `: ${verdict.reason}` : '';
  const times = `exercised ${countOf(exercised, 'time')}${why}`;
  terminal.print(`${signs[kind]} ${claim.padEnd(24)} ${words[kind].padEnd(10)} ${times}`);
}

/** What is shown, and the scenario that it was expanded from, if it was. */
interface Shown extends LoadedPlan {
  readonly scenario?: Scenario;
}

async function planOfScenario(file: string, options: ShowOptions): Promise<Shown> {
  const [loaded] = await loadScenarios([file], options);
  const systems = loaded?.scenario.systems ?? [];
  const system = systems.find(({ name }) => name === options.system) ?? systems[0];
  if (loaded === undefined || system === undefined) throw new UserError([`${file}: no system`]);
  if (options.system !== null && system.name !== options.system) {
    const hint = suggest(
      options.system,
      systems.map(({ name }) => name),
    );
    throw new UserError([`${file}: unknown system "${options.system}"${hint}`]);
  }
  const plan = expand(loaded.scenario, system.name, options.seed);
  const { scenario, catalogue } = loaded;
  return { plan, catalogue, changedModules: [], scenario };
}
