/**
 * Tracks the operations that a section has begun and that have not ended, so that a missing `await`
 * is reported at the operation. An open call is not reported if another call of its kind was
 * answered, because a client of several servers need not wait for all answers. Calls that a package
 * makes in the background are not reported either (see `isForgotten`).
 */
import fs from 'node:fs';
import type { Answer, Call } from '../../core/history/call.ts';
import {
  type CallSite,
  type Frame,
  framesIn,
  isOfPackage,
  isSection,
  isUnderTest,
  pathIn,
} from './call-site.ts';

/** An operation that was begun. */
export interface Begun {
  /** For example `guard.work()` or `the call del`. */
  readonly what: string;
  /** The purpose of a call, such as `release`, or its label if the purpose is unknown. */
  readonly kind: string;
  readonly site: CallSite;
}

export class Unsettled {
  private readonly open: Set<Begun> = new Set();

  begin(begun: Begun): Begun {
    this.open.add(begun);
    return begun;
  }

  end(begun: Begun): void {
    this.open.delete(begun);
  }

  first(isMeant: (begun: Begun) => boolean = () => true): Begun | null {
    for (const begun of this.open) if (isMeant(begun)) return begun;
    return null;
  }
}

/** The outcome of a call as far as its caller can know. */
interface Settled {
  readonly state: string;
  readonly answer: Answer | null;
}

/** The calls that a section makes to servers, and the marks that it passes. */
export class CallLog {
  private readonly underWay: Unsettled = new Unsettled();
  /** Kinds of calls with at least one answer. */
  private readonly answered: Set<string> = new Set();
  private isGranted = false;
  /** True if a call was denied or got no answer. */
  isDenied = false;

  /** Returns the function to call after the mark is passed. */
  pass(point: string, site: CallSite): () => void {
    const label = `section.mark('${point}')`;
    const begun = this.underWay.begin({ what: label, kind: label, site });
    return () => this.underWay.end(begun);
  }

  /** Returns the function to call after the call has ended. */
  begin(label: string, verb: Call['verb'], site: CallSite): (settled: Settled) => void {
    const kind = verb === 'fetch' ? `fetch ${label}` : verb;
    const begun = this.underWay.begin({ what: `the call ${label}`, kind, site });
    return ({ state, answer }) => {
      this.underWay.end(begun);
      if (state === 'answered') this.answered.add(kind);
      if (answer?.kind === 'granted') this.isGranted = true;
      if (state !== 'answered' || answer?.kind === 'denied') this.isDenied = true;
    };
  }

  /**
   * The first open call that acquires the lock, or null if there is none or the lock was granted.
   */
  get openAcquire(): Begun | null {
    return this.isGranted ? null : this.underWay.first(({ kind }) => kind === 'acquire');
  }

  /** The first open operation that the code does not wait for, or null. */
  get forgotten(): Begun | null {
    return this.underWay.first(({ kind, site }) => !this.answered.has(kind) && isForgotten(site));
  }
}

/** The original function, saved before it was replaced. */
const { readFileSync } = fs;

/**
 * Returns true if the user's own code lacks an `await`. If a package made the call, the lines of
 * the user's code on the stack decide, up to the section: each must await or return the result of
 * its call.
 *
 *     await limiter.disconnect();   // the package sends UNSUBSCRIBE, and waits for no answer
 *     limiter.disconnect();         // forgotten
 */
function isForgotten({ stack = '' }: CallSite): boolean {
  const all = framesIn(stack);
  const frames = all.filter(isUnderTest);
  const [first] = frames;
  if (first === undefined || !isOfPackage(first)) return true;
  const userFrames = frames.filter((frame) => !isOfPackage(frame));
  if (userFrames.length === 0) return false;
  // A frame marked `at async` awaits the result of its call.
  const isAwaited = ({ line }: Frame): boolean => /^\s*at async /.test(line);
  return !all.some(isSection) || userFrames.some((frame) => !isAwaited(frame) && !passesOn(frame));
}

/** Matches the code before a call whose result is awaited or returned: `return queue.add(job)`. */
const PASSES_ON = /(?:\b(?:await|return|yield)|=>)[\s(]*(?:[\w$]+(?:\([^()]*\))?\s*[?!]?\.\s*)*$/;

function passesOn(frame: Frame): boolean {
  const [row = 0, column = 0] = frame.place.split(':').map(Number);
  try {
    const lines = readFileSync(pathIn(frame.file), 'utf8').split('\n');
    const before = [
      ...lines.slice(Math.max(0, row - 3), row - 1),
      lines[row - 1]?.slice(0, column - 1),
    ];
    // A source map may resolve only to the start of the statement.
    const here = lines[row - 1]?.slice(column - 1) ?? '';
    return PASSES_ON.test(before.join('\n')) || /^(?:await|return|yield)\b/.test(here);
  } catch {
    return false;
  }
}
