import { expect, test } from 'vitest';
import type { EventOf, FaultEnds, TraceEvent } from '../core/history/events.ts';
import { Contradiction } from './explanation.ts';
import { causePhrase, latePhrase } from './phrases.ts';
import {
  breachOf,
  grant,
  keyChange,
  pause,
  read,
  send,
  traceOf,
  write,
} from './trace-builder.fixture.ts';

const resume = (ms: number, process: string): FaultEnds => {
  return { kind: 'resume', atUs: ms * 1000, index: 0, processes: [process] };
};

const receive = (ms: number, message: string): EventOf<'receive'> => {
  return { kind: 'receive', atUs: ms * 1000, from: 'alice', to: 'store', message, isCopy: false };
};

/** The words for alice's stale write, sent at 5 ms, with these events before it is applied. */
function storyOf(...events: readonly TraceEvent[]): string {
  const begun = [grant(0, 'alice', 1), send(5, 'alice', 'alice/1/write'), grant(11, 'bob', 2)];
  const stale = write(20, 'alice', 1, 7);
  return breachOf('grant-order', [...begun, write(12, 'bob', 2, 3), ...events, stale]).words;
}

const REQUEST = 'alice/1/write/1/request';

test('a write arrives and is applied at two times if the store takes longer', () => {
  expect(storyOf(receive(20, REQUEST))).toContain(', sent with token 1 at 5 ms, arrived at 20 ms,');
  expect(storyOf(receive(14, REQUEST))).toContain(
    ', sent with token 1 at 5 ms, arrived at 14 ms and was applied at 20 ms,',
  );
});

test('a paused store applies a write, which may have arrived earlier', () => {
  const held = [pause(4, 'store', 20), resume(20, 'store'), receive(20, REQUEST)];
  expect(storyOf(...held)).toContain(', sent with token 1 at 5 ms, was applied at 20 ms,');
  const ofAlice = [pause(4, 'alice', 5), receive(14, REQUEST)];
  expect(storyOf(...ofAlice)).toContain('; it arrived at 14 ms and was applied at 20 ms,');
});

test('a read is served', () => {
  const late = read(20, 'alice', 1, 3);
  const trace = traceOf([send(5, 'alice', 'alice/1/read'), receive(14, late.message), late]);
  const shown = new Contradiction(trace, { claim: 'c', rule: 'r', evidence: [] });
  expect(latePhrase(shown, late)).toMatch(/ at 5 ms, arrived at 14 ms and was served at 20 ms$/);
});

test('a lease expires at its end, not at the event that shows it', () => {
  const events = [keyChange(3, 'carol'), keyChange(60, 'alice')];
  const cause = { kind: 'expiry', event: 1, named: 'carol/1/acquire/1/request' } as const;
  expect(causePhrase(traceOf(events), cause)).toMatch(/^the lease of .* had expired at 13 ms$/);
});
