/** Decides whether a corpus accepts a new plan, and which plans are redundant. */
import type { Expectation, Plan } from '../../core/plan/plan.ts';
import { isSimpler } from '../../core/shrink/simpler.ts';
import type { KeptFate } from './kept-replay.ts';
import { isSameKind, type Signature } from './signature.ts';

/** A kept plan after replay. */
export interface CorpusEntry {
  readonly file: string;
  readonly plan: Plan;
  readonly signature: Signature;
  /** The actual outcome. `expected` is the declared outcome. */
  readonly outcome: KeptFate;
  readonly expected: Expectation['outcome'];
}

type Kind = Pick<CorpusEntry, 'plan' | 'signature'>;

/** Each system of a scenario has its own kinds, because `run` replays plans per system. */
function isSameFailure(a: Kind, b: Kind): boolean {
  return (
    a.plan.scenario === b.plan.scenario &&
    a.plan.system.name === b.plan.system.name &&
    isSameKind(a.signature, b.signature)
  );
}

type Admission =
  /** The corpus has no plan of this kind. */
  | { readonly kind: 'new' }
  /** `of` shows the same failure and is at least as simple. */
  | { readonly kind: 'known'; readonly of: CorpusEntry }
  /** `than` shows the same failure in a more complicated way. */
  | { readonly kind: 'simpler'; readonly than: CorpusEntry };

/** Compares a candidate with the simplest entry of its kind. */
export function addIfNew(candidate: Kind, entries: readonly CorpusEntry[]): Admission {
  const [best] = simplestFirst(entries.filter((entry) => isSameFailure(entry, candidate)));
  if (best === undefined) return { kind: 'new' };
  return isSimpler(candidate.plan, best.plan)
    ? { kind: 'simpler', than: best }
    : { kind: 'known', of: best };
}

/** A redundant entry, and the reason. */
export type Superfluous =
  | { readonly kind: 'inert'; readonly entry: CorpusEntry }
  | { readonly kind: 'duplicate'; readonly entry: CorpusEntry; readonly of: CorpusEntry };

/** Returns the entries that test nothing, and all but the simplest entry of each kind. */
export function superfluousIn(entries: readonly CorpusEntry[]): readonly Superfluous[] {
  const live = entries.filter(({ outcome }) => outcome !== 'inert');
  return entries.flatMap((entry): Superfluous[] => {
    if (entry.outcome === 'inert')
      return entry.expected === 'inert' ? [] : [{ kind: 'inert', entry }];
    const [best] = simplestFirst(live.filter((other) => isSameFailure(other, entry)));
    return best === undefined || best === entry ? [] : [{ kind: 'duplicate', entry, of: best }];
  });
}

function simplestFirst(entries: readonly CorpusEntry[]): readonly CorpusEntry[] {
  return [...entries].sort((a, b) => {
    if (isSimpler(a.plan, b.plan)) return -1;
    if (isSimpler(b.plan, a.plan)) return 1;
    return a.file < b.file ? -1 : 1;
  });
}
