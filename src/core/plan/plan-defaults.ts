/**
 * What a plan or scenario file means where it leaves a field out. A plan that is written leaves out
 * what equals these, so that a shrunk plan is short; changing one changes the meaning of old plans.
 */

/**
 * A careful client: it tests its lease before each write, counted from when it sent its request.
 */
export const CLIENT_DEFAULTS = {
  ttlUs: 10_000,
  lockTimeoutUs: 30_000,
  storeTimeoutUs: null,
  pool: 1,
  checksLease: true,
  countsLeaseFrom: 'sent',
  leaseEnds: 'at',
  tries: 1,
  backoffUs: 2_000,
  attempts: 100,
  releases: true,
} as const;

/** `thinkUs` is a plan's default; a scenario draws its think times. */
export const SECTION_DEFAULTS = { thinkUs: 0, lock: 'db' } as const;

export const WORK_DEFAULTS = {
  store: 'store',
  key: 'x',
  awaits: true,
  amount: 1,
  retries: 0,
  pieces: 1,
} as const;

export const QUEUE_DEFAULTS = { steps: 1, retries: 5, visibilityUs: 30_000_000 } as const;

export const NETWORK_DEFAULTS = { link: 'connection', latencyUs: 1_000 } as const;

export const LIMIT_DEFAULTS = {
  probe: true,
  slackUs: 10_000,
  endUs: 10_000_000,
  maxEvents: 100_000,
} as const;

/** The most of each that a file may ask for. */
export const CAPS = {
  clients: 1_000,
  sectionsPerClient: 10_000,
  worksPerSection: 1_000,
  pieces: 100,
  pool: 64,
  tries: 100,
  attempts: 1_000_000,
  faults: 10_000,
  names: 1_000_000,
  maxEvents: 1_000_000_000,
} as const;
