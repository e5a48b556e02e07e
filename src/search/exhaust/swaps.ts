/**
 * Orders of events that are due at one instant. A plan's own order is that in which they were
 * scheduled; a swap lets one event come before others of the same receiver. What different
 * receivers do at one instant does not depend on which of them comes first.
 *
 * A swap by two is two swaps of neighbours: `a b c` becomes `c a b`. Swaps stand in the order of
 * the places that they fill, and each fills its place for good, so that every order which so many
 * swaps of neighbours lead to is found once: `b c a` is a swap by one at the first place, and
 * another at the second.
 */
import { isTimer } from '../../core/plan/operation-names.ts';
import { FIRST } from '../../core/world/agenda.ts';
import type { Turn, Watched } from './slots.ts';

export interface Swap {
  readonly kind: 'swap';
  /** The event that comes earlier than it would. */
  readonly name: string;
  /** How many of its receiver it comes before that were ahead of it. */
  readonly by: number;
  /** All of its instant up to itself, as a plan's `order` has it. */
  readonly order: readonly string[];
}

/** A swap, and which of the run's events it takes the turn of. */
export interface PlacedSwap {
  readonly swap: Swap;
  readonly turn: number;
}

/** A plan's order with all swaps in it, the latest of an instant in place of those before it. */
export function orderOf(swaps: readonly Swap[]): readonly string[] {
  let order: readonly string[] = [];
  for (const { order: latest } of swaps) {
    const said = new Set(latest);
    order = [...order.filter((name) => !said.has(name)), ...latest];
  }
  return order;
}

/**
 * Every swap by so many at a turn of the run. Whether it can be is known by running it: an event
 * that the one before it caused, and what follows on one connection, stay where they are.
 */
export function swapsIn(watched: Watched, by: number): readonly PlacedSwap[] {
  const { turns, plan } = watched;
  const receiverOf = receiversIn(watched);
  const seen = new Set<string>();
  const often = new Set<string>();
  for (const { text } of turns) (seen.has(text) ? often : seen).add(text);
  const found: PlacedSwap[] = [];
  for (let from = 0; from < turns.length; ) {
    // The index after the last turn of the instant.
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
 * A plan orders by names, at whatever instant these come, so what has a name that comes again stays
 * where it is, and so does what would have to be ordered together with it.
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

/** Whose event it is by its name; null for what affects several, or nobody knows. */
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
