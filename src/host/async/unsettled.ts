/**
 * What a section has begun and not seen the end of, each with the place at which it did so: a
 * forgotten `await` shows where what it belongs to ends first. A call is none where another of its
 * kind was answered: whoever asks several servers need not wait for all. Neither is one that a
 * package makes without waiting for it, in a timer or while the user's own code waits for the
 * package: see `isForgotten`.
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

/** Something that was begun. */
export interface Begun {
  /** `guard.work()`, `the call del`. */
  readonly what: string;
  /** What a call asks for: `release`, or its label where nobody knows. */
  readonly kind: string;
  readonly site: CallSite;
}

/** What is under way, in the order in which it was begun. */
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

/** How a call ended, as far as its caller can know. */
interface Settled {
  readonly state: string;
  readonly answer: Answer | null;
}

/** The calls that a section makes to servers, and the marks that it passes. */
export class CallLog {
  private readonly underWay: Unsettled = new Unsettled();
  /** The kinds of calls of which one was answered. */
  private readonly answered: Set<string> = new Set();
  private isGranted = false;
  /** Whether one of its calls was denied anything, or got no answer. */
  isDenied = false;

  /** What is to be told once the mark was passed. */
  pass(point: string, site: CallSite): () => void {
    const what = `section.mark('${point}')`;
    const begun = this.underWay.begin({ what, kind: what, site });
    return () => this.underWay.end(begun);
  }

  /** What is to be told once the call has ended. */
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

  /** A call that is to take a lock, where none has been given yet. */
  get openAcquire(): Begun | null {
    return this.isGranted ? null : this.underWay.first(({ kind }) => kind === 'acquire');
  }

  /** What nobody waited for. */
  get forgotten(): Begun | null {
    return this.underWay.first(({ kind, site }) => !this.answered.has(kind) && isForgotten(site));
  }
}

/** Before it was replaced. */
const { readFileSync } = fs;

/**
 * Whether the user's own code left out an `await`. Where a package made the call, it did so only if
 * it did not wait for the package: each line of its own on the stack has to pass on what it calls,
 * up to the section.
 *
 *     await limiter.disconnect();   // the package sends UNSUBSCRIBE, and waits for no answer
 *     limiter.disconnect();         // forgotten
 */
function isForgotten({ stack = '' }: CallSite): boolean {
  const all = framesIn(stack);
  const frames = all.filter(isUnderTest);
  const [first] = frames;
  if (first === undefined || !isOfPackage(first)) return true;
  const own = frames.filter((frame) => !isOfPackage(frame));
  if (own.length === 0) return false;
  // What an `await` of the stack leads to is waited for.
  const isAwaited = ({ line }: Frame): boolean => /^\s*at async /.test(line);
  return !all.some(isSection) || own.some((frame) => !isAwaited(frame) && !passesOn(frame));
}

/** What stands before a call whose result is waited for, or returned: `return queue.add(job)`. */
const PASSES_ON = /(?:\b(?:await|return|yield)|=>)[\s(]*(?:[\w$]+(?:\([^()]*\))?\s*[?!]?\.\s*)*$/;

function passesOn(frame: Frame): boolean {
  const [row = 0, column = 0] = frame.place.split(':').map(Number);
  try {
    const lines = readFileSync(pathIn(frame.file), 'utf8').split('\n');
    const before = [
      ...lines.slice(Math.max(0, row - 3), row - 1),
      lines[row - 1]?.slice(0, column - 1),
    ];
    // Source maps may know no more than the statement.
    const here = lines[row - 1]?.slice(column - 1) ?? '';
    return PASSES_ON.test(before.join('\n')) || /^(?:await|return|yield)\b/.test(here);
  } catch {
    return false;
  }
}
