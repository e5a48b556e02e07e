/**
 * Sets the counterexample beside two other runs, on one scale of time: the nearest one that passes,
 * and the one that it was shrunk from. Says in words what was changed and where they part.
 */
import type { Trace, TraceEvent } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Plan } from '../core/plan/plan.ts';
import { parametersOf } from '../core/shrink/parameter.ts';
import { canonical } from '../run.ts';
import { type Child, element, type Markup } from '../text/markup.ts';
import { countOf } from '../text/prose.ts';
import type { Finding, OtherRun } from './finding.ts';
import { drawScale, type ScaleOptions } from './picture-scale.ts';
import { listSteps } from './steps.ts';

export interface BesideOptions {
  /** Begins the ids of the pictures. */
  readonly id: string;
  readonly mostDrawn: number;
}

/** What there is to compare with; nothing where the finding keeps no other run. */
export function renderBeside(finding: Finding, options: BesideOptions): Child {
  const { nearest, original } = finding;
  return [
    nearest === undefined ? [] : renderNearest(finding, nearest, options),
    original === undefined ? [] : renderOriginal(finding, original, options),
  ];
}

function renderNearest(finding: Finding, nearest: OtherRun, options: BesideOptions): Markup {
  const difference = partingOf(finding.trace, nearest.trace);
  const ends = [finding, nearest].map((run) => endOf(run, options.mostDrawn));
  const common = {
    ...{ claim: finding.claim, mostDrawn: options.mostDrawn, untilUs: Math.max(...ends) },
    differsAtUs: difference?.atUs ?? null,
  };
  return element(
    'details',
    { open: true, class: 'beside' },
    element('summary', {}, 'Beside the nearest run that passes'),
    element('p', {}, changeText(finding.plan, nearest.plan)),
    element('p', {}, differenceText(finding, nearest, difference)),
    figure(`✗ This run breaks ${finding.claim}.`, finding.trace, {
      ...common,
      ...{
        evidence: finding.verdict.evidence,
        faults: finding.plan.faults,
        id: `${options.id}-nb`,
      },
    }),
    figure(`✓ There ${finding.claim} holds.`, nearest.trace, {
      ...common,
      ...{ evidence: nearest.evidence, faults: nearest.plan.faults, id: `${options.id}-nh` },
    }),
  );
}

function endOf({ trace, plan }: { trace: Trace; plan: Plan }, mostDrawn: number): number {
  const options = { evidence: [], faults: plan.faults, claim: '', id: '', title: '', mostDrawn };
  const { untilUs } = drawScale(trace, options);
  return untilUs;
}

function renderOriginal(finding: Finding, original: OtherRun, options: BesideOptions): Markup {
  const { trace, plan, evidence } = original;
  const { events, faults } = finding.trace.events.reduce(
    (sum, { kind }) => ({
      events: sum.events + 1,
      faults: sum.faults + (kind === 'fault' ? 1 : 0),
    }),
    { events: 0, faults: 0 },
  );
  const struck = trace.events.filter(({ kind }) => kind === 'fault').length;
  const drawing = { ...options, claim: finding.claim };
  const text =
    `Seed ${finding.seed} as it was drawn: ${countOf(plan.clients.length, 'client')}, ` +
    `${countOf(struck, 'fault')} that struck, ${countOf(trace.events.length, 'event')}; shrunk: ` +
    `${countOf(finding.plan.clients.length, 'client')}, ${countOf(faults, 'fault')}, ` +
    `${countOf(events, 'event')}.`;
  return element(
    'details',
    { class: 'beside' },
    element('summary', {}, 'Beside the run that it was shrunk from'),
    element('p', {}, text),
    figure('The original run.', trace, {
      ...{ ...drawing, evidence, faults: plan.faults, id: `${options.id}-ob` },
    }),
    figure('Shrunk to this.', finding.trace, {
      ...{ ...drawing, evidence: finding.verdict.evidence, faults: finding.plan.faults },
      id: `${options.id}-os`,
    }),
  );
}

function figure(caption: string, trace: Trace, options: Omit<ScaleOptions, 'title'>): Markup {
  const { svg } = drawScale(trace, { ...options, title: caption });
  return element(
    'figure',
    {},
    element('figcaption', {}, element('b', {}, caption)),
    element('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': caption }, svg),
  );
}

/** `Changed: pause of bob, 20 ms here, 10 ms there.` */
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

function differenceText(here: Finding, there: OtherRun, difference: Parting | null): string {
  if (difference === null) return 'Both runs do the same.';
  const left = wordsAt(here.trace, here.plan, difference.here);
  const right = wordsAt(there.trace, there.plan, difference.there);
  return `First difference, at ${proseDuration(difference.atUs)}: here ${left}; there ${right}.`;
}

function wordsAt(trace: Trace, { faults }: Plan, event: number | null): string {
  const step = listSteps(trace, { evidence: [], faults }).find((one) => one.event === event);
  if (event === null || step === undefined) return 'nothing more happens';
  const who = step.process === '' ? '' : `${step.process}: `;
  return `${who}${step.text} (${proseDuration(step.atUs)})`;
}

export interface Parting {
  /** Indices into both traces; null where a trace is over. */
  readonly here: number | null;
  readonly there: number | null;
  /** When the first of the two happens. */
  readonly atUs: number;
}

/**
 * Where two runs part: the first thing that happens otherwise, and what it is on each side. The
 * faults themselves are left out, since they are what was changed. Null when both do the same.
 */
export function partingOf(here: Trace, there: Trace): Parting | null {
  const left = happenings(here);
  const right = happenings(there);
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one, other] = [left[at], right[at]];
    if (one !== undefined && other !== undefined && isAlike(one.event, other.event)) continue;
    const times = [one?.event.atUs, other?.event.atUs].filter((time) => time !== undefined);
    return { here: one?.at ?? null, there: other?.at ?? null, atUs: Math.min(...times) };
  }
  return null;
}

function happenings(trace: Trace): readonly { readonly event: TraceEvent; readonly at: number }[] {
  return trace.events.flatMap((event, at) => (event.kind === 'fault' ? [] : [{ event, at }]));
}

function isAlike(left: TraceEvent, right: TraceEvent): boolean {
  return (
    left.kind === right.kind && left.atUs === right.atUs && canonical(left) === canonical(right)
  );
}
