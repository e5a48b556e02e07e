/**
 * What each store that goes by tokens compares and remembers: one row a variant, so that they
 * differ only where one can see it.
 */
import { requireFlag, requireObject, requireWord } from '../mistakes.ts';

const REFUSES = [
  'nothing',
  'lower',
  'lower-or-equal',
  'lower-or-repeated',
  'higher',
  'other',
] as const;

export interface FenceRule {
  /**
   * Which accesses are refused, by comparing their token with the registered one: `higher` and
   * `other` are those of a store that got it wrong, or that knows one token only.
   */
  readonly refuses: (typeof REFUSES)[number];
  /** Whether the highest token of what it accepts is registered. */
  readonly registers: boolean;
  /** Whether a read is compared and registers its token too. */
  readonly coversReads: boolean;
  /** Whether a client must announce its token (`open`) before its first access. */
  readonly needsOpen: boolean;
  /** Whether what is announced takes the place of the registered token, even of a higher one. */
  readonly opensAnything: boolean;
  /** What has a highest token of its own: a whole resource, or each of its keys. */
  readonly scope: 'resource' | 'key';
  /** Whether the highest token survives a crash. */
  readonly isDurable: boolean;
  /** Whether an access without a token (0) passes unseen. */
  readonly takesMissing: boolean;
  /** Whether a replica that takes over compares too. */
  readonly replicaCompares: boolean;
  /** Who compares a write: the store, or its client with what it read a moment before. */
  readonly comparedBy: 'store' | 'client';
  /** For `fencepost list`. */
  readonly about: string;
  /** Where its rule is written down, or what it is a mutant of. */
  readonly source: string;
  /** Claims that it does not promise, even where nothing goes wrong. */
  readonly unpromised: readonly string[];
}

const DDIA = 'Kleppmann, Designing Data-Intensive Applications, chapter 8';
const MUTANT = 'mutant of fenced';

const fenced: FenceRule = {
  refuses: 'lower',
  registers: true,
  coversReads: false,
  needsOpen: false,
  opensAnything: false,
  scope: 'resource',
  isDurable: true,
  takesMissing: false,
  replicaCompares: true,
  comparedBy: 'store',
  about: 'refuses a write whose token is below the highest of its resource; equal is accepted',
  source: DDIA,
  unpromised: [],
};

/** A row that differs from `fenced` in what it names. */
function like(
  name: string,
  row: Partial<FenceRule> & Pick<FenceRule, 'about'>,
): readonly [string, FenceRule] {
  return [name, { ...fenced, source: MUTANT, ...row }];
}

const variants: readonly (readonly [string, FenceRule])[] = [
  like('unfenced', {
    refuses: 'nothing',
    registers: false,
    about: 'accepts every write',
    source: DDIA,
  }),
  ['fenced', fenced],
  like('fenced-strict', {
    refuses: 'lower-or-equal',
    about: 'refuses an equal token too: one write per grant',
  }),
  like('fenced-reads', {
    coversReads: true,
    about: 'a read registers its token, and is refused, as a write is',
    source: 'the cure of the lost update',
  }),
  like('fenced-open', {
    coversReads: true,
    needsOpen: true,
    about: 'a holder announces its token first, which shuts out all earlier ones',
    source: 'Hazelcast, FencedLock: set_fence',
  }),
  like('fenced-sequenced', {
    refuses: 'lower-or-repeated',
    about: 'orders the writes of one token by a sequence number: no reordering, no repetition',
    source: 'the cure of reordering within a token',
  }),
  like('fenced-volatile', { isDurable: false, about: 'forgets its highest token in a crash' }),
  like('fenced-per-key', { scope: 'key', about: 'keeps a highest token per key' }),
  like('unique-token', {
    refuses: 'other',
    needsOpen: true,
    opensAnything: true,
    about: 'an `open` sets the current token, and only writes that carry it are accepted',
    source: 'antirez, Is Redlock safe? (2016)',
  }),
];

const mutants: readonly (readonly [string, FenceRule])[] = [
  like('fence-inverted', {
    refuses: 'higher',
    about: 'the comparison is the wrong way round: refuses the higher token',
    unpromised: ['progress', 'linearizable'],
  }),
  like('fence-equality', {
    refuses: 'other',
    about: 'refuses any other token than the first one that it registered',
    source: 'mutant of fenced, as etcd’s own demo of fencing compares',
    unpromised: ['progress', 'linearizable'],
  }),
  like('highest-not-updated', {
    registers: false,
    about: 'compares with a highest token that it never assigns',
  }),
  like('highest-on-one-replica', {
    replicaCompares: false,
    about: 'a replica that takes over does not compare',
  }),
  like('client-side-fence', {
    refuses: 'nothing',
    comparedBy: 'client',
    about: 'the client reads the highest token, compares it itself, then writes plainly',
  }),
  like('token-missing-accepted', {
    takesMissing: true,
    about: 'accepts what carries no token; see the option `attaches` of the lock service',
  }),
];

/** The stores that go by tokens, by name; `storeKinds` has all others too. */
export const stores: ReadonlyMap<string, FenceRule> = new Map([...variants, ...mutants]);

/** Refuses what is no rule of a store. */
export function requireRule(rule: FenceRule): void {
  requireObject('kind', rule);
  requireWord('refuses', rule.refuses, REFUSES);
  requireWord('scope', rule.scope, ['resource', 'key']);
  requireWord('comparedBy', rule.comparedBy, ['store', 'client']);
  const { registers, coversReads, needsOpen, opensAnything } = rule;
  const { isDurable, takesMissing, replicaCompares } = rule;
  const flags = { registers, coversReads, needsOpen, opensAnything, isDurable, takesMissing };
  for (const [name, value] of Object.entries({ ...flags, replicaCompares })) {
    requireFlag(name, value);
  }
}
