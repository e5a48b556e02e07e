/**
 * What a section has begun and not seen the end of, each with the place at which it did so: a
 * forgotten `await` shows where what it belongs to ends first. A call that overlapped with another
 * of its name which was answered is none: whoever asks several servers need not wait for all.
 */
import type { Answer, Call } from '../../core/history/trace.ts';
import type { CallSite } from './call-site.ts';

/** Something that was begun. */
export interface Begun {
  /** `guard.work()`, `the call del`. */
  readonly what: string;
  readonly site: CallSite;
  /** Another one of its name, that was under way at the same time, was answered. */
  hasTwin: boolean;
}

/** Accesses under a guard. */
export class Unsettled {
  private readonly open: Set<Begun> = new Set();

  begin(what: string, site: CallSite): Begun {
    const begun = { what, site, hasTwin: false };
    this.open.add(begun);
    return begun;
  }

  end(begun: Begun): void {
    this.open.delete(begun);
  }

  /** Marks those of the same name that are under way. */
  noteTwins({ what }: Begun): void {
    for (const other of this.open) if (other.what === what) other.hasTwin = true;
  }

  /** The first that is still under way, and no twin of what was answered. */
  get first(): Begun | null {
    for (const begun of this.open) if (!begun.hasTwin) return begun;
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
  readonly underWay: Unsettled = new Unsettled();
  readonly acquires: Unsettled = new Unsettled();
  /** Whether one of its calls was granted a lock; and was denied anything, or got no answer. */
  isGranted = false;
  isDenied = false;

  /** What is to be told once the mark was passed. */
  pass(point: string, site: CallSite): () => void {
    const begun = this.underWay.begin(`section.mark('${point}')`, site);
    return () => this.underWay.end(begun);
  }

  /** What is to be told once the call has ended. */
  begin(label: string, verb: Call['verb'], site: CallSite): (settled: Settled) => void {
    const what = `the call ${label}`;
    const kinds = verb === 'acquire' ? [this.underWay, this.acquires] : [this.underWay];
    const begun = kinds.map((kind) => ({ kind, begun: kind.begin(what, site) }));
    return ({ state, answer }) => {
      const isAnswered = state === 'answered';
      if (answer?.kind === 'granted') this.isGranted = true;
      if (!isAnswered || answer?.kind === 'denied') this.isDenied = true;
      for (const one of begun) {
        one.kind.end(one.begun);
        if (isAnswered) one.kind.noteTwins(one.begun);
      }
    };
  }
}
