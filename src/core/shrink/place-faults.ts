/**
 * Replaces the instants of faults with named points. A point needs no number and stays valid if
 * earlier steps are removed. Another pass moves a fault off a step that has no other purpose. Only
 * points at which the scenario allows the fault are tried.
 */
import { instantOf, type When } from '../plan/fault.ts';
import { sectionPointsOf } from '../plan/operation-names.ts';
import { declaredPoints, distanceFromPlaces } from '../plan/places.ts';
import type { Plan } from '../plan/plan.ts';
import { changeFault, sectionKeys, withoutSections, withoutWork, workKeys } from './change.ts';
import type { Pass, Search, Steps } from './search.ts';

/** Returns the points that a run of the plan passes, most promising first. */
export type PointsOf = (plan: Plan) => readonly string[];

/** Maximum number of placements tried per fault and turn. */
const MAX_PLACES = 24;

export function placeFaults(pointsOf: PointsOf | undefined): Pass {
  return forEachFault('place faults at points', (plan, index) =>
    placesFor(plan, index, pointsOf).map((when) => placed(plan, index, when)),
  );
}

/** Moves faults off steps and sections that have no other purpose. */
export function moveFaults(pointsOf: PointsOf | undefined): Pass {
  return forEachFault('move faults off what can go', (plan, index) =>
    movedOff(plan, index, pointsOf),
  );
}

function forEachFault(
  name: string,
  candidates: (plan: Plan, index: number) => readonly Plan[],
): Pass {
  return {
    name,
    *run(search: Search): Steps<void> {
      for (let index = 0; index < search.current.faults.length; index += 1) {
        yield* search.attemptFirst(candidates(search.current, index));
      }
    },
  };
}

/** Returns plans that move the fault and remove the step or section that it depended on. */
function movedOff(plan: Plan, index: number, pointsOf: PointsOf | undefined): readonly Plan[] {
  const fault = plan.faults[index];
  if (fault === undefined || !('when' in fault) || fault.when.kind === 'at') return [];
  const removals = [
    ...sectionKeys(plan).map((key) => (from: Plan) => withoutSections(from, [key])),
    ...workKeys(plan).map((key) => (from: Plan) => withoutWork(from, [key])),
  ].filter((remove) => remove(plan).faults.length < plan.faults.length);
  const places = pointPlaces(plan, index, pointsOf);
  return removals.flatMap((remove) =>
    places
      .map((when) => remove(placed(plan, index, when)))
      .filter((moved) => moved.faults.length === plan.faults.length),
  );
}

function placed(plan: Plan, index: number, when: When): Plan {
  return changeFault(plan, index, (fault) => ('when' in fault ? { ...fault, when } : fault));
}

/** For clock faults, time 0 comes first: an offset from the start needs no place. */
function placesFor(plan: Plan, index: number, pointsOf: PointsOf | undefined): readonly When[] {
  const fault = plan.faults[index];
  if (fault === undefined || !('when' in fault) || (instantOf(fault) ?? 0) === 0) return [];
  const places = pointPlaces(plan, index, pointsOf);
  const start: When = { kind: 'at', atUs: 0 };
  return fault.kind === 'clock' ? [start, ...places] : [...places, start];
}

function pointPlaces(plan: Plan, index: number, pointsOf: PointsOf | undefined): readonly When[] {
  const fault = plan.faults[index];
  if (fault === undefined) return [];
  const process = 'process' in fault ? fault.process : '';
  const points = new Set(pointsOf?.(plan) ?? pointNames(plan, process));
  for (const { point } of declaredPoints(plan)) points.add(point);
  const places = [...points].flatMap((point): When[] => [
    { kind: 'before', point },
    { kind: 'after', point },
  ]);
  const distance = distanceFromPlaces(plan, fault);
  // Keep places that are no further from the allowed places than the current place.
  const nearer = places.filter((when) => {
    const after = placed(plan, index, when).faults[index];
    return after !== undefined && distanceFromPlaces(plan, after) <= distance;
  });
  return nearer.slice(0, MAX_PLACES);
}

function pointNames(plan: Plan, process: string): readonly string[] {
  const mine = plan.clients.filter((client) => client.name === process);
  const clients = mine.length > 0 ? mine : plan.clients;
  const { store } = plan.system;
  return clients.flatMap((client) =>
    client.sections.flatMap((section) =>
      sectionPointsOf({ client, section, store }).map(({ point }) => point),
    ),
  );
}
