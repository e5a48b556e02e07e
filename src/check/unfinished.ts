/**
 * Decides which sections make a run unfinished: their end is missing, and could have changed what
 * the run shows. A section that a lock service kept in line, and that touched no store until then,
 * is not one of them: it did nothing, and what the others did stands.
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
