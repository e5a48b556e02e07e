import { describe, expect, it } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { zombieFinding, zombieTrace } from '../sample.fixture.ts';
import * as article from './finding-article.ts';

const { plan } = zombieFinding;

function partingOf(here: Trace, there: Trace): ReturnType<typeof article.partingOf> {
  return article.partingOf({ trace: here, plan }, { trace: there, plan });
}

describe('partingOf', () => {
  it('is null for two equal runs', () => {
    expect(partingOf(zombieTrace, structuredClone(zombieTrace))).toBeNull();
  });

  it('ignores the changed fault, and finds its first effect', () => {
    const events = zombieTrace.events.map((event) => {
      if (event.kind === 'fault') return { ...event, amount: 1, untilUs: 4000 };
      return event.kind === 'resume' ? { ...event, atUs: 4000 } : event;
    });
    const at = events.findIndex(({ kind }) => kind === 'resume');
    const difference = partingOf(zombieTrace, { ...zombieTrace, events });
    expect(difference).toEqual({ here: at, there: at, atUs: 4000 });
  });

  it('ignores versions that only one store reports, but not different versions', () => {
    const reading = (version: number | null) => ({
      ...zombieTrace,
      events: zombieTrace.events.map((event) =>
        event.kind === 'return' && event.answer?.kind === 'accepted'
          ? { ...event, answer: { ...event.answer, version } }
          : event,
      ),
    });
    expect(partingOf(zombieTrace, reading(1))).toBeNull();
    expect(partingOf(reading(null), reading(1))).not.toBeNull();
  });

  it('is at the end of the shorter run', () => {
    const events = zombieTrace.events.slice(0, -1);
    const last = zombieTrace.events.length - 1;
    const { here, there } = partingOf(zombieTrace, { ...zombieTrace, events }) ?? {};
    expect([here, there]).toEqual([last, null]);
  });
});
