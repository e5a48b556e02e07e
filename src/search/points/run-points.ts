/**
 * Lists the points that a run passes, in order: the operations, marks and timers of its clients.
 * For built-in systems, the plan determines most of them (`sectionPointsOf`). Only a run shows the
 * operations of user code, and operations after a denial. `places.ts` uses the points to check that
 * each fault of a scenario has a place.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Answer, Call } from '../../core/history/call.ts';
import { isTimer, sectionPointsOf, timersOf } from '../../core/plan/operation-names.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { watchAsync } from '../../host/async/run-async.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';

/** A place that a run passed, or that the plan determines. */
export interface PlacePassed {
  /** For example `alice/1/write`, as faults name it. */
  readonly name: string;
  readonly kind: 'operation' | 'mark' | 'timer';
  readonly process: string;
  /** The number of the section. Null without a section, as for a timer of asynchronous code. */
  readonly section: number | null;
  /** The time at which the run first passed the place, or null if it did not. */
  readonly atUs: number | null;
  /** The verb by which a scenario can place a fault here, or null if none is known. */
  readonly word: string | null;
  /** The server that receives the operation. Null for other places. */
  readonly server: string | null;
  /** The call of an operation, and the answer if known. Null for other places. */
  readonly call: Call | null;
  readonly answer: Answer | null;
}

/** The places that a run passed, and the messages that it sent. */
export interface RunPoints {
  readonly places: readonly PlacePassed[];
  readonly messages: ReadonlySet<string>;
  /** True if the run was truncated or failed. More places may then exist. */
  readonly isTruncated: boolean;
}

/** Returns the plan without planned or drawn faults. */
export function withoutFaults(plan: Plan): Plan {
  const { chance } = plan;
  if (chance === null) return { ...plan, faults: [] };
  const calm = { ...chance, delay: null, drop: null, duplicate: null, lateTimer: null };
  return { ...plan, faults: [], chance: calm };
}

/** Runs a plan and returns each point that its clients passed. Stores must be prepared. */
export async function pointsOfRun(plan: Plan, catalogue: Catalogue): Promise<RunPoints> {
  const clients = new Set(plan.clients.map(({ name }) => name));
  const timers = new Map<string, PlacePassed>();
  const { events, ending } = await watchAsync(plan, catalogue, ({ name: { text }, timeUs }) => {
    if (!isTimer(text, clients) || timers.has(text)) return;
    timers.set(text, { ...placeNamed(text, 'timer'), atUs: timeUs });
  });
  const receivers = new Map<string, string>();
  const answers = new Map<string, Answer>();
  for (const event of events) {
    if (event.kind === 'send') receivers.set(event.message, event.to);
    if (event.kind === 'return' && event.answer !== null)
      answers.set(event.operation, event.answer);
  }
  const passed = new Map<string, PlacePassed>();
  for (const event of events) {
    if ((event.kind !== 'invoke' && event.kind !== 'mark') || !clients.has(event.process)) continue;
    const name = event.kind === 'mark' ? event.point : event.operation;
    if (passed.has(name)) continue;
    const { atUs } = event;
    if (event.kind === 'mark') passed.set(name, { ...placeNamed(name, 'mark'), atUs });
    else {
      const server = receivers.get(`${name}/1/request`) ?? null;
      const asked = { server, call: event.call, answer: answers.get(name) ?? null };
      passed.set(name, { ...placeNamed(name, 'operation'), ...asked, atUs });
    }
  }
  // A timer precedes all operations of its client at the same time.
  const places = [...timers.values(), ...passed.values()].sort(
    (a, b) => (a.atUs ?? 0) - (b.atUs ?? 0),
  );
  return { places, messages: new Set(receivers.keys()), isTruncated: ending.kind !== 'complete' };
}

function placeNamed(
  name: string,
  kind: PlacePassed['kind'],
  word: string | null = null,
): PlacePassed {
  const [process = '', second = ''] = name.split('/');
  const section = /^[1-9]\d*$/.test(second) ? Number(second) : null;
  return { name, kind, process, section, atUs: null, word, server: null, call: null, answer: null };
}

/** Returns the places that the plan determines. A run without faults can pass them. */
export function plannedPlaces(
  { clients }: Pick<Plan, 'clients'>,
  { store, operations }: Pick<SystemScenario, 'store' | 'operations'>,
): readonly PlacePassed[] {
  const named = operations === undefined ? {} : { operations };
  return clients.flatMap((client) =>
    client.sections.flatMap((section) => [
      ...sectionPointsOf({ client, section, store, ...named }).map(({ point, verb }) =>
        placeNamed(point, verb === 'checked' ? 'mark' : 'operation', verb),
      ),
      ...timersOf({ client, section }).map((name) => placeNamed(name, 'timer')),
    ]),
  );
}

/**
 * Returns the places of a plan without its faults, by client and section. Places that were not
 * passed come last in their section.
 */
export async function placesOf(
  plan: Plan,
  system: SystemScenario,
  catalogue: Catalogue,
): Promise<readonly PlacePassed[]> {
  const { places } = await pointsOfRun(withoutFaults(plan), catalogue);
  const planned = new Map(plannedPlaces(plan, system).map((place) => [place.name, place]));
  const passed = new Set(places.map(({ name }) => name));
  const all = [
    ...places.map((place) => ({ ...place, word: planned.get(place.name)?.word ?? null })),
    ...[...planned.values()].filter(({ name }) => !passed.has(name)),
  ];
  const order = plan.clients.map(({ name }) => name);
  const rank = ({ process }: PlacePassed): number => order.indexOf(process);
  const number = ({ section }: PlacePassed): number => section ?? Number.MAX_SAFE_INTEGER;
  return all.sort((a, b) => rank(a) - rank(b) || number(a) - number(b));
}
