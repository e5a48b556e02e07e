/**
 * Decides what made a client take a lock that another one held: a clock of its own that was wrong,
 * a link that was cut to whoever kept the first grant, or a denial by the same that it took for
 * something else.
 */
import type { FaultStrikes } from '../core/history/trace.ts';
import type { Part } from './conclude.ts';
import { isQuorumGrant, serversOf } from './grant-servers.ts';
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
  const faults = survey.faults.filter(({ event, index }) => index < later.index && misled(event));
  if (faults.length > 0) return faults.map((fault) => [fault.event.fault, fault]);
  return denialTakenForMore(survey, { earlier, later });
}

/** A denial after which its client logged something, and asked another server in that instant. */
function denialTakenForMore(
  { trace, locks }: Survey,
  { earlier, later }: { readonly earlier: GrantLog; readonly later: GrantLog },
): readonly Part[] {
  const { lock, client, process, sentAtUs } = later.event;
  const first = earlier.event.process;
  if (process === first || isQuorumGrant(later.event) || isQuorumGrant(earlier.event)) return [];
  const denial = locks
    .get(lock)
    ?.entries.findLast(
      ({ event, index }) =>
        index < later.index &&
        index > earlier.index &&
        event.kind === 'deny' &&
        event.client === client &&
        event.process === first,
    );
  if (denial === undefined) return [];
  const log = trace.events.findIndex(
    (event, index) =>
      index > denial.index &&
      index < later.index &&
      event.kind === 'log' &&
      event.process === client &&
      event.atUs === sentAtUs,
  );
  if (log < 0) return [];
  return [
    ['denial', denial],
    ['misreading', { index: log }],
  ];
}
