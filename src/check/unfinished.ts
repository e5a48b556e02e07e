/**
 * Decides which sections make a run unfinished: their end is missing, and could have changed what
 * the run shows. A section that a lock service kept in line, and that touched no store until then,
 * is not one of them: it did nothing, and what the others did stands.
 */
import { openSections, type SectionRun } from '../core/history/trace.ts';
import { sectionOf } from '../core/kernel/name.ts';
import type { TraceIndex } from './trace-index.ts';

export function unfinishedIn({
  trace,
  operations,
}: Pick<TraceIndex, 'trace' | 'operations'>): readonly SectionRun[] {
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
