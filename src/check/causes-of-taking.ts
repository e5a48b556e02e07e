/**
 * Decides what made a client take a lock that another one held: a clock of its own that was wrong,
 * or a link that was cut to whoever kept the first grant.
 */
import type { FaultStrikes } from '../history/trace.ts';
import type { Part } from './conclude.ts';
import { serversOf } from './grant-servers.ts';
import type { GrantLog, Survey } from './survey.ts';

/** The faults that struck the client of `later` and let it be granted the lock beside `earlier`. */
export function causesOfTaking(
  survey: Survey,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog | undefined },
): readonly Part[] {
  if (later === undefined) return [];
  const { client } = later.event;
  const servers = serversOf(survey, earlier.event);
  const misled = ({ fault, processes, atUs, untilUs }: FaultStrikes): boolean => {
    if (!processes.includes(client)) return false;
    if (fault === 'clock') return true;
    const isCut = fault === 'partition' && servers.some((server) => processes.includes(server));
    return isCut && (untilUs ?? atUs) > earlier.event.sentAtUs;
  };
  return survey.faults
    .filter(({ event, index }) => index < later.index && misled(event))
    .map((fault) => [fault.event.fault, fault]);
}
