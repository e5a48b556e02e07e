/** Words for the events that interventions have shown to be causes. */
import type { Trace } from '../core/history/trace.ts';
import type { ProvenCause } from './causation.ts';
import { at, faultPhrase, messagePhrase } from './phrases.ts';

/**
 * Returns a clause such as `the reply to alice's acquire arrived at 12 ms`. `named` is the timer,
 * the first of two calls, or the request whose lease expired.
 */
export function causePhrase(
  trace: Trace,
  { kind, event: index, named }: Pick<ProvenCause, 'kind' | 'event'> & { readonly named: string },
): string {
  const event = trace.events[index];
  if (event === undefined) return `\`${named}\` was late`;
  if (event.kind === 'fault') return faultPhrase(trace, event);
  const message = 'message' in event ? messagePhrase(trace, event.message) : '';
  switch (kind) {
    case 'expiry':
      return `the lease of ${messagePhrase(trace, named)} had expired ${at(event)}`;
    case 'message':
      return `${message} ${event.kind === 'lose' ? 'was lost' : 'arrived'} ${at(event)}`;
    case 'order':
      return `${messagePhrase(trace, named)} was handled before ${message}`;
    case 'renewal':
    case 'release':
      return `${message} was executed ${at(event)}`;
    default:
      return `\`${named}\` took longer, until ${at(event).slice(3)}`;
  }
}
