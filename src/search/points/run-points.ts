/**
 * The points that a run passes, by name: the operations, marks and timers of its clients, in their
 * order. Of fencepost's own systems most of it follows from the plan (`sectionPointsOf`);
 * what code of one's own asks for, and what comes only after a denial, is known by running it.
 * `places.ts` judges by it whether a fault of a scenario is placed anywhere at all.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Answer, Call, Invoke, Mark, Trace } from '../../core/history/trace.ts';
import { isTimer, sectionPointsOf, timersOf } from '../../core/plan/operation-names.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { watchAsync } from '../../host/async/run-async.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';

/** A place that a run came by, or one of its plan that it did not. */
export interface PlacePassed {
  /** `alice/1/write`, as faults name it. */
  readonly name: string;
  readonly kind: 'operation' | 'mark' | 'timer';
  readonly process: string;
  /** The section's number; null for what belongs to none, as a timer of asynchronous code. */
  readonly section: number | null;
  /** The instant at which it was first come by; null where it was not. */
  readonly atUs: number | null;
  /** The server that an operation asks; null for all else. */
  readonly server: string | null;
  /** What an operation asked for, and how it ended where that is known; null for all else. */
  readonly call: Call | null;
  readonly answer: Answer | null;
}

/** What one run passed, and the messages that it sent. */
export interface RunPoints {
  readonly places: readonly PlacePassed[];
  readonly messages: ReadonlySet<string>;
  /** Whether the run was cut or failed, so that there may be more places than it came by. */
  readonly isCut: boolean;
}

/** The plan with nothing in it that goes wrong. */
export function withoutFaults(plan: Plan): Plan {
  const { chance } = plan;
  if (chance === null) return { ...plan, faults: [] };
  const calm = { ...chance, delay: null, drop: null, duplicate: null, lateTimer: null };
  return { ...plan, faults: [], chance: calm };
}

/** Runs a plan and says which points its clients passed, each once. Stores must be prepared. */
export async function pointsOfRun(plan: Plan, catalogue: Catalogue): Promise<RunPoints> {
  const timers = new Map<string, number>();
  const clients = new Set(plan.clients.map(({ name }) => name));
  const trace = await watchAsync(plan, catalogue, ({ name: { text }, timeUs }) => {
    if (isTimer(text, clients) && !timers.has(text)) timers.set(text, timeUs);
  });
  const ends = endsIn(trace);
  const passed = new Map<string, PlacePassed>();
  for (const event of trace.events) {
    if (event.kind !== 'invoke' && event.kind !== 'mark') continue;
    if (!clients.has(event.process)) continue;
    const place = placeOf(event, ends);
    if (!passed.has(place.name)) passed.set(place.name, place);
  }
  const marks = [...timers].map(([name, atUs]): PlacePassed => {
    return { ...nameless(name), kind: 'timer', atUs };
  });
  // A timer that is due comes before what its client does then.
  const places = [...marks, ...passed.values()].sort((a, b) => (a.atUs ?? 0) - (b.atUs ?? 0));
  const messages = new Set(
    trace.events.flatMap((event) => (event.kind === 'send' ? [event.message] : [])),
  );
  return { places, messages, isCut: trace.ending.kind !== 'complete' };
}

function nameless(name: string): Omit<PlacePassed, 'kind' | 'atUs'> {
  const [process = '', second = ''] = name.split('/');
  const section = /^[1-9]\d*$/.test(second) ? Number(second) : null;
  return { name, process, section, server: null, call: null, answer: null };
}

/** By operation: whom its first try asked, and what was answered. */
interface CallEnds {
  readonly servers: ReadonlyMap<string, string>;
  readonly answers: ReadonlyMap<string, Answer>;
}

function endsIn({ events }: Trace): CallEnds {
  const servers = new Map<string, string>();
  const answers = new Map<string, Answer>();
  for (const event of events) {
    if (event.kind === 'send' && event.message.endsWith('/1/request')) {
      servers.set(event.message.slice(0, -'/1/request'.length), event.to);
    } else if (event.kind === 'return' && event.answer !== null) {
      answers.set(event.operation, event.answer);
    }
  }
  return { servers, answers };
}

function placeOf(event: Invoke | Mark, { servers, answers }: CallEnds): PlacePassed {
  const { atUs } = event;
  if (event.kind === 'mark') return { ...nameless(event.point), kind: 'mark', atUs };
  const { operation, call } = event;
  const server = servers.get(operation) ?? null;
  const answer = answers.get(operation) ?? null;
  return { ...nameless(operation), kind: 'operation', atUs, server, call, answer };
}

/** The places of a plan that follow from it alone: what its clients pass when all goes well. */
export function plannedPlaces(
  { clients }: Pick<Plan, 'clients'>,
  { store, operations }: Pick<SystemScenario, 'store' | 'operations'>,
): readonly (PlacePassed & { readonly verb: string })[] {
  const named = operations === undefined ? {} : { operations };
  return clients.flatMap((client) =>
    client.sections.flatMap((section) => {
      const points = sectionPointsOf({ client, section, store, ...named }).map((one) => {
        const kind = one.verb === 'checked' ? ('mark' as const) : ('operation' as const);
        return { ...nameless(one.point), kind, atUs: null, verb: one.verb };
      });
      const timers = timersOf({ client, section }).map((name) => {
        return { ...nameless(name), kind: 'timer' as const, atUs: null, verb: '' };
      });
      return [...points, ...timers];
    }),
  );
}
