/**
 * Lets some calls happen at any time and however often, between those that count: what contradicts
 * even so does not depend on them.
 */
import { assert } from '../core/kernel/assert.ts';
import type { Json } from '../core/kernel/json.ts';
import { Interner } from './interner.ts';
import type { Model } from './model.ts';
import type { CallData } from './operation.ts';

const mostStates = 256;

/** The calls of a history that may be free, as far as what they lead to can be listed. */
export class FreeCalls<State extends Json, Call extends CallData> {
  private readonly model: Model<State, Call>;
  private readonly awaited: readonly State[];

  /** `calls`: all of the history. */
  constructor(model: Model<State, Call>, calls: readonly Call[]) {
    this.model = model;
    const awaited = model.approaches === undefined ? [] : calls.map((call) => model.awaits?.(call));
    this.awaited = awaited.filter((state) => state !== undefined);
  }

  /** The model in which `free` calls may come before each call; `reach` must know what they do. */
  modelWith(free: readonly Call[]): Model<State, Call> {
    const { model } = this;
    if (free.length === 0) return model;
    return {
      name: model.name,
      init: model.init,
      step: (state, call): readonly State[] => {
        const states = this.reach([state], free);
        assert(states !== null, 'free calls lead to few states');
        return states.flatMap((one) => model.step(one, call));
      },
    };
  }

  /**
   * All that `calls` make of `states`, however often they come, with one state for those that are
   * not awaited and grow into none that is; null when that is too much.
   */
  reach(states: readonly State[], calls: readonly Call[]): readonly State[] | null {
    const known = new Interner();
    known.reset();
    const reached: State[] = [];
    let hasBlind = false;
    const add = (state: State): void => {
      const met = known.values.length;
      if (known.intern(state) < met) return;
      const isBlind = this.isBlind(state);
      if (!isBlind || !hasBlind) reached.push(state);
      hasBlind ||= isBlind;
    };
    states.forEach(add);
    for (const state of reached) {
      if (reached.length > mostStates) return null;
      for (const call of calls) this.model.step(state, call).forEach(add);
    }
    return reached;
  }

  private isBlind(state: State): boolean {
    const { model, awaited } = this;
    if (model.approaches === undefined) return false;
    return !awaited.some((one) => model.approaches?.(state, one));
  }
}
