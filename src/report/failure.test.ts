import { describe, expect, it } from 'vitest';
import { displayWidth } from '../text/visible.ts';
import { renderBrief, renderFailure, renderRepeat } from './failure.ts';
import { manyZombies, renamed, zombieFinding } from './sample.fixture.ts';

const plain = { colour: false, width: 100 };

describe('renderFailure', () => {
  it('describes the zombie write in words, in columns and in commands', () => {
    const text = renderFailure(zombieFinding, plain);
    expect(text).toBe(
      [
        '✗ Stale write accepted by `unfenced`',
        '  fence-monotone of unfenced in zombie-writer, seed 17',
        "  Let A be alice's grant 1 of `db` (from 1 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then",
        '  bob wrote with token 2 at 14 ms. However, alice, paused from 3 ms to 20 ms, sent her write with',
        '  token 1 at 20 ms, and the store accepted it: it never compares tokens. A store that refuses tokens',
        '  below the highest it has seen would have refused it.',
        '',
        '#  ms  lock           alice          bob            store',
        '1   1  grants token 1 to alice for 10 ms, until 11 ms',
        '2   2  │              believes it holds db until 10 ms',
        '3   3  │              own clock: lease is live      │',
        '4   3  │              paused for 17 ms, until 20 ms │',
        "   11  alice's lease of db (token 1) expires        │",
        '5  12  grants token 2 to bob for 10 ms, until 22 ms │',
        '6  13  │              │              believes it holds db until 21 ms',
        "7  14  │              │              │              ✓ accepts bob's x = 2, token 2 ← newer write",
        '8  20  │              ▶ resumes      │              │',
        '   20  │              sends write x = 1, token 1 (cached, 2 is current) → store',
        "9  21  │              │              │              ✓ accepts alice's x = 1, token 1 ← stale write",
        '',
        'shrunk 812 → 9 events, 5 faults → 1; breaks with a pause of 10.000 ms, holds with 9.999 ms',
        'replay: npx --no-install fencepost replay reports/zombie-writer-unfenced-fence-monotone.yaml',
        'again:  npx --no-install fencepost run fixtures/zombie-writer.yaml --seed 17',
        'report: reports/zombie-writer.html',
        'keep:   npx --no-install fencepost corpus add reports/zombie-writer-unfenced-fence-monotone.yaml',
      ].join('\n'),
    );
  });

  it('reports the same plan on systems that must hold, and counts further ones', () => {
    const textOf = (count: number): string[] => {
      const siblings = Array.from({ length: count }, (_, at) => ({
        claim: 'fence-monotone',
        outcome: 'holds' as const,
        system: `fenced-${at}`,
        text: `same plan on fenced-${at}: nothing refused`,
      }));
      return renderFailure({ ...zombieFinding, siblings }, plain)
        .split('\n')
        .slice(-7, -4);
    };
    expect(textOf(1).at(-1)).toBe('same plan on fenced-0: nothing refused');
    expect(textOf(3).at(-1)).toBe('same plan on fenced-2: nothing refused');
    expect(textOf(5)).toEqual([
      'same plan on fenced-0: nothing refused',
      'same plan on fenced-1: nothing refused',
      '… and on 3 more twins',
    ]);
  });

  it('names no page if none is written', () => {
    const text = renderFailure({ ...manyZombies(40), pageFile: '' }, plain);
    expect(text).not.toMatch(/in the report|^report:/m);
  });

  it('marks an expected failure, without the color of an alarm', () => {
    const expected = { ...zombieFinding, isExpected: true };
    const text = renderFailure(expected, { colour: true, width: 100 });
    expect(text.split('\n')[0]).toBe(
      '\u001b[1m✗ (expected) Stale write accepted by `unfenced`\u001b[22m',
    );
    expect(renderFailure(zombieFinding, { colour: true, width: 100 })).toContain(
      '\u001b[31m✗ Stale',
    );
    expect(renderBrief(expected, plain).split('\n')).toEqual([
      '✗ (expected) Stale write accepted by `unfenced`',
      '  fence-monotone of unfenced in zombie-writer, seed 17',
      'replay: npx --no-install fencepost replay reports/zombie-writer-unfenced-fence-monotone.yaml',
    ]);
  });

  it('never exceeds 25 lines of 100 columns, plus those of a few twins', () => {
    const long = 'a sentence of which there is far too much to be read by anybody '.repeat(30);
    const many = manyZombies(40);
    const wordy = { ...many, explanation: { ...many.explanation, however: long } };
    const named = renamed(
      wordy,
      'alice',
      'alice-in-the-eu-central-1-availability-zone-of-the-cloud',
    );
    const text = `same plan on ${'fenced'.repeat(30)}: 23 ms ⊘ refused`;
    const sibling = { system: 'fenced', claim: 'grant-order', outcome: 'holds', text } as const;
    const siblings = { ...wordy, siblings: Array.from({ length: 9 }, () => sibling) };
    for (const finding of [many, wordy, named, siblings]) {
      for (const width of [10, 60, 100, 240]) {
        const lines = renderFailure(finding, { colour: false, width }).split('\n');
        const ofSiblings = finding === siblings ? 12 : 0;
        expect(lines.length).toBeLessThanOrEqual(25 + ofSiblings);
        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(100);
      }
    }
  });

  it('keeps the evidence if it omits steps, and the numbers show the gap', () => {
    const text = renderFailure(manyZombies(40), plain);
    expect(text).toContain('← newer write');
    expect(text).toContain('← stale write');
    expect(text).toMatch(/^360 .*← stale write$/m);
    expect(text).not.toMatch(/^359 /m);
  });

  it('prefers early evidence to later steps', () => {
    const finding = manyZombies(40);
    const early = { role: 'first message', event: 2 };
    const verdict = { ...finding.verdict, evidence: [early, ...finding.verdict.evidence] };
    expect(renderFailure({ ...finding, verdict }, plain)).toContain('← first message');
  });

  it('wraps a long command so that a shell joins it again', () => {
    const planFile = `reports/${'long-'.repeat(14)}name.yaml`;
    const lines = renderFailure({ ...zombieFinding, planFile }, plain).split('\n');
    expect(lines).toContain('replay: npx --no-install fencepost replay \\');
    expect(lines).toContain(planFile);
  });

  it('quotes a path with characters that are special to a shell', () => {
    const text = renderFailure({ ...zombieFinding, planFile: "my plans/it's.yaml" }, plain);
    expect(text).toContain(`replay: npx --no-install fencepost replay 'my plans/it'\\''s.yaml'`);
  });

  it('escapes names that would control the terminal', () => {
    const evil = renamed(zombieFinding, 'alice', 'al\u001b[2Jice\u202e');
    const text = renderFailure(evil, plain);
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
    expect(text).toContain('‹U+001B›');
  });

  it('is the same text with color as without', () => {
    const coloured = renderFailure(zombieFinding, { colour: true, width: 100 });
    expect(coloured).toContain('\u001b[31m');
    expect(
      coloured
        .split('\u001b')
        .map((part, at) => (at === 0 ? part : part.replace(/^\[\d+m/, '')))
        .join(''),
    ).toBe(renderFailure(zombieFinding, plain));
  });
});

describe('renderRepeat', () => {
  const other = { ...zombieFinding, system: 'fenced-late', seed: 18 };

  it('names the finding with the same plan, and omits an equal story', () => {
    const text = renderRepeat(other, zombieFinding, plain);
    expect(text).toContain('✗ Stale write accepted by `unfenced`');
    expect(text).toContain('fence-monotone of fenced-late in zombie-writer, seed 18');
    expect(text).toContain('The plan for unfenced also breaks fence-monotone of fenced-late.');
    expect(text).not.toContain('Let A be');
  });

  it('reports only the parts of the explanation that differ', () => {
    const explanation = { ...other.explanation, cure: 'A later test would have helped' };
    const text = renderRepeat({ ...other, explanation }, zombieFinding, plain);
    expect(text).toContain('A later test would have helped.');
    expect(text).not.toContain('However, alice');
  });
});
