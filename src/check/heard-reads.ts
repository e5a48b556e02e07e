/**
 * Decides which executions of a read had their value heard by a program. The answer to a copy is
 * discarded, and so is one that comes after its client stopped waiting or asked again: what such an
 * execution served, nobody has read.
 */

import type { Read } from '../core/history/server-events.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Access, Survey } from './survey.ts';

/** The reads of the trace that served a value which no program got. */
export function unheardReads(survey: Survey): ReadonlySet<Access> {
  const unheard = new Set<Access>();
  const heard = new Map<string, Read>();
  for (const [operation, executions] of executionsOf(survey)) {
    const known = survey.operations.get(operation);
    const isAnswered = known === undefined || known.return?.event.outcome === 'ok';
    const [first, ...others] = executions;
    if (isAnswered && first !== undefined && others.length === 0) continue;
    for (const read of executions) unheard.add(read);
    if (!isAnswered) continue;
    // Of each try the first execution is the one that was asked for; later ones are copies.
    for (const read of executions) {
      if (!heard.has(read.message)) heard.set(read.message, read);
    }
  }
  if (heard.size > 0) {
    for (const request of answeredRequests(survey.trace)) {
      const read = heard.get(request);
      if (read !== undefined) unheard.delete(read);
    }
  }
  return unheard;
}

function executionsOf(survey: Survey): ReadonlyMap<string, readonly Read[]> {
  const executions = new Map<string, Read[]>();
  for (const place of survey.places) {
    for (const { event } of place.accesses) {
      if (event.kind !== 'read') continue;
      const known = executions.get(event.operation);
      if (known === undefined) executions.set(event.operation, [event]);
      else known.push(event);
    }
  }
  return executions;
}

/** The names of the requests whose reply was handled by the program that had sent them. */
function answeredRequests({ events }: Trace): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'receive' && event.message.endsWith('/reply')
      ? [event.message.replace(/reply$/, 'request')]
      : [],
  );
}
