/** `fencepost show` prints the events of a plan or of one seed of a scenario, and every verdict. */
import { type Command, Option } from 'commander';
import { waitPhrase } from '../check/phrases.ts';
import type { Invalid, Verdict } from '../check/verdict.ts';
import type { SectionRun, Trace } from '../core/history/trace.ts';
import { addTo } from '../core/kernel/entries.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { failureText } from '../core/world/failure.ts';
import { examineAsync, pinAsync } from '../host/async/run-async.ts';
import { deliveryLines } from '../report/deliveries.ts';
import { storyOf } from '../report/failure.ts';
import { findingDiagram, renderDiagram } from '../report/mermaid.ts';
import { renderSequence } from '../report/sequence-text.ts';
import { siblingLine } from '../report/sibling-text.ts';
import { listSteps } from '../report/steps.ts';
import { essentialSteps } from '../report/story-steps.ts';
import { digestOf } from '../run.ts';
import { expand } from '../scenario/expand.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import type { Finding } from '../search/campaign/result.ts';
import { runSiblings } from '../search/corpus/replay.ts';
import { explainRun } from '../search/evidence/explain-plan.ts';
import type { ExplainedBreach } from '../search/evidence/explain-run.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import { unsimulatedText } from '../search/sweep/unsimulated.ts';
import { paintFor } from '../text/colour.ts';
import { countOf } from '../text/prose.ts';
import { wrap } from '../text/visible.ts';
import {
  addModuleOptions,
  type Done,
  type OutputFlags,
  outputOptions,
  parseCount,
  withExample,
} from './command.ts';
import { UserError } from './exit.ts';
import { showPoints, systemNamed } from './show-points.ts';
import { isPlanFile, type LoadedPlan, loadPlan, loadScenarios } from './sources.ts';
import { noteChanges, openTerminal, type Terminal } from './terminal.ts';

interface ShowFlags extends OutputFlags {
  /** Seed of a scenario. Not used for a plan. */
  readonly seed: string;
  readonly system?: string;
  readonly plan?: 'drawn' | 'pinned';
  readonly format: 'text' | 'mermaid';
  /** Lists the points of `system`, or of all systems, instead of running anything. */
  readonly points?: boolean;
  readonly modules?: string | false;
}

export function addShow(command: Command, done: Done): void {
  addModuleOptions(withExample(command, 'show six-steps --system fenced'))
    .option('--seed <S>', 'seed of the scenario', '0')
    .option('--system <name>', 'system of the scenario (default: the first)')
    .addOption(
      new Option('--plan <kind>', 'print the plan instead of the run').choices(['drawn', 'pinned']),
    )
    .addOption(
      new Option('--format <kind>', 'print columns, or a diagram')
        .choices(['text', 'mermaid'])
        .default('text')
        .conflicts(['json', 'plan']),
    )
    .addOption(
      new Option('--points', 'list the points at which a fault can be injected').conflicts([
        'format',
        'plan',
      ]),
    )
    .option('--json', 'print each event or point as a JSON line')
    .option('-v, --verbose', 'print every event')
    .action(async (file: string, flags: ShowFlags) => done(await show(file, flags)));
}

async function show(file: string, flags: ShowFlags): Promise<Exit> {
  const seed = parseCount(flags.seed, '--seed');
  const terminal = openTerminal(outputOptions(flags));
  if (flags.points === true) {
    const { system, modules = null, json } = flags;
    await showPoints({ file, seed, system, modules, isJson: json === true }, terminal);
    return exits.met;
  }
  const isPlan = isPlanFile(file);
  const loaded: Shown = isPlan
    ? await loadPlan(file, { modules: flags.modules ?? null })
    : await planOfScenario(file, seed, flags);
  const { plan, catalogue } = loaded;
  if (isPlan) noteChanges(file, loaded, terminal);
  if (flags.plan !== undefined) {
    const shown = flags.plan === 'pinned' ? await pinAsync(plan, catalogue) : plan;
    process.stdout.write(renderPlan(shown));
    return exits.met;
  }
  const expected = plan.expect === undefined ? [] : [plan.expect.claim];
  const examined = await examineAsync(plan, claimsJudged(expected, catalogue), catalogue);
  if (flags.json === true) printJson(examined, terminal);
  else if (flags.format === 'mermaid') {
    const explained = await verdictText(loaded, examined);
    const diagram = diagramOf({ plan, trace: examined.trace }, explained);
    process.stdout.write(`${diagram}\n`);
  } else await printText(loaded, examined, flags, terminal);
  return examined.trace.ending.kind === 'failed' ? exits.failed : exits.met;
}

type ExaminedPlan = Awaited<ReturnType<typeof examineAsync>>;

function brokenIn({ verdicts }: Pick<ExaminedPlan, 'verdicts'>): readonly Invalid[] {
  return verdicts.flatMap((verdict) => (verdict.kind === 'invalid' ? [verdict] : []));
}

function printJson({ trace, verdicts }: ExaminedPlan, terminal: Terminal): void {
  for (const event of trace.events) terminal.printJson('event', event);
  const { ending, unmatched, unsimulated } = trace;
  const sections = (trace.sections ?? []).map(({ section, beganUs, end }) => {
    const atUs = end.kind === 'open' ? null : end.atUs;
    const isUnguarded = end.kind === 'returned' && end.isUnguarded;
    const error = end.kind === 'failed' ? end.error.text : null;
    const wait = end.kind === 'open' ? end.wait : null;
    const place = end.kind === 'failed' ? end.error.place : (wait?.place ?? null);
    const sinceUs = wait?.sinceUs ?? null;
    return { section, beganUs, end: end.kind, atUs, isUnguarded, error, sinceUs, place };
  });
  const output = trace.output === undefined ? {} : { output: trace.output };
  const digest = digestOf(trace);
  const refused = unsimulated === undefined ? {} : { unsimulated };
  terminal.printJson('show', {
    digest,
    ending,
    unmatched,
    sections,
    verdicts,
    ...output,
    ...refused,
  });
}

async function printText(
  loaded: Shown,
  { trace, verdicts }: ExaminedPlan,
  flags: ShowFlags,
  terminal: Terminal,
): Promise<void> {
  const broken = brokenIn({ verdicts });
  const isVerbose = flags.verbose === true;
  const evidence = broken[0]?.evidence ?? [];
  const list = isVerbose ? listSteps : essentialSteps;
  const steps = list(trace, { evidence });
  const setting = { width: Math.min(terminal.width, 100), paint: paintFor(terminal.colour) };
  for (const line of renderSequence(steps, trace.processes, setting)) terminal.print(line);
  const last = trace.events.at(-1)?.atUs ?? 0;
  if (!isVerbose && (steps.at(-1)?.atUs ?? 0) < last) {
    terminal.print(`… the run continues until ${proseDuration(last)}; -v prints every event`);
  }
  terminal.print('');
  const deliveries = deliveryLines(trace);
  if (deliveries.length > 0) {
    for (const line of ['deliveries:', ...deliveries, '']) terminal.print(line);
  }
  const { ending } = trace;
  const hasFailed = ending.kind === 'failed';
  if (hasFailed) terminal.print(`✗ failed: ${failureText(ending)}`);
  // If the run failed, unknown verdicts would only repeat the failure.
  printVerdicts(hasFailed ? brokenIn({ verdicts }) : verdicts, terminal);
  const explained = await verdictText(loaded, { trace, verdicts });
  const story = explained === null ? [] : storyOf(explained.explanation);
  for (const line of story.flatMap((part) => wrap(part, setting.width))) terminal.print(line);
  printSectionEnds(trace, terminal);
  const { unsimulated: found } = trace;
  if (found !== undefined) terminal.print(`! ${unsimulatedText({ found })}`);
  if (trace.output !== undefined) terminal.print('printed:');
  for (const line of trace.output ?? []) terminal.print(`  ${line}`);
  for (const name of trace.unmatched) terminal.print(`no match for ${name}`);
  for (const line of await siblingTexts(loaded, { trace, broken }, flags)) terminal.print(line);
  terminal.print(`digest ${digestOf(trace)}`);
}

/** Explains the breach of the first broken claim. Resolves to null if no claim broke. */
async function verdictText(
  { plan, catalogue }: Shown,
  examined: Pick<ExaminedPlan, 'trace' | 'verdicts'>,
): Promise<(ExplainedBreach & { readonly verdict: Invalid }) | null> {
  const [verdict] = brokenIn(examined);
  if (verdict === undefined) return null;
  const { trace } = examined;
  return { verdict, ...(await explainRun({ plan, trace, verdict }, { catalogue })) };
}

function diagramOf(
  { plan, trace }: Pick<Finding, 'plan' | 'trace'>,
  explained: (ExplainedBreach & { readonly verdict: Invalid }) | null,
): string {
  if (explained !== null) return findingDiagram({ plan, trace, ...explained });
  const title = `${plan.system.name} in ${plan.scenario}`;
  return renderDiagram(trace, { title, claim: null, evidence: [] });
}

async function siblingTexts(
  { plan, catalogue, scenario }: Shown,
  { trace, broken }: { readonly trace: Trace; readonly broken: readonly Invalid[] },
  { system }: ShowFlags,
): Promise<readonly string[]> {
  const declared = scenario?.systems.find(({ name }) => name === plan.system.name);
  const claim = declared?.expect.breaks.find((name) =>
    broken.some((verdict) => verdict.claim === name),
  );
  if (scenario === undefined || claim === undefined || system !== undefined) return [];
  const siblings = await runSiblings(scenario, { plan, claim }, catalogue);
  return siblings.map((sibling) => siblingLine(sibling, trace).text);
}

function printVerdicts(verdicts: readonly Verdict[], terminal: Terminal): void {
  const isIdle = ({ kind, exercised }: Verdict): boolean => kind !== 'invalid' && exercised === 0;
  for (const verdict of verdicts) if (!isIdle(verdict)) printVerdict(verdict, terminal);
  const idle = verdicts.filter(isIdle).map(({ claim }) => claim);
  if (idle.length === 0) return;
  const lines = wrap(`not tested: ${idle.join(', ')}`, Math.min(terminal.width, 100) - 2);
  for (const [at, line] of lines.entries()) terminal.print(`${at === 0 ? '–' : ' '} ${line}`);
}

/**
 * Prints how each section ended, in full because the columns truncate text. Omits crashes and
 * normal returns.
 */
function printSectionEnds({ sections = [] }: Trace, terminal: Terminal): void {
  const byEnd = new Map<string, string[]>();
  for (const run of sections) {
    const end = endText(run);
    if (end !== '') addTo(byEnd, end, run.section);
  }
  for (const [end, names] of byEnd) terminal.print(`! ${names.join(', ')} ${end}`);
}

function endText({ end }: SectionRun): string {
  switch (end.kind) {
    case 'failed': {
      const { text, place } = end.error;
      return `ended by ${text}${place === null || text.includes(place) ? '' : ` at ${place}`}`;
    }
    case 'returned':
      return end.isUnguarded ? 'returned without a guard' : '';
    case 'open':
      return `never ended${waitPhrase(end.wait)}`;
    case 'crashed':
      return '';
  }
}

function printVerdict(verdict: Verdict, terminal: Terminal): void {
  const signs = { valid: '✓', invalid: '✗', unknown: '?' } as const;
  const words = { valid: 'holds', invalid: 'breaks', unknown: 'unknown' } as const;
  const { kind, claim, exercised } = verdict;
  const why = kind === 'unknown' ? `: ${verdict.reason}` : '';
  const times = `exercised ${countOf(exercised, 'time')}${why}`;
  terminal.print(`${signs[kind]} ${claim.padEnd(24)} ${words[kind].padEnd(10)} ${times}`);
}

/** A plan to show, and the scenario it was expanded from, if any. */
interface Shown extends LoadedPlan {
  readonly scenario?: Scenario;
}

async function planOfScenario(
  file: string,
  seed: number,
  { system: named, modules }: ShowFlags,
): Promise<Shown> {
  const [loaded] = await loadScenarios([file], { modules: modules ?? null });
  const [first] = loaded?.scenario.systems ?? [];
  if (loaded === undefined || first === undefined) throw new UserError([`${file}: no system`]);
  const system = named === undefined ? first : systemNamed(loaded, named);
  const { scenario, catalogue } = loaded;
  const unchanged = { changedModules: [], moduleChanges: [] };
  return { plan: expand(scenario, system.name, seed), catalogue, ...unchanged, scenario };
}
