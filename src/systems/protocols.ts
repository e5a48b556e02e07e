/** Every lock protocol by the name that scenarios call it. */
import { lockService, lockServicePublished } from './lock-service/protocol.ts';
import { none } from './none/protocol.ts';
import type { Protocol } from './protocol.ts';

export const protocols: ReadonlyMap<string, Protocol> = new Map<string, Protocol>([
  ['lock-service', lockService],
  ['lock-service-published', lockServicePublished],
  ['none', none],
]);
