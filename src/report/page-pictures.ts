/**
 * Both pictures of a finding with their key and their controls, and the state of every process
 * right after the violation.
 */

import { element, type Markup } from '../text/markup.ts';
import { groupDigits } from '../text/prose.ts';
import type { Finding } from './finding.ts';
import { linearizationOf } from './linearization.ts';
import type { PageData } from './page-data.ts';
import { renderKey } from './page-key.ts';
import { renderState } from './page-state.ts';
import { renderStepper, renderSwitches } from './page-tools.ts';
import { drawScale, type ScalePicture } from './picture-scale.ts';
import { drawSequence, type Picture } from './picture-sequence.ts';
import { stateAfter } from './state.ts';
import { lastOfStory, listSteps, type Step } from './steps.ts';

/** What of a finding the pictures, the steps and the script need. */
export function dataOf(
  finding: Finding,
  rest: Pick<PageData, 'prefix' | 'mostRows' | 'isFenced'> & { readonly model: string | null },
): PageData {
  const { claim, plan, trace, verdict, explanation } = finding;
  const { model, ...known } = rest;
  return {
    ...{ claim, plan, trace, evidence: verdict.evidence, ...known },
    linearization: linearizationOf(trace, { claim, model }),
    title: `${explanation.headline}. The table of events below says the same.`,
  };
}

/** How a picture is to be drawn, beyond its data. */
export interface Drawing {
  /** Begins the ids of its hatches. */
  readonly id: string;
  readonly mostDrawn: number;
  readonly hidden?: ReadonlySet<string>;
  readonly around?: number;
  readonly steps?: readonly Step[];
}

type Drawn = Pick<PageData, 'trace' | 'plan' | 'claim' | 'evidence' | 'linearization' | 'title'>;

/** The picture at a glance, true to scale. */
export function drawGlance(data: Drawn, { id, ...drawing }: Drawing): ScalePicture {
  const { trace, plan, claim, evidence, linearization, title } = data;
  const options = { ...drawing, claim, evidence, faults: plan.faults, linearization, title };
  return drawScale(trace, { ...options, id: `${id}-s` });
}

/** The picture step by step, in warped time. */
export function drawWarped(data: Drawn, { id, ...drawing }: Drawing): Picture {
  const { trace, plan, claim, evidence, title } = data;
  const options = { ...drawing, claim, evidence, faults: plan.faults, title };
  return drawSequence(trace, { ...options, id: `${id}-w` });
}

/** The section with all of it; hidden controls where the page has a script. */
export function renderPictures(
  data: PageData,
  { id, isLive }: { readonly id: string; readonly isLive: boolean },
): Markup {
  const { trace, mostRows: mostDrawn } = data;
  const steps = listSteps(trace, { evidence: data.evidence, faults: data.plan.faults });
  const drawing = { id, mostDrawn, steps };
  const warped = drawWarped(data, drawing);
  const total = groupDigits(trace.events.length);
  const shown = `Showing ${groupDigits(warped.drawn)} of ${total} events.`;
  const glance = drawGlance(data, drawing);
  return element(
    'section',
    { 'aria-label': 'Pictures', 'data-pictures': '' },
    isLive ? [renderStepper(), renderSwitches(id, trace.processes)] : [],
    element(
      'figure',
      { 'data-time': 'true' },
      caption('At a glance. ', 'Time runs to the right and is true to scale.'),
      scroller('At a glance', glance.svg),
      renderKey(`${id}-k`, glance.marks),
    ),
    renderStateSection(data, steps, id),
    element(
      'figure',
      { 'data-time': 'warped' },
      caption(
        'Step by step. ',
        `Time runs downwards and is warped: every moment gets a row, long waits are compressed. ${shown}`,
      ),
      scroller('Step by step', warped.svg),
    ),
  );
}

function caption(name: string, text: string): Markup {
  return element('figcaption', {}, element('b', {}, name), text);
}

function scroller(name: string, svg: Markup): Markup {
  const attributes = { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': name };
  return element('div', attributes, svg);
}

/** The step of the last piece of evidence, or of where the story ends. */
export function stepOfViolation({ trace, evidence }: PageData, steps: readonly Step[]): number {
  const last = lastOfStory(trace, evidence);
  return steps.findIndex(({ event }) => event === last);
}

function renderStateSection(data: PageData, steps: readonly Step[], id: string): Markup {
  const at = stepOfViolation(data, steps);
  const options = { faults: data.plan.faults, steps, isFenced: data.isFenced };
  const states = [at, at - 1].map((step) => stateAfter(data.trace, step, options));
  const text = steps[at]?.text ?? '';
  return element(
    'section',
    { class: 'states', 'aria-labelledby': `${id}-state` },
    element('h3', { id: `${id}-state` }, 'What each process is and believes'),
    element('p', { class: 'faint', 'data-after': '' }, 'Right after: ', element('bdi', {}, text)),
    element('div', { 'data-state': '' }, renderState(states[0] ?? [], states[1] ?? null)),
  );
}
