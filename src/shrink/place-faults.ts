/**
 * Places a fault at a named point instead of at an instant, which then needs no number and stays
 * right when something before it is taken away.
 */
import type { When } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { changeFault } from './change.ts';
import { instantOf } from './fault-number.ts';
import type { Pass, Search, Steps } from './search.ts';
import { operationsOf } from './without.ts';

/** Points that a run of the plan passes, the likeliest first. */
export type PointsOf = (plan: Plan) => readonly string[];

/** Placements that are tried for one fault in one turn. */
const MAX_PLACES = 24;

export function placeFaults(pointsOf: PointsOf | undefined): Pass {
  return {
    name: 'place faults at points',
    *run(search: Search): Steps<void> {
      for (let index = 0; index < search.current.faults.length; index += 1) {
        for (const when of placesFor(search.current, index, pointsOf)) {
          if (yield* search.attempt(placed(search.current, index, when))) break;
        }
      }
    },
  };
}

function placed(plan: Plan, index: number, when: When): Plan {
  return changeFault(plan, index, (fault) => ('when' in fault ? { ...fault, when } : fault));
}

/** For a clock time 0 comes first: an offset from the start needs no place. */
function placesFor(plan: Plan, index: number, pointsOf: PointsOf | undefined): readonly When[] {
  const fault = plan.faults[index];
  if (fault === undefined || !('when' in fault) || (instantOf(fault) ?? 0) === 0) return [];
  const own = 'process' in fault ? fault.process : '';
  const points = pointsOf?.(plan) ?? operationNames(plan, own);
  const places = points.flatMap((point): When[] => [
    { kind: 'before', point },
    { kind: 'after', point },
  ]);
  const start: When = { kind: 'at', atUs: 0 };
  const most = places.slice(0, MAX_PLACES);
  return fault.kind === 'clock' ? [start, ...most] : [...most, start];
}

/** The operations of the client `own`, or of all clients when no client has that name. */
function operationNames(plan: Plan, own: string): readonly string[] {
  const mine = plan.clients.filter((client) => client.name === own);
  const clients = mine.length > 0 ? mine : plan.clients;
  return clients.flatMap((client) =>
    client.sections.flatMap((section) => {
      const prefix = `${client.name}/${section.id}`;
      const work = section.work.flatMap(operationsOf).map((name) => `${prefix}/${name}`);
      return [...work, `${prefix}/acquire`, ...(client.releases ? [`${prefix}/release`] : [])];
    }),
  );
}
