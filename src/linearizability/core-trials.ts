/** Asks less and less of an invalid history, as long as it stays invalid. */
import type { Json } from '../core/kernel/json.ts';
import type { CheckOptions } from './check-options.ts';
import { decide } from './decide.ts';
import { FreeCalls } from './free-calls.ts';
import type { Model } from './model.ts';
import type { CallData, History, Operation } from './operation.ts';
import { makeOptional } from './relax.ts';

/**
 * What is asked of an operation, less and less: that it happened when it did; that it may have
 * happened, after its call; that it may have happened at any time and however often; nothing.
 */
type Asked = 'required' | 'optional' | 'free' | 'nothing';

/** An operation of the history, by its index there. */
interface Place<Call> {
  readonly index: number;
  readonly isPure: boolean;
  readonly operation: Operation<Call>;
  asked: Asked;
}

type TrialEnding = 'valid' | 'invalid' | 'unknown' | 'stopped';

const maxConfigurationsOfTrial = 5_000;
const freeOfCharge = 64;

/** The object may be in any of `states` at first: each must contradict the history. */
export class CoreTrials<State extends Json, Call extends CallData> {
  isMinimal = true;
  /** How many configurations the trials may still meet; a trial counts as one more. */
  left: number;
  /** All but those that failed. */
  private readonly places: readonly Place<Call>[];
  private readonly options: CheckOptions;
  /** What settled the last trial comes first in the next. */
  private readonly states: State[];
  /** Whether calls that come however often lead to few states. */
  readonly canFree: boolean;
  private readonly freeCalls: FreeCalls<State, Call>;

  constructor(
    history: History<Call>,
    model: Model<State, Call>,
    states: readonly State[],
    options: CheckOptions & { readonly maxConfigurations: number },
  ) {
    this.places = history.flatMap((operation, index) => {
      const isPure = model.isPure?.(operation.call) ?? false;
      // A pure operation without an answer says nothing.
      if (operation.outcome === 'fail' || (isPure && operation.outcome === 'info')) return [];
      const asked = operation.outcome === 'ok' ? 'required' : 'optional';
      return [{ index, isPure, operation, asked }];
    });
    this.states = [...states];
    this.options = options;
    this.left = options.maxConfigurations;
    const calls = this.places.map(({ operation }) => operation.call);
    this.freeCalls = new FreeCalls(model, calls);
    this.canFree = this.freeCalls.reach(states, calls) !== null;
  }

  /** In the order of the history. */
  of(asked: Asked): Place<Call>[] {
    return this.places.filter((place) => place.asked === asked);
  }

  /** Asks less of as many of `places` as it can without resolving the contradiction. */
  relax(places: readonly Place<Call>[], to: Asked): void {
    if (places.length === 0) return;
    const before = places.map(({ asked }) => asked);
    for (const place of places) place.asked = to;
    const ending = this.try();
    if (ending === 'invalid') return;
    for (const [at, place] of places.entries()) place.asked = before[at] ?? place.asked;
    if (ending === 'stopped' || (ending === 'unknown' && places.length === 1)) {
      this.isMinimal = false;
    }
    if (ending === 'stopped' || places.length === 1) return;
    // What cannot be relaxed now cannot be when even less is asked of the rest: one pass is enough.
    const middle = places.length >> 1;
    this.relax(places.slice(0, middle), to);
    this.relax(places.slice(middle), to);
  }

  try(): TrialEnding {
    const operations = this.places.flatMap(({ asked, operation }) => {
      if (asked === 'required') return [operation];
      return asked === 'optional' ? [makeOptional(operation)] : [];
    });
    const free = this.of('free').map(({ operation }) => operation.call);
    const model = this.freeCalls.modelWith(free);
    for (const [at, state] of this.states.entries()) {
      const ending = this.tryFrom(operations, { ...model, init: state });
      if (ending === 'invalid') continue;
      this.states.splice(at, 1);
      this.states.unshift(state);
      return ending;
    }
    return 'invalid';
  }

  private tryFrom(operations: History<Call>, model: Model<State, Call>): TrialEnding {
    if (this.left <= 0 || this.options.shouldStop?.()) return 'stopped';
    const optional = operations.filter(({ outcome }) => outcome === 'info').length;
    // A configuration takes the longer the more may still happen in it.
    const price = 1 + optional / freeOfCharge;
    const decision = decide(operations, model, {
      ...this.options,
      maxConfigurations: Math.ceil(Math.min(this.left / price, maxConfigurationsOfTrial)),
      isRough: true,
      isSearchOnly: true,
    });
    this.left -= decision.configurations * price + 1;
    return decision.kind;
  }
}
