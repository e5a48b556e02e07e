/**
 * Renders one finding on the page: its picture, its events in words, the same plan on a system
 * where the claim holds, and the playground. Collapsed details follow: process states, runs to
 * compare, verdicts, the table of events and the plan.
 */
import type { TraceEvent } from '../../core/history/events.ts';
import { proseDuration } from '../../core/plan/duration.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { parametersOf } from '../../core/shrink/parameter.ts';
import { canonical } from '../../run.ts';
import type { Finding, OtherRun } from '../../search/campaign/result.ts';
import {
  type Child,
  element,
  lines,
  type Markup,
  render,
  sentenceMarkup,
} from '../../text/markup.ts';
import { capitalized, countOf, shellWords } from '../../text/prose.ts';
import { trialText } from '../exhausted.ts';
import { shrunkText } from '../failure.ts';
import { evidenceShown, keepCommand, replayCommand, rerunCommand } from '../finding.ts';
import { layOut } from '../pictures/layout.ts';
import { drawTimeline, scaleOf, type TimelineOptions } from '../pictures/timeline.ts';
import { countEvents, listSteps, type Step } from '../steps.ts';
import { describePlainly, type PlainSentence } from '../story-steps.ts';
import { renderEvents, renderFilter } from './event-table.ts';
import {
  DRAWN_BY_SCRIPT,
  dataOf,
  isWalked,
  type PageDataOptions,
  renderData,
  renderPictures,
  renderSteps,
} from './finding-pictures.ts';
import type { PageData } from './page-data.ts';
import { details, faint, figure, list, nameMarkup } from './parts.ts';
import { renderTry } from './playground-controls.ts';
import { renderVerdicts, storyList } from './verdicts.ts';

export interface FindingOptions extends PageDataOptions {
  /** True if the page has a script, so that it includes the finding as data. */
  readonly hasScript: boolean;
  /** Receives content that requires the script, by id of its element. */
  readonly packed: Map<string, Markup>;
}

export function renderFinding(finding: Finding, options: FindingOptions): Markup {
  const { number, mostEvents, hasScript, catalogue } = options;
  const id = `finding-${number}`;
  const { trace, claim, system, seed, verdict, explanation } = finding;
  const data = dataOf(finding, options);
  const steps = listSteps(trace, { evidence: data.evidence });
  const isLive = hasScript && isWalked(finding);
  const children = [
    renderPictures(data, id, isLive, steps),
    renderLesson(describePlainly(trace, verdict.evidence), steps, isLive),
    storyList(explanation),
    renderFacts(finding),
    renderCured(finding, id, mostEvents),
    isLive ? renderTry(id, finding, catalogue) : [],
    renderCommands(finding, id),
    renderSteps(data, id, isLive, steps),
    renderNearest(finding, id, options),
    renderOriginal(finding, id, options),
    renderVerdicts(finding.verdicts),
    renderTable(data, id, steps, isLive),
    trace.output === undefined ? [] : renderOutput(trace.output),
    details(
      'The plan that gives this trace, byte for byte',
      false,
      element('pre', { tabindex: 0 }, lines(finding.planText)),
    ),
  ];
  return element(
    'article',
    { id, 'aria-labelledby': `${id}-title`, 'data-finding': isLive },
    element(
      'h2',
      { id: `${id}-title` },
      finding.isExpected === true ? '✗ (expected) ' : '',
      sentenceMarkup(explanation.headline),
    ),
    number === 1 ? children : details(`${claim} of ${system}, seed ${seed}`, false, ...children),
    isLive ? later(`${id}-held`, renderData(`${id}-data`, data), '', options) : [],
  );
}

/** The script can step through the sentences. */
function renderLesson(
  sentences: readonly PlainSentence[],
  steps: readonly Step[],
  isLive: boolean,
): Child {
  const items = sentences.map(({ text, atUs, event }) => {
    const at = steps.findIndex((step) => step.event === event && step.atUs === atUs);
    return element('li', { 'data-step': at === -1 ? null : at }, sentenceMarkup(text));
  });
  const list = element('ol', { class: 'plainly' }, items);
  if (!isLive) return list;
  const tool = { class: 'buttons lesson', hidden: true, 'data-tool': '', role: 'group' };
  const buttons = Object.entries({ back: '← sentence', next: 'Sentence by sentence →' }).map(
    ([name, text]) => element('button', { type: 'button', 'data-story': name }, text),
  );
  return [list, element('div', { ...tool, 'aria-label': 'Lesson' }, buttons)];
}

function renderFacts(finding: Finding): Markup {
  const { claim, system, scenario, seed, exhaust, boundary, siblings = [] } = finding;
  const trial = { [exhaust === undefined ? 'seed' : 'plan']: String(seed) };
  const shrunk = shrunkText(finding.size);
  const facts = Object.entries({ claim, system, scenario, ...trial }).map(([name, value]) => [
    `${name} `,
    element('b', {}, nameMarkup(value)),
  ]);
  const rest = [shrunk, boundary ?? ''].filter((text) => text !== '');
  return list('facts', [...facts, ...rest, ...siblings.map(({ text }) => sentenceMarkup(text))]);
}

function renderOutput(output: readonly string[]): Markup {
  const text = element('pre', { tabindex: 0 }, lines(output.join('\n')));
  return details('What the run printed', false, text);
}

function renderCommands(finding: Finding, id: string): Markup {
  const again = finding.exhaust === undefined ? 'the same seed again' : 'the same search again';
  const rows: Readonly<Record<string, readonly string[]>> = {
    replay: replayCommand(finding),
    [again]: rerunCommand(finding),
    'keep as a regression test': keepCommand(finding),
    'digest of the trace': [finding.digest],
  };
  const list = Object.entries(rows).map(([name, words]) => [
    element('dt', {}, name),
    element('dd', {}, element('code', {}, shellWords(words).join(' '))),
  ]);
  const title = element('h3', { id: `${id}-type` }, 'Commands');
  return element('section', {}, title, element('dl', { class: 'commands' }, list));
}

function renderTable(data: PageData, id: string, steps: readonly Step[], isLive: boolean): Child {
  const { trace, prefix, mostRows } = data;
  const rows = renderEvents(steps.slice(-mostRows), prefix, countEvents(steps));
  return details(
    'Table of events',
    false,
    isLive ? renderFilter(trace.processes) : [],
    element('div', { id: `${id}-events`, class: 'table', 'data-events': '' }, rows),
  );
}

/** Renders the same plan on a system where the claim holds, with the first difference. */
function renderCured(finding: Finding, id: string, mostDrawn: number): Child {
  const { cured, claim } = finding;
  if (cured === undefined) return [];
  const { current, parting, common } = besides(finding, cured, mostDrawn);
  return element(
    'section',
    { class: 'beside', 'aria-labelledby': `${id}-cured` },
    element('h3', { id: `${id}-cured` }, 'The same plan on ', nameMarkup(cured.system)),
    element('p', {}, partingText(current, cured, parting)),
    runFigure(`✓ There ${claim} holds.`, cured, { ...common, id: `${id}-c` }),
  );
}

/** Finds the first difference between a finding and another run, and their common time scale. */
function besides(
  finding: Finding,
  other: OtherRun,
  mostDrawn: number,
): {
  readonly current: OtherRun;
  readonly parting: Parting | null;
  readonly common: Omit<FigureOptions, 'id'>;
} {
  const { trace, plan, claim } = finding;
  const parting = partingOf({ trace, plan }, other);
  const current = { trace, plan, evidence: evidenceShown(finding) };
  const ends = [current, other].map((run) => {
    const shown = { evidence: [], faults: run.plan.faults, claim: '', mostDrawn };
    return scaleOf(layOut(run.trace, shown), 0).untilUs;
  });
  const untilUs = Math.max(...ends);
  return {
    current,
    parting,
    common: { claim, mostDrawn, untilUs, differsAtUs: parting?.atUs ?? null },
  };
}

/** Renders the finding and, beside it, the nearest run that passes, with the first difference. */
function renderNearest(finding: Finding, id: string, options: FindingOptions): Child {
  const { nearest, claim, plan } = finding;
  if (nearest === undefined) return [];
  const { current, parting, common } = besides(finding, nearest, options.mostEvents);
  const pictures = [
    runFigure(`✗ This run breaks ${claim}.`, current, { ...common, id: `${id}-nb` }),
    runFigure(`✓ There ${claim} holds.`, nearest, { ...common, id: `${id}-nh` }),
  ];
  return element(
    'details',
    { class: 'beside' },
    element('summary', {}, 'Beside the nearest run that passes'),
    element('p', {}, changeText(plan, nearest.plan)),
    element('p', {}, partingText(current, nearest, parting)),
    later(`${id}-nearest`, pictures, DRAWN_BY_SCRIPT, options),
  );
}

function renderOriginal(finding: Finding, id: string, options: FindingOptions): Child {
  const { original, claim, plan, size } = finding;
  if (original === undefined) return [];
  const how = finding.exhaust === undefined ? 'drawn' : 'found';
  const text =
    `${capitalized(trialText(finding))} as originally ${how}: ` +
    `${countOf(original.plan.clients.length, 'client')}, ` +
    `${countOf(size.originalFaults, 'fault')} that fired, ` +
    `${countOf(size.originalEvents, 'event')}; after shrinking: ` +
    `${countOf(plan.clients.length, 'client')}, ${countOf(size.faults, 'fault')}, ` +
    `${countOf(size.events, 'event')}.`;
  const { mostEvents: mostDrawn } = options;
  const picture = runFigure('The original run.', original, { mostDrawn, claim, id: `${id}-ob` });
  return element(
    'details',
    { class: 'beside' },
    element('summary', {}, 'The run that it was shrunk from'),
    element('p', {}, text),
    later(`${id}-original`, picture, DRAWN_BY_SCRIPT, options),
  );
}

/** Defers content to the page's script, or renders it in place if the page has no script. */
function later(
  id: string,
  child: Child,
  instead: string,
  { hasScript, packed }: FindingOptions,
): Child {
  if (!hasScript) return child;
  packed.set(id, { markup: render(child) });
  return element('div', { id }, instead === '' ? [] : faint(instead));
}

type FigureOptions = Omit<TimelineOptions, 'title' | 'evidence'> & { readonly mostDrawn: number };

function runFigure(
  title: string,
  { trace, plan, evidence }: OtherRun,
  { mostDrawn, ...options }: FigureOptions,
): Markup {
  const { claim } = options;
  const layout = layOut(trace, { claim, mostDrawn, evidence, faults: plan.faults });
  const picture = drawTimeline(layout, { ...options, title, evidence }).svg;
  return figure({ caption: element('b', {}, title), name: title, picture });
}

/** Returns, for example, `What was changed: pause of bob, 20 ms here, 10 ms there.` */
function changeText(here: Plan, there: Plan): string {
  const others = new Map(parametersOf(there).map(({ path, value }) => [path, value]));
  const changed = parametersOf(here).filter(({ path, value }) => others.get(path) !== value);
  const parts = changed.map(({ kind, path, what, value }) => {
    const say = (number: number): string =>
      kind === 'rate' ? `${number} ppm` : proseDuration(number);
    return `${what}, ${say(value)} here, ${say(others.get(path) ?? 0)} there`;
  });
  return `What was changed: ${parts.length === 0 ? 'nothing' : parts.join('; ')}.`;
}

function partingText(here: OtherRun, there: OtherRun, parting: Parting | null): string {
  if (parting === null) return 'The runs do not differ.';
  const [left, right] = [wordsAt(here, parting.here), wordsAt(there, parting.there)];
  const when = proseDuration(parting.atUs);
  return `First difference, at ${when}: here ${left}; there ${right}.`;
}

function wordsAt({ trace }: OtherRun, event: number | null): string {
  const step = listSteps(trace, { evidence: [] }).find((candidate) => candidate.event === event);
  if (event === null || step === undefined) return 'nothing more happens';
  const prefix = step.process === '' ? '' : `${step.process}: `;
  return `${prefix}${step.text} (${proseDuration(step.atUs)})`;
}

interface Parting {
  /** Index in the trace of the run concerned, or null if that trace has ended. */
  readonly here: number | null;
  readonly there: number | null;
  /** The time of the earlier of the two events. */
  readonly atUs: number;
}

/**
 * Returns the first difference between two runs, or null if there is none. Fault events are
 * ignored, since a changed fault is the cause of a difference.
 */
export function partingOf(here: Ran, there: Ran): Parting | null {
  const left = happenings(here);
  const right = happenings(there);
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one, other] = [left[at], right[at]];
    if (one !== undefined && other !== undefined && isAlike(one, other)) continue;
    const times = [one?.event.atUs, other?.event.atUs].filter((time) => time !== undefined);
    return { here: one?.at ?? null, there: other?.at ?? null, atUs: Math.min(...times) };
  }
  return null;
}

type Ran = Pick<OtherRun, 'trace' | 'plan'>;

interface Happening {
  readonly event: TraceEvent;
  readonly at: number;
  /** Null if no step describes the event. */
  readonly words: string | null;
}

function happenings({ trace }: Ran): readonly Happening[] {
  const steps = listSteps(trace, { evidence: [] });
  const words = new Map(steps.map(({ event, process, text }) => [event, `${process}: ${text}`]));
  return trace.events.flatMap((event, at) =>
    event.kind === 'fault' ? [] : [{ event, at, words: words.get(at) ?? null }],
  );
}

/**
 * Returns true if two events of the same kind and time have the same words or fields. Versions are
 * ignored if only one of the two stores has them.
 */
function isAlike(
  { event: left, words }: Happening,
  { event: right, words: otherWords }: Happening,
): boolean {
  if (left.kind !== right.kind || left.atUs !== right.atUs) return false;
  if (words === otherWords) return true;
  const [one, other] = [canonical(left), canonical(right)];
  if (one === other) return true;
  if (one.includes(VERSION) === other.includes(VERSION)) return false;
  return canonical(unversioned(left)) === canonical(unversioned(right));
}

const VERSION = '"version":';

function unversioned(event: TraceEvent): TraceEvent {
  return JSON.parse(JSON.stringify(event, (key, value) => (key === 'version' ? undefined : value)));
}
