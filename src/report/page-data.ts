/**
 * What the page carries for its script: each finding's plan and trace as JSON, escaped so that no
 * name in it can end the element that it stands in.
 */
import type { Evidence } from '../check/verdict.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Plan } from '../core/plan/plan.ts';
import { element, type Markup, trusted } from '../text/markup.ts';
import type { Finding } from './finding.ts';
import type { Linearization } from './linearization.ts';

/** One finding, as the script reads it. */
export interface PageData {
  readonly claim: string;
  readonly plan: Plan;
  readonly trace: Trace;
  readonly evidence: readonly Evidence[];
  readonly linearization: Linearization | null;
  /** Begins the anchors of its events: `#<prefix>e=12`. */
  readonly prefix: string;
  readonly title: string;
  readonly isFenced: boolean;
  readonly mostRows: number;
}

/** A longer trace is told by its last part only, and has no steps to walk through. */
export const MOST_WALKED = 12_000;

/** Whether the page carries the whole trace, so that one can walk through it. */
export function isWalked({ trace }: Finding): boolean {
  return trace.events.length <= MOST_WALKED;
}

/** The data as an element that nothing shows and nothing runs. */
export function renderData(id: string, data: PageData): Markup {
  return element('script', { type: 'application/json', id }, trusted(inertJson(data)));
}

const NOT_PLAIN = /[<>&'\u007f-\uffff]/g;

/** JSON in plain ASCII without any character that means something to HTML. */
export function inertJson(data: object): string {
  return JSON.stringify(data).replace(NOT_PLAIN, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
