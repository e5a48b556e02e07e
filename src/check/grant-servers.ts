/** Decides which processes keep a grant, and whether its client took it from a quorum of them. */
import type { Grant } from '../core/history/server-events.ts';
import type { Survey } from './survey.ts';

/** Whether no single server gave it: its client did so itself, once enough of them said yes. */
export function isQuorumGrant({ process, client }: Grant): boolean {
  return process === client;
}

/** The process that gave a grant, or all servers of locks where a quorum did. */
export function serversOf(survey: Survey, grant: Grant): readonly string[] {
  if (!isQuorumGrant(grant)) return [grant.process];
  return survey.trace.processes.filter(({ role }) => role === 'lock').map(({ name }) => name);
}
