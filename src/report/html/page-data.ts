/**
 * The data of a finding that the page includes, and the pictures drawn from it. The script of a
 * report imports this file instead of `finding-pictures.ts`, whose markup the script never renders.
 */
import type { Evidence } from '../../check/verdict.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { type LayoutOptions, layOut } from '../pictures/layout.ts';
import type { Linearization } from '../pictures/linearization.ts';
import { drawSequence, type SequencePicture } from '../pictures/sequence.ts';
import { drawTimeline, type TimelinePicture } from '../pictures/timeline.ts';
import { lastOfStory, type Step } from '../steps.ts';

/** One finding, as read by the pictures and the script. */
export interface PageData {
  readonly claim: string;
  readonly plan: Plan;
  readonly trace: Trace;
  readonly evidence: readonly Evidence[];
  readonly linearization: Linearization | null;
  /** Prefix of the anchors of events: `#<prefix>e=12`. */
  readonly prefix: string;
  readonly title: string;
  readonly isFenced: boolean;
  readonly mostRows: number;
}

export interface Drawing extends Omit<LayoutOptions, 'claim' | 'evidence' | 'faults'> {
  /** Prefix of the ids of the hatch patterns in both pictures. */
  readonly id: string;
}

type Drawn = Pick<PageData, 'trace' | 'plan' | 'claim' | 'evidence' | 'linearization' | 'title'>;

/** Draws two pictures: an overview true to scale, and the steps in warped time. */
export function drawPictures(
  { trace, plan, linearization, claim, evidence, title }: Drawn,
  { id, ...drawing }: Drawing,
): { readonly timeline: TimelinePicture; readonly sequence: SequencePicture } {
  const layout = layOut(trace, { ...drawing, claim, evidence, faults: plan.faults });
  return {
    timeline: drawTimeline(layout, { claim, evidence, title, linearization, id: `${id}-s` }),
    sequence: drawSequence(layout, { title, id: `${id}-w` }),
  };
}

/**
 * Returns the index of the step at which the story ends (see `lastOfStory`), or −1 if there is
 * none.
 */
export function stepOfViolation({ trace, evidence }: PageData, steps: readonly Step[]): number {
  const last = lastOfStory(trace, evidence);
  return steps.findIndex(({ event }) => event === last);
}
