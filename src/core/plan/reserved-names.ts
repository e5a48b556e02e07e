/** Names that no client may have, since other processes of a run are called so. */

/** The process that keeps the messages of a queue. */
export const QUEUE = 'lock-queue';

/** The servers of a lock are `lock`, or `lock-1`, `lock-standby`; the fresh client is `probe`. */
export function isReserved(name: string): boolean {
  return name === 'probe' || isLockServer(name);
}

/** Whether a process of this name serves a lock. */
export function isLockServer(name: string): boolean {
  return name === 'lock' || name.startsWith('lock-');
}
