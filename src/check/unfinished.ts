/**
 * Returns the sections that make a run unfinished: they never ended, and their further actions
 * could change the verdict. Excludes a section that waited in a lock service's queue and had not
 * accessed a store, since it had no effect on the other sections.
 */
import type { Invoke } from '../core/history/events.ts';
import { openSections, type SectionRun, type Trace } from '../core/history/trace.ts';
import { sectionOf } from '../core/kernel/name.ts';

export function unfinishedIn(
  trace: Trace,
  operations: ReadonlyMap<string, { readonly invoke: { readonly event: Invoke } }>,
): readonly SectionRun[] {
  return openSections(trace).filter(({ section }) => {
    const isInLine = trace.events.some(
      (event) =>
        event.kind === 'deny' && event.waits === true && sectionOf(event.message) === section,
    );
    if (!isInLine) return true;
    return [...operations.values()].some(
      ({ invoke: { event } }) => 'store' in event.call && sectionOf(event.operation) === section,
    );
  });
}
