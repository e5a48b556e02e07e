/** Decides which keys lie in several stores: what is moved between these is no counter. */
import type { Survey } from './survey.ts';

/** Whether several stores handled accesses to this key of this resource. */
export function isShared(
  survey: Survey,
  { resource, key }: { readonly resource: string; readonly key: string },
): boolean {
  const holding = survey.places.filter(
    (place) => place.resource === resource && place.keys.has(key),
  );
  return holding.length > 1;
}
