/** Decides which kinds of mark the picture at a glance has, so that its key explains no others. */
import type { Trace } from '../core/history/trace.ts';
import { isReply } from './access-text.ts';
import { clockSpans } from './clock-spans.ts';
import type { Linearization } from './linearization.ts';
import { hasOwnEnd, isInside, type ScaleScene } from './picture-scale-scene.ts';
import {
  beliefSpans,
  type Flight,
  faultSpans,
  flightsOf,
  leaseSpans,
  overlapSpans,
  type Span,
} from './spans.ts';

/** One kind of mark. */
export type Mark =
  | 'lease'
  | 'belief'
  | 'overlap'
  | 'pause'
  | 'crash'
  | 'partition'
  | 'accepted'
  | 'refused'
  | 'request'
  | 'answer'
  | 'lost'
  | 'own end'
  | 'duplicate'
  | 'skew'
  | 'order';

/** The kinds that a scene has. */
export function marksOf(scene: ScaleScene, linearization: Linearization | null): Set<Mark> {
  const { trace, rows } = scene;
  const beliefs = beliefSpans(trace);
  const leases = leaseSpans(trace);
  const isSeen = (span: Span): boolean => rows.has(span.process) && isInside(span, scene);
  const roleOf = (span: Span): string => rows.get(span.process)?.lane.process.role ?? '';
  const faults = faultSpans(trace).filter(isSeen);
  return new Set([
    ...marked(
      'lease',
      leases.some((span) => isSeen(span) && roleOf(span) === 'lock'),
    ),
    ...marked('belief', beliefs.some(isSeen)),
    ...marked('overlap', overlapSpans(beliefs, leases).some(isSeen)),
    ...faults.map(({ kind }) => kind),
    ...marksOfWrites(trace, scene),
    ...flightsOf(trace).flatMap((flight) => marksOfFlight(flight, scene)),
    ...marked(
      'own end',
      beliefs.some((span) => hasOwnEnd(span, scene)),
    ),
    ...marked('skew', clockSpans(trace, scene.faults).some(isSeen)),
    ...marked('order', linearization !== null),
  ]);
}

function marked(mark: Mark, isThere: boolean): readonly Mark[] {
  return isThere ? [mark] : [];
}

function marksOfWrites({ events }: Trace, { rows, isDrawn }: ScaleScene): readonly Mark[] {
  return events.flatMap((event, at): readonly Mark[] => {
    if (event.kind !== 'write' || !isDrawn(at) || !rows.has(event.process)) return [];
    return [event.isAccepted ? 'accepted' : 'refused'];
  });
}

function marksOfFlight(flight: Flight, { rows, isDrawn }: ScaleScene): readonly Mark[] {
  if (!rows.has(flight.from) || !rows.has(flight.to) || !isDrawn(flight.sent)) return [];
  const isEndDrawn = flight.end !== null && isDrawn(flight.end);
  return [
    isReply(flight.message) ? 'answer' : 'request',
    ...marked('lost', isEndDrawn && flight.isLost),
    ...marked('duplicate', isEndDrawn && flight.isCopy),
  ];
}
