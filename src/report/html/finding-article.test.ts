import { describe, expect, it } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { zombieFinding, zombieTrace } from '../sample.fixture.ts';
import * as article from './finding-article.ts';

const { plan } = zombieFinding;

function partingOf(here: Trace, there: Trace): ReturnType<typeof article.partingOf> {
  return article.partingOf({ trace: here, plan }, { trace: there, plan });
}

describe('partingOf', () => {
  it('is null for two runs that do the same', () => {
    expect(partingOf(zombieTrace, structuredClone(zombieTrace))).toBeNull();
  });

  it('overlooks the fault that was changed, and finds what came of it', () => {
    const events = zombieTrace.events.map((event) => {
      if (event.kind === 'fault') return { ...event, amount: 1, untilUs: 4000 };
      return event.kind === 'resume' ? { ...event, atUs: 4000 } : event;
    });
    const at = events.findIndex(({ kind }) => kind === 'resume');
    const difference = partingOf(zombieTrace, { ...zombieTrace, events });
    expect(difference).toEqual({ here: at, there: at, atUs: 4000 });
  });

  it('overlooks that one store alone tells versions, but no version that differs', () => {
    const tells = (version: number | null) => ({
      ...zombieTrace,
      events: zombieTrace.events.map((event) =>
        event.kind === 'return' && event.answer?.kind === 'accepted'
          ? { ...event, answer: { ...event.answer, version } }
          : event,
      ),
    });
    expect(partingOf(zombieTrace, tells(1))).toBeNull();
    expect(partingOf(tells(null), tells(1))).not.toBeNull();
  });

  it('is where the shorter run is over', () => {
    const events = zombieTrace.events.slice(0, -1);
    const last = zombieTrace.events.length - 1;
    const { here, there } = partingOf(zombieTrace, { ...zombieTrace, events }) ?? {};
    expect([here, there]).toEqual([last, null]);
  });
});
