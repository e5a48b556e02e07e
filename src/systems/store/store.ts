/**
 * The guarded resource: values by resource and key, and a fence in front of them. Pure state and rules,
 * usable without the simulator. Every value begins at 0; a token is a safe non-negative integer.
 */
import type { FenceRule } from './fence.ts';

export interface Access {
  readonly resource: string;
  readonly key: string;
  readonly token: number;
  /** The access's place among those of its grant, from 1; only `fenced-sequenced` looks at it. */
  readonly sequence: number;
}

export type StoreAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'value'; readonly value: number }
  /** The token is too low: `highest` is the one that it was compared with. */
  | { readonly kind: 'refused'; readonly highest: number };

interface Registered {
  readonly highest: number;
  readonly sequence: number;
}

const NOTHING: Registered = { highest: 0, sequence: 0 };

export class Store {
  readonly rule: FenceRule;
  private values: Map<string, Map<string, number>> = new Map();
  private registered: Map<string, Registered> = new Map();

  constructor(rule: FenceRule) {
    this.rule = rule;
  }

  write(access: Access, value: number): StoreAnswer {
    const refusal = this.register(access);
    if (refusal !== null) return refusal;
    const resource = this.values.get(access.resource) ?? new Map<string, number>();
    this.values.set(access.resource, resource.set(access.key, value));
    return { kind: 'accepted' };
  }

  read(access: Access): StoreAnswer {
    const refusal = this.rule.coversReads ? this.register(access) : null;
    if (refusal !== null) return refusal;
    return { kind: 'value', value: this.values.get(access.resource)?.get(access.key) ?? 0 };
  }

  /** Announces a token before the first access under it. */
  open(access: Access): StoreAnswer {
    return this.register(access) ?? { kind: 'accepted' };
  }

  /** The highest token that guards this access; 0 when none is registered. */
  highest(access: Pick<Access, 'resource' | 'key'>): number {
    return this.registered.get(this.scopeOf(access))?.highest ?? 0;
  }

  /** Registers the access's token, or says why it is too low. */
  private register(access: Access): StoreAnswer | null {
    if (this.rule.refuses === 'nothing') return null;
    const { token, sequence } = access;
    const scope = this.scopeOf(access);
    const last = this.registered.get(scope) ?? NOTHING;
    if (token < last.highest || (token === last.highest && this.refusesAgain(last, sequence))) {
      return { kind: 'refused', highest: last.highest };
    }
    this.registered.set(scope, { highest: token, sequence });
    return null;
  }

  /** Whether it refuses an access with the very token that it has registered. */
  private refusesAgain(last: Registered, sequence: number): boolean {
    if (last === NOTHING) return false;
    if (this.rule.refuses === 'lower-or-repeated') return sequence <= last.sequence;
    return this.rule.refuses === 'lower-or-equal';
  }

  private scopeOf(access: Pick<Access, 'resource' | 'key'>): string {
    return this.rule.scope === 'resource' ? access.resource : `${access.resource}/${access.key}`;
  }

  /** What it holds of each resource it knows. */
  contents(): readonly { resource: string; highest: number; values: ReadonlyMap<string, number> }[] {
    return [...this.values].map(([resource, values]) => ({
      resource,
      highest: Math.max(0, ...[...values.keys()].map((key) => this.highest({ resource, key }))),
      values,
    }));
  }

  /** Forgets the values of a key; false where there were none. */
  forget(key: string): boolean {
    let found = false;
    for (const resource of this.values.values()) found = resource.delete(key) || found;
    return found;
  }

  /** What is left after a crash. */
  crash(): void {
    if (!this.rule.isDurable) this.registered = new Map();
  }

  /** A copy of its state, as a function that brings it back. */
  snapshot(): () => void {
    const values = copyValues(this.values);
    const registered = new Map(this.registered);
    return () => {
      this.values = copyValues(values);
      this.registered = new Map(registered);
    };
  }
}

function copyValues(values: Map<string, Map<string, number>>): Map<string, Map<string, number>> {
  return new Map([...values].map(([resource, keys]) => [resource, new Map(keys)]));
}
