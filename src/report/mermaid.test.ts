/**
 * Parses diagrams with Mermaid itself, despite its size (85 MB, a development dependency): GitHub
 * draws with it, and the smaller `@mermaid-js/parser` does not know sequence diagrams.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import mermaid from 'mermaid';
import { beforeAll, describe, expect, it } from 'vitest';
import { runs, some } from '../../properties/runs.ts';
import { isRecord } from '../core/plan/document.ts';
import { examine } from '../harness.ts';
import { readPlanSource } from '../host/modules/load-files.ts';
import type { Finding } from '../search/campaign/result.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { clip, visible, wrap } from '../text/visible.ts';
import { anyName, hostileExamples } from './hostile.fixture.ts';
import { diagramRows, findingDiagram, MOST_DIAGRAM, renderDiagram } from './mermaid.ts';
import { manyZombies, renamed, zombieFinding } from './sample.fixture.ts';
import { stormTrace } from './storm.fixture.ts';

// Mermaid loads its parsers at the first use.
beforeAll(async () => {
  await mermaid.parse('sequenceDiagram');
});

/** Returns the names and texts that Mermaid parses from a diagram, unescaped. */
async function parsed(diagram: string): Promise<{ names: string[]; texts: string[] }> {
  // Only titles need a browser: see mermaid-drawn.slow.test.ts.
  const untitled = diagram.replace(/\n {2}title [^;#\n]*(#\d+;[^;#\n]*)*\n/, '\n');
  const { db }: { db: unknown } = await mermaid.mermaidAPI.getDiagramFromText(untitled);
  if (!isRecord(db)) throw new Error('this is no diagram');
  const { getActors, getMessages } = db;
  if (typeof getActors !== 'function' || typeof getMessages !== 'function') {
    throw new Error('this is no sequence diagram');
  }
  const actors: ReadonlyMap<string, { description: string }> = getActors.call(db);
  const messages: readonly { message?: unknown }[] = getMessages.call(db);
  return {
    names: [...actors.values()].map(({ description }) => shown(description)),
    texts: messages.flatMap(({ message }) =>
      typeof message === 'string' && message !== '' ? [shown(message)] : [],
    ),
  };
}

function shown(text: string): string {
  const numbers = /ﬂ°°(\d+)¶ß/g;
  const plain = text.replaceAll('<br/>', ' ');
  return plain.replace(numbers, (_, code) => String.fromCodePoint(Number(code)));
}

/** Returns the texts that the diagram of a finding should show. */
function meant({ trace, verdict }: Finding): string[] {
  const { claim, evidence } = verdict;
  const rows = diagramRows(trace, { claim, evidence });
  return rows.map(({ text }) => wellFormed(wrap(visible(text), 36).join(' ')));
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

describe('findingDiagram', () => {
  it('shows the zombie write as arrows, notes and bars', () => {
    const lines = findingDiagram(zombieFinding).split('\n');
    expect(lines.map((line) => line.trim())).toEqual([
      'sequenceDiagram',
      'title Stale write accepted by unfenced',
      'participant p1 as lock',
      'participant p2 as alice',
      'participant p3 as bob',
      'participant p4 as store',
      'p2->>p1: 1 ms · acquire',
      'Note over p1: 1 ms · grants token 1 to alice for<br/>10 ms, until 11 ms',
      'p1-->>p2: 2 ms · answer to acquire',
      'Note over p2: 2 ms · believes it holds db until 10<br/>ms',
      'activate p2',
      'Note over p2: 3 ms · own clock#58; lease is live',
      'Note over p2: 3 ms · paused for 17 ms, until 20 ms',
      "Note over p1: 11 ms · alice's lease of db (token<br/>1) expires",
      'p3->>p1: 12 ms · acquire',
      'Note over p1: 12 ms · grants token 2 to bob for 10<br/>ms, until 22 ms',
      'p1-->>p3: 13 ms · answer to acquire',
      'Note over p3: 13 ms · believes it holds db until<br/>21 ms',
      'activate p3',
      'p3->>p4: 14 ms · write x = 2, token 2',
      "Note over p4: 14 ms · ✓ accepts bob's x = 2, token<br/>2 ← newer write",
      'p4-->>p3: 15 ms · answer to write x',
      'Note over p3: 15 ms · leaves db',
      'deactivate p3',
      'Note over p2: 20 ms · ▶ resumes',
      'p2->>p4: 21 ms · write x = 1, token 1<br/>(cached, 2 is current)',
      "Note over p4: 21 ms · ✓ accepts alice's x = 1,<br/>token 1 ← stale write",
      'Note over p4: ✗ stale write#58; fence-monotone breaks',
      'deactivate p2',
    ]);
  });

  it('is parsed by Mermaid as intended, for any names', async () => {
    await fc.assert(
      fc.asyncProperty(anyName, async (name) => {
        const finding = renamed(zombieFinding, 'alice', name);
        const { names: read, texts } = await parsed(findingDiagram(finding));
        const [alice] = finding.trace.processes;
        const short = wellFormed(clip(visible(alice?.name ?? ''), 30)).trim();
        expect(read[1]).toBe(short === '' ? '\u00a0' : short);
        expect(texts).toEqual(meant(finding));
      }),
      { seed: 1, numRuns: runs(150), examples: hostileExamples },
    );
  });

  it('stays below 40,000 characters, ends with the violation and counts omissions', async () => {
    const many = renamed(manyZombies(300), 'bob', '#;'.repeat(20));
    const diagram = findingDiagram(many);
    expect(diagram.length).toBeLessThanOrEqual(MOST_DIAGRAM);
    expect(diagram.length).toBeGreaterThan(MOST_DIAGRAM - 500);
    const { texts } = await parsed(diagram);
    const rows = meant(many).length;
    const [first = ''] = texts;
    const left = Number(/… ([\d,]+) rows omitted/.exec(first)?.[1]?.replaceAll(',', ''));
    expect(left + texts.length - 1).toBe(rows);
    expect(texts.at(-1)).toBe('✗ stale write: fence-monotone breaks');
    expect(texts.some((text) => text.includes('newer write'))).toBe(true);
  });
});

describe('renderDiagram', () => {
  it('draws lost messages with a cross, copies twice, and ends bars at a crash', async () => {
    const diagram = renderDiagram(stormTrace, options('storm'));
    await parsed(diagram);
    expect(diagram).toContain('p4-xp5: 16.5 ms · write, lost (drop)');
    expect(diagram).toContain('p3->>p5: 14 ms · write x = 2, token 2\n');
    expect(diagram).toContain('p3->>p5: 23 ms · a copy of write x = 2, token<br/>2, sent at 13 ms');
    expect(diagram).toContain('p3-)p1: 25 ms · release, in transit');
    expect(diagram).toContain('Note over p2: 3 ms · ✖ crashes\n  deactivate p2');
  });

  it('draws every kept plan, and Mermaid parses each', async () => {
    const folder = new URL('../../fixtures/plans/', import.meta.url);
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    expect(files.length).toBeGreaterThan(50);
    for (const file of some(files)) {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const source = { kind: 'folder', folder: new URL('..', folder).pathname } as const;
      const read = await readPlanSource({ file, text }, source);
      if (read.kind === 'problems') throw new Error(file);
      const { plan, catalogue } = read;
      await prepare([plan.system], catalogue);
      const claims = plan.expect === undefined ? [] : [plan.expect.claim];
      const { trace, verdicts } = examine(plan, claims, catalogue);
      const [broken] = verdicts.flatMap((verdict) => (verdict.kind === 'invalid' ? [verdict] : []));
      const { claim = null, evidence = [] } = broken ?? {};
      const diagram = renderDiagram(trace, { title: file, claim, evidence });
      const { texts } = await parsed(diagram);
      expect(texts.length, file).toBeGreaterThan(2);
      if (claim !== null) expect(texts.at(-1), file).toMatch(/^✗ .*: .* breaks$/);
    }
  });
});

function options(title: string): Parameters<typeof renderDiagram>[1] {
  return { title, claim: null, evidence: [] };
}
