/**
 * The protected resource: values by resource and key, behind a fence. Pure state and rules, usable
 * without the simulator.
 *
 * Each store is a row of `stores`, below, which lists what the store compares and remembers. For
 * example, `fenced` refuses a write with token 1 once it has accepted token 2.
 */
import type { Refusal } from '../../core/history/events.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import { argument } from '../argument.ts';
import type { StoreReply } from './request.ts';

type Access = Parameters<Store['write']>[0];

interface Registered {
  readonly highest: number;
  readonly sequence: number;
}

type ByResource<V> = Map<string, Map<string, V>>;

/**
 * A store that checks fencing tokens, without a network. Every value is 0 at first. A refusal is a
 * reply with the token that the request was compared with. An invalid argument throws a `TypeError`
 * or a `RangeError`.
 */
export class Store {
  readonly rule: FenceRule;
  private readonly takesAnyToken: boolean;
  /** True if tokens are ignored. */
  private isOpen: boolean;
  private values: ByResource<number> = new Map();
  /** By resource, then by key; the key is '' if the resource has a single highest token. */
  private registered: ByResource<Registered> = new Map();

  /**
   * `kind` is a rule, or the name of one of `stores`, such as `fenced`. With `takesAnyToken`, a
   * token may be negative or above 2^53, as from a faulty lock service.
   */
  constructor(kind: FenceRule | string, requirements: { takesAnyToken?: boolean } = {}) {
    argument.object('requirements', requirements);
    const { takesAnyToken = false } = requirements;
    argument.flag('takesAnyToken', takesAnyToken);
    const rule = ruleOf(kind);
    this.rule = rule;
    this.takesAnyToken = takesAnyToken;
    this.isOpen = rule.refuses === 'nothing' && !rule.registers;
  }

  /** Writes a value, unless the rule refuses the token of the access. */
  write(
    access: {
      readonly resource: string;
      readonly key: string;
      readonly token: number;
      /** Number among the grant's accesses, from 1. Only `fenced-sequenced` uses it. */
      readonly sequence: number;
    },
    value: number,
  ): StoreReply {
    this.requireValid(access);
    argument.finite('value', value);
    const refusal = this.register(access);
    if (refusal !== null) return refusal;
    if (this.rule.dropsWrites !== true) {
      entryOf(this.values, access.resource, () => new Map()).set(access.key, value);
    }
    return { kind: 'accepted' };
  }

  /** Returns a value, 0 at first, unless the rule refuses the token of the access. */
  read(access: Parameters<Store['write']>[0]): StoreReply {
    this.requireValid(access);
    const refusal = this.rule.coversReads ? this.register(access) : null;
    if (refusal !== null) return refusal;
    return { kind: 'value', value: this.values.get(access.resource)?.get(access.key) ?? 0 };
  }

  /** Announces a token before the first access under it. */
  open(access: Parameters<Store['write']>[0]): StoreReply {
    this.requireValid(access);
    if (this.rule.opensAnything)
      entryOf(this.registered, access.resource, () => new Map()).delete(this.scopeOf(access.key));
    return this.register(access) ?? { kind: 'accepted' };
  }

  /** Returns the registered token for this access, or 0 if there is none. */
  highest(access: { readonly resource: string; readonly key: string }): number {
    requirePlace(access);
    return this.registered.get(access.resource)?.get(this.scopeOf(access.key))?.highest ?? 0;
  }

  private requireValid(access: Access): void {
    requirePlace(access);
    const { token, sequence } = access;
    if (this.takesAnyToken) argument.integer('token', token);
    else argument.integerFrom('token', token, 0);
    argument.integerFrom('sequence', sequence, 0);
  }

  /**
   * Returns the reason for a refusal, or null if the token is below the highest.
   *
   * @internal
   */
  whyRefused(access: Access): Refusal | null {
    this.requireValid(access);
    const { resource, key, token } = access;
    const last = this.registered.get(resource)?.get(this.scopeOf(key));
    const { refuses } = this.rule;
    if (refuses === 'other') return { kind: 'other' };
    if (last === undefined || token < last.highest) return null;
    if (refuses === 'lower-or-repeated') return { kind: 'order', last: last.sequence };
    return { kind: token > last.highest ? 'higher' : 'equal' };
  }

  /** Registers the access's token. Returns a refusal, or null if the token is accepted. */
  private register(access: Access): StoreReply | null {
    if (this.isOpen) return null;
    const { resource, token, sequence } = access;
    if (token === 0 && this.rule.takesMissing) return null;
    const scope = this.scopeOf(access.key);
    const last = this.registered.get(resource)?.get(scope);
    if (last !== undefined && this.refuses(last, access)) {
      return { kind: 'refused', highest: last.highest };
    }
    if (!this.rule.registers) return null;
    const highest = last === undefined || token > last.highest ? token : last.highest;
    entryOf(this.registered, resource, () => new Map()).set(scope, { highest, sequence });
    return null;
  }

  private refuses(last: Registered, { token, sequence }: Access): boolean {
    const { refuses } = this.rule;
    if (token === last.highest) {
      if (refuses === 'lower-or-repeated') return sequence <= last.sequence;
      return refuses === 'lower-or-equal';
    }
    if (refuses === 'lower' || refuses === 'lower-or-equal' || refuses === 'lower-or-repeated') {
      return token < last.highest;
    }
    if (refuses === 'higher') return token > last.highest;
    return refuses === 'other';
  }

  private scopeOf(key: string): string {
    return this.rule.scope === 'resource' ? '' : key;
  }

  /** Returns the highest token of a resource over all keys, and the values by key. */
  contents(resource: string): { highest: number; values: ReadonlyMap<string, number> } {
    argument.name('resource', resource);
    const registered = this.registered.get(resource)?.values() ?? [];
    return {
      highest: Math.max(0, ...[...registered].map(({ highest }) => highest)),
      values: this.values.get(resource) ?? new Map(),
    };
  }

  /** Deletes the values of a key. Returns the resources that had one. */
  forget(key: string): readonly string[] {
    argument.name('key', key);
    const forgetful = [...this.values].filter(([, values]) => values.delete(key));
    return forgetful.map(([resource]) => resource);
  }

  /** Drops what does not survive a crash. */
  crash(): void {
    if (!this.rule.isDurable) this.registered = new Map();
  }

  /** Returns a function that restores the present state in a replica. */
  snapshot(): () => void {
    const values = twinOf(this.values);
    const registered = twinOf(this.registered);
    return () => {
      if (!this.rule.replicaCompares) this.isOpen = true;
      this.values = twinOf(values);
      this.registered = twinOf(registered);
    };
  }
}

function ruleOf(kind: FenceRule | string): FenceRule {
  if (typeof kind !== 'string') {
    requireRule(kind);
    return kind;
  }
  const rule = stores.get(kind);
  if (rule !== undefined) return rule;
  throw new RangeError(`there is no store "${kind}"; there are ${[...stores.keys()].join(', ')}`);
}

function requirePlace(place: Pick<Access, 'resource' | 'key'>): void {
  argument.object('access', place);
  argument.name('resource', place.resource);
  argument.name('key', place.key);
}

function twinOf<V>(resources: ByResource<V>): ByResource<V> {
  return new Map([...resources].map(([resource, part]) => [resource, new Map(part)]));
}

/** The rule of a store: which tokens it compares and remembers. */
export interface FenceRule {
  /**
   * Tokens to refuse, by comparison with the registered token. `higher` and `other` are for stores
   * with a wrong comparison, or with a single token.
   */
  readonly refuses:
    | 'nothing'
    | 'lower'
    | 'lower-or-equal'
    | 'lower-or-repeated'
    | 'higher'
    | 'other';
  /** True if the highest token of accepted accesses is registered. */
  readonly registers: boolean;
  /** True if reads, like writes, are compared and register their token. */
  readonly coversReads: boolean;
  /** True if a client must announce its token (`open`) before its first access. */
  readonly needsOpen: boolean;
  /** True if an announced token replaces the registered token, even a higher one. */
  readonly opensAnything: boolean;
  /** The scope of a highest token: a resource, or a key. */
  readonly scope: 'resource' | 'key';
  /** True if the highest token survives a crash. */
  readonly isDurable: boolean;
  /** True if an access without a token (0) is accepted without a comparison. */
  readonly takesMissing: boolean;
  /** True if a replica that takes over compares tokens too. */
  readonly replicaCompares: boolean;
  /** The component that compares tokens: the store, or the client before a write. */
  readonly comparedBy: 'store' | 'client';
  /** True if the store discards what it accepts. Default false. */
  readonly dropsWrites?: boolean;
  /** A one-line description, for `fencepost list`. */
  readonly about: string;
  /** The document that specifies the rule, or the name of the mutated store. */
  readonly source: string;
  /** Claims that the store does not guarantee, even without faults. */
  readonly notGuaranteed: readonly string[];
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
  notGuaranteed: [],
};

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
    about: 'a read registers its token, and may be refused, like a write',
    source: 'a cure for the lost update',
  }),
  like('fenced-open', {
    coversReads: true,
    needsOpen: true,
    about: 'a holder announces its token first, which excludes all earlier ones',
    source: 'Hazelcast, FencedLock: set_fence',
  }),
  like('fenced-sequenced', {
    refuses: 'lower-or-repeated',
    about: 'orders the writes of one token by a sequence number: no reordering, no repetition',
    source: 'a cure for reordering within a token',
  }),
  like('fenced-volatile', { isDurable: false, about: 'forgets its highest token in a crash' }),
  like('fenced-per-key', { scope: 'key', about: 'keeps the highest token per key' }),
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
    about: 'compares in the wrong direction: refuses the higher token',
    notGuaranteed: ['progress', 'linearizable'],
  }),
  like('fence-equality', {
    refuses: 'other',
    about: 'refuses any token except the first that it registered',
    source: 'mutant of fenced; compares like etcd’s own fencing demo',
    notGuaranteed: ['progress', 'linearizable'],
  }),
  like('highest-not-updated', {
    registers: false,
    about: 'compares with a highest token that it never updates',
  }),
  like('highest-on-one-replica', {
    replicaCompares: false,
    about: 'a replica that takes over does not compare tokens',
  }),
  like('client-side-fence', {
    refuses: 'nothing',
    comparedBy: 'client',
    about: 'the client reads the highest token, compares it, then writes unconditionally',
  }),
  like('drops-writes', {
    dropsWrites: true,
    about: 'accepts writes, but stores none of them',
    notGuaranteed: ['grant-order', 'no-lost-update', 'linearizable', 'acknowledged-durable'],
  }),
  like('token-missing-accepted', {
    takesMissing: true,
    about: 'accepts accesses without a token; see the option `attaches` of the lock service',
  }),
];

/** The rules of the stores that compare tokens, by the names that scenarios use: `fenced`. */
export const stores: ReadonlyMap<string, FenceRule> = new Map([...variants, ...mutants]);

const REFUSES: readonly FenceRule['refuses'][] = [
  'nothing',
  'lower',
  'lower-or-equal',
  'lower-or-repeated',
  'higher',
  'other',
];

function requireRule(rule: FenceRule): void {
  argument.object('kind', rule);
  argument.word('refuses', rule.refuses, REFUSES);
  argument.word('scope', rule.scope, ['resource', 'key']);
  argument.word('comparedBy', rule.comparedBy, ['store', 'client']);
  for (const name of FLAGS) argument.flag(name, rule[name]);
}

const FLAGS = [
  'registers',
  'coversReads',
  'needsOpen',
  'opensAnything',
  'isDurable',
  'takesMissing',
  'replicaCompares',
] as const;
