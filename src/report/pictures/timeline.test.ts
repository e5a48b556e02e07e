import { describe, expect, it } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { render } from '../../text/markup.ts';
import { renderKey } from '../html/finding-pictures.ts';
import { zombieTrace } from '../sample.fixture.ts';
import { layOut } from './layout.ts';
import { drawTimeline } from './timeline.ts';

const options = { evidence: [], faults: [], claim: 'c', id: 'p', title: 'A run', mostDrawn: 400 };

function marksIn(trace: Trace, hidden: readonly string[] = []): readonly string[] {
  const layout = layOut(trace, { ...options, hidden: new Set(hidden) });
  return [...drawTimeline(layout, options).marks].sort();
}

describe('the marks of a picture', () => {
  it('are exactly those of the zombie write', () => {
    const bars = ['client view', 'lease', 'loss', 'overlap', 'own end', 'pause'];
    expect(marksIn(zombieTrace)).toEqual(['accepted', 'answer', ...bars, 'request']);
  });

  it('have no bar of a service if clients grant the lock themselves', () => {
    const events = zombieTrace.events.map((event) =>
      event.kind === 'grant' ? { ...event, process: event.client } : event,
    );
    const marks = marksIn({ ...zombieTrace, events });
    expect(marks).not.toContain('lease');
    expect(marks).toContain('client view');
  });

  it('have no flag if no lane of a store is drawn', () => {
    expect(marksIn(zombieTrace, ['store'])).not.toContain('accepted');
  });

  it('are explained by the key', () => {
    const key = render(renderKey('k', new Set(['client view', 'request'] as const)));
    expect(key.match(/<li>/g)).toHaveLength(2);
    expect(key).toContain('a client acts as the holder');
    expect(key).not.toContain('lease of the lock service');
    expect(key).not.toContain('paused');
  });
});
