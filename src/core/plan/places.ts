/**
 * The durations and places that a scenario allows for a plan's faults: by time, by the verb of an
 * operation, at one point, or anywhere. A fault declared by time may be placed at a point, if the
 * run passes that point at an allowed time. Only a run can check this; everything else follows from
 * the plan.
 *
 * In files, a place is text: `0ms..100ms`, `before write`, `after alice/1/acquire`, `any point`.
 */

import { formatRange, parseRange, type RangeUs } from './duration.ts';
import type { Fault, FaultKind, When } from './fault.ts';
import { type SectionPoint, sectionPointsOf } from './operation-names.ts';
import type { Bounds, FaultPlace, Plan } from './plan.ts';

export function formatPlace(place: FaultPlace): string {
  if (place.kind === 'time') return formatRange(place.at);
  return place.kind === 'any point' ? place.kind : `${place.kind} ${place.point}`;
}

/** Returns undefined if the text is not a place. */
export function parsePlace(text: string): FaultPlace | undefined {
  if (text === 'any point') return { kind: text };
  const [, side, point] = /^(before|after) ([^\s]+)$/.exec(text) ?? [];
  if (point !== undefined) return { kind: side === 'before' ? 'before' : 'after', point };
  const at = parseRange(text);
  return at === undefined ? undefined : { kind: 'time', at };
}

/**
 * Returns the distance of a fault from its allowed places: 0 inside, microseconds for another time,
 * infinity for another point. A fault that only a run can judge counts as inside.
 */
export function distanceFromPlaces(plan: Plan, fault: Fault): number {
  const places = placesOf(plan, fault);
  if (places === null || !('when' in fault)) return 0;
  const { when } = fault;
  if (when.kind === 'at') return distance(places, when.atUs);
  const isHere = isDeclared(plan, places, when);
  return isHere || places.some(({ kind }) => kind === 'time') ? 0 : Number.POSITIVE_INFINITY;
}

/** Returns true if a fault that a run injected at `atUs` was in an allowed place. */
export function wasInPlace(plan: Plan, fault: Fault, atUs: number): boolean {
  const places = placesOf(plan, fault);
  if (places === null || !('when' in fault)) return true;
  const { when } = fault;
  return (when.kind !== 'at' && isDeclared(plan, places, when)) || distance(places, atUs) === 0;
}

/**
 * Returns the points of the plan that its allowed places name, by verb or by full name.
 * Asynchronous code may define its own verbs.
 */
export function declaredPoints(plan: Plan): readonly SectionPoint[] {
  const verbs = new Set(
    Object.values(plan.bounds.places ?? {}).flatMap((places) =>
      places.flatMap((place) => ('point' in place ? [place.point] : [])),
    ),
  );
  if (verbs.size === 0) return [];
  const { store } = plan.system;
  return plan.clients.flatMap((client) =>
    client.sections.flatMap((section) =>
      sectionPointsOf({ client, section, store, operations: [...verbs] }).filter(
        ({ verb, point }) => verbs.has(verb) || verbs.has(point),
      ),
    ),
  );
}

function placesOf({ bounds }: Plan, { kind }: Fault): readonly FaultPlace[] | null {
  return bounds.places?.[kind] ?? null;
}

function isDeclared(
  plan: Plan,
  places: readonly FaultPlace[],
  when: Exclude<When, { readonly kind: 'at' }>,
): boolean {
  return places.some((place) => {
    if (place.kind === 'any point') return true;
    if (place.kind === 'time' || place.kind !== when.kind) return false;
    if (place.point === when.point) return true;
    return declaredPoints(plan).some(
      ({ verb, point }) => verb === place.point && point === when.point,
    );
  });
}

function distance(places: readonly FaultPlace[], atUs: number): number {
  const ranges = places.flatMap((place) => (place.kind === 'time' ? [place.at] : []));
  return Math.min(...ranges.map((range) => outside(atUs, range)));
}

/** Returns the distance of a number from a range, 0 inside it. */
export function outside(us: number, { minUs, maxUs }: RangeUs): number {
  return Math.max(minUs - us, us - maxUs, 0);
}

/** Returns the allowed length ranges of a kind, shortest first; empty if none are declared. */
export function durationsOf({ durations }: Bounds, kind: FaultKind): readonly RangeUs[] {
  const ranges = [durations[kind] ?? []].flat();
  return ranges.sort((a, b) => a.minUs - b.minUs);
}

/** Returns the longest length in the sorted `ranges` that is at most `us`, or else the shortest. */
export function lengthIn(ranges: readonly RangeUs[], us: number): number {
  const { minUs, maxUs } = ranges.findLast((range) => range.minUs <= us) ?? ranges[0] ?? NOTHING;
  return Math.max(minUs, Math.min(us, maxUs));
}

const NOTHING: RangeUs = { minUs: 0, maxUs: 0 };
