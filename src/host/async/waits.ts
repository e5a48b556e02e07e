/**
 * Finds where the code of a section waits: the innermost pending `await` in the user's own files.
 * V8 reports each `await` while the stack still shows its place. Code that runs beside the section,
 * such as a watchdog, has no `goThrough` of `client-program.ts` on its stack. Recording a stack per
 * `await` takes time, so it is done only for runs that are shown.
 */
import { promiseHooks } from 'node:v8';
import type { Wait } from '../../core/history/trace.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import { ambient } from './ambient.ts';
import {
  type CallSite,
  deepSiteOf,
  type Frame,
  framesIn,
  isOfPackage,
  isSection,
  isUnderTest,
  placeIn,
} from './call-site.ts';
import { Incarnation } from './incarnation.ts';
import { Shared } from './patches.ts';
import { sectionNow } from './section-context.ts';

interface Await extends CallSite {
  readonly sinceUs: number;
  /** `alice/1`, or null if the process runs one section at a time. */
  readonly section: string | null;
}

/** Awaits by incarnation and then by promise, in the order in which they began. */
const awaits: Map<Incarnation, Map<object, Await>> = new Map();

/** Records awaits while at least one run needs them. */
export const notedAwaits: Shared = new Shared(
  () => {
    const stops: unknown[] = [
      promiseHooks.onInit(begin),
      promiseHooks.onBefore((promise: object) => {
        if (ambient.current instanceof Incarnation) awaits.get(ambient.current)?.delete(promise);
      }),
    ];
    stop = () => {
      for (const end of stops) if (typeof end === 'function') end();
      awaits.clear();
    };
  },
  () => stop(),
);

let stop = (): void => {};

/** Deep enough for a section that calls packages that call it back. */
const STACK_LIMIT = 100;

function begin(promise: object, awaited: object | undefined): void {
  const { current } = ambient;
  if (awaited === undefined || !(current instanceof Incarnation)) return;
  const site = deepSiteOf(begin, STACK_LIMIT);
  const section = sectionNow()?.name.text ?? null;
  const pending = entryOf(awaits, current, () => new Map());
  pending.set(promise, Object.assign(site, { sinceUs: current.nowUs, section }));
}

/** An `await` in the user's own code, with its stack up to the start of the section. */
interface UserAwait {
  readonly wait: Wait;
  readonly frames: readonly Frame[];
}

/**
 * Returns the place where a section waits, or null if unknown. This is the section's last `await`,
 * or a more deeply nested `await` in a function called there.
 */
export function waitOf(incarnation: Incarnation, section: string): Wait | null {
  const pending = [...(awaits.get(incarnation)?.values() ?? [])].flatMap((entry) =>
    entry.section === null || entry.section === section ? userAwaits(entry) : [],
  );
  let innermost = pending.at(-1);
  const lineOf = ({ file, place }: Frame): string => `${file}:${place.replace(/:.*$/, '')}`;
  const last = innermost?.frames[0];
  for (const wait of pending) {
    const isCalledThere = wait.frames.some((frame) => last && lineOf(frame) === lineOf(last));
    if (isCalledThere && wait.frames.length > (innermost?.frames.length ?? 0)) innermost = wait;
  }
  return innermost?.wait ?? null;
}

function userAwaits({ stack = '', sinceUs }: Await): readonly UserAwait[] {
  const all = framesIn(stack);
  const end = all.findIndex(isSection);
  const frames = all.slice(0, Math.max(0, end)).filter(isUnderTest);
  const [top] = frames;
  if (top === undefined || isOfPackage(top)) return [];
  return [{ frames, wait: { sinceUs, place: placeIn(top).replace(/:\d+$/, '') } }];
}
