/**
 * Enumerates orders of events that are due at the same instant. By default, a plan runs them in the
 * order in which they were scheduled. A swap moves one event ahead of other events of the same
 * receiver. The order of different receivers at one instant has no effect.
 *
 * A swap by two equals two swaps of neighbors: `a b c` becomes `c a b`. Swaps are listed by the
 * position that they fill, and each position is filled once. Therefore, every order that a given
 * number of neighbor swaps can produce is found exactly once: `b c a` is a swap by one at the first
 * position, then a swap by one at the second.
 */
import { isTimer } from '../../core/plan/operation-names.ts';
import { FIRST } from '../../core/world/agenda.ts';
import type { Turn, Watched } from './slots.ts';

export interface Swap {
  readonly kind: 'swap';
  /** The event that is moved forward. */
  readonly name: string;
  /** The number of events of the same receiver that the moved event overtakes. */
  readonly by: number;
  /** All events of the instant up to this event, in the format of a plan's `order`. */
  readonly order: readonly string[];
}

/** A swap, and the index of the turn that the moved event takes. */
export interface PlacedSwap {
  readonly swap: Swap;
  readonly turn: number;
}

/** Returns the `order` of a plan. The last swap of an instant replaces earlier swaps. */
export function orderOf(swaps: readonly Swap[]): readonly string[] {
  let order: readonly string[] = [];
  for (const { order: latest } of swaps) {
    const latestNames = new Set(latest);
    order = [...order.filter((name) => !latestNames.has(name)), ...latest];
  }
  return order;
}

/**
 * Returns every swap by `by` positions at a turn of the run. Some of them have no effect: an event
 * stays in place if the preceding event causes it or is on the same connection.
 */
export function swapsIn(watched: Watched, by: number): readonly PlacedSwap[] {
  const { turns, plan } = watched;
  const receiverOf = receiversIn(watched);
  const seen = new Set<string>();
  const often = new Set<string>();
  for (const { text } of turns) (seen.has(text) ? often : seen).add(text);
  const found: PlacedSwap[] = [];
  for (let from = 0; from < turns.length; ) {
    let to = from;
    while (turns[to]?.atUs === turns[from]?.atUs && to < turns.length) to += 1;
    if ((turns[from]?.atUs ?? 0) >= plan.limits.healAtUs) break;
    found.push(...swapsBetween({ turns, from, to, by }, receiverOf, often));
    from = to;
  }
  return found;
}

interface Instant {
  readonly turns: readonly Turn[];
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

/**
 * Returns the swaps within one instant. A plan orders events by name, at every instant. Therefore,
 * an event with a recurring name must stay in place, with the events behind it.
 */
function swapsBetween(
  { turns, from, to, by }: Instant,
  receiverOf: (text: string) => string | null,
  often: ReadonlySet<string>,
): readonly PlacedSwap[] {
  if (to - from < 2) return [];
  const found: PlacedSwap[] = [];
  const ahead: string[] = [];
  for (let at = from; at < to && !ahead.some((name) => often.has(name)); at += 1) {
    const turn = turns[at];
    if (turn === undefined || turn.tie === FIRST) continue;
    const receiver = receiverOf(turn.text);
    const later = turns.slice(at + 1, to).filter(({ text }) => receiverOf(text) === receiver);
    const name = later[by - 1]?.text;
    if (receiver !== null && name !== undefined && !often.has(name)) {
      found.push({ turn: at, swap: { kind: 'swap', name, by, order: [...ahead, name] } });
    }
    ahead.push(turn.text);
  }
  return found;
}

/** Returns a function that maps an event name to its receiver, or to null if unknown. */
function receiversIn({ plan, trace }: Watched): (text: string) => string | null {
  const receivers = new Map<string, string>();
  for (const event of trace.events) {
    if (event.kind === 'send') receivers.set(event.message, event.to);
  }
  const clients = new Set(plan.clients.map(({ name }) => name));
  return (text) => {
    const known = receivers.get(text);
    if (known !== undefined) return known;
    const [, process] = /^(?:resume|restart)\/(.*)$/.exec(text) ?? [];
    if (process !== undefined) return process;
    return isTimer(text, clients) ? text.slice(0, text.indexOf('/')) : null;
  };
}
