import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeBlock, codeSpan, markdownSentence, markdownText } from '../text/markup.ts';
import { anyName, hostileExamples } from './hostile.fixture.ts';
import { findingDiagram } from './mermaid.ts';
import { sampleOverview, sampleResult } from './run-result.fixture.ts';
import { renamed, zombieFinding } from './sample.fixture.ts';
import { MOST_STEP_BYTES, renderStepSummary } from './step-summary.ts';

const whole = { mostBytes: MOST_STEP_BYTES };

describe('renderStepSummary', () => {
  it('has a table of systems and claims', () => {
    const lines = renderStepSummary(sampleOverview, [sampleResult], whole).split('\n');
    expect(lines[0]).toBe('## fencepost: 0 of 3 expectations met, 2 not met, 1 not judged');
    expect(lines[2]).toBe('### zombie\\-writer `fixtures/zombie-writer.yaml`');
    const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
    expect(rows.slice(0, 2)).toEqual([
      '| ✗ | unfenced | fence\\-monotone | holds | 12 of 1,000 | 17 | 900 seeds |',
      '| ✗ | unfenced | grant\\-order | holds | 0 of 1,000 | – | 990 seeds |',
    ]);
    expect(rows).toHaveLength(7);
  });

  it('tells each failure in words, as a diagram and with what to type', () => {
    const text = renderStepSummary(sampleOverview, [sampleResult], whole);
    expect(text).toContain('#### ✗ Stale write accepted by `unfenced`\n');
    expect(text).toContain("Let A be alice's grant 1 of `db` \\(from 1 ms");
    expect(text).toContain(`\`\`\`mermaid\n${findingDiagram(zombieFinding)}\n\`\`\``);
    expect(text).toContain(
      '```sh\nnpx fencepost replay reports/zombie-writer-unfenced-fence-monotone.yaml\n```',
    );
    expect(text).toContain('✗ **wanted\\: grant\\-order breaks**: ');
    expect(text).toContain('? **unfenced\\: linearizable holds**');
    expect(text).toContain('```text\nseed 3: TypeError: x is not a function\nand 10 more\n```');
  });

  it('folds away a counterexample that was wanted', () => {
    const text = renderStepSummary(sampleOverview, [sampleResult], whole);
    const at = text.indexOf('<details>');
    expect(text.slice(at)).toMatch(
      /^<details><summary>as expected: fence-monotone of wanted breaks<\/summary>\n\nStale write/,
    );
    expect(text.slice(at).match(/```mermaid/g)).toHaveLength(1);
    expect(text.slice(0, at).match(/```mermaid/g)).toHaveLength(1);
  });

  it('stays below its limit in bytes, and says what it left out', () => {
    const findings = Array.from({ length: 40 }, (_, at) => ({
      ...renamed(zombieFinding, 'alice', `ä${at}`),
    }));
    const results = findings.map((finding) => ({ ...sampleResult, findings: [finding] }));
    const all = renderStepSummary(sampleOverview, results, whole);
    for (const mostBytes of [400, 5000, 50_000]) {
      const text = renderStepSummary(sampleOverview, results, { mostBytes });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBytes);
      expect(text).toMatch(/\n[\d,]+ sections left out: GitHub takes no more of one step\. .*\n$/);
      expect(all.startsWith(text.slice(0, text.lastIndexOf('\n\n')))).toBe(true);
    }
    expect(renderStepSummary(sampleOverview, results, { mostBytes: 10 })).toBe('');
    expect(all).not.toContain('left out');
  });

  it('keeps its table, its blocks and its folds, whatever the names', () => {
    const shape = (name: string): unknown => {
      const [first, ...others] = sampleResult.summary.systems;
      if (first === undefined) throw new Error('the sample has systems');
      const systems = [{ ...first, name }, ...others];
      const summary = { ...sampleResult.summary, name: `x${name}`, file: `x${name}`, systems };
      const finding = { ...renamed(zombieFinding, 'alice', name), system: name };
      const result = { ...sampleResult, summary, findings: [finding] };
      const lines = renderStepSummary(sampleOverview, [result], whole).split('\n');
      const fences = lines.filter((line) => line.startsWith('```'));
      const cells = lines
        .filter((line) => line.startsWith('| '))
        .map((line) => line.replace(/\\./g, '').split('|').length);
      return { fences, cells, folds: lines.filter((line) => line.startsWith('<')) };
    };
    const expected = shape('alice');
    fc.assert(
      fc.property(anyName, (name) => {
        expect(shape(name)).toEqual(expected);
      }),
      { seed: 1, numRuns: 100, examples: hostileExamples },
    );
  });
});

describe('Markdown', () => {
  it('shows punctuation as it is', () => {
    expect(markdownText(' *a* <b> [c](d) | `e` &lt; \\ # ')).toBe(
      '\\*a\\* \\<b\\> \\[c\\]\\(d\\) \\| \\`e\\` \\&lt; \\\\ \\#',
    );
  });

  it('shows names between backticks as code, and a lone backtick as it is', () => {
    expect(markdownSentence('grant 1 of `d*b`, from `x` on')).toBe('grant 1 of `d*b`, from `x` on');
    expect(markdownSentence('a `b')).toBe('a \\`b');
  });

  it('surrounds code by more backticks than it holds', () => {
    expect(codeSpan('a``b')).toBe('```a``b```');
    expect(codeSpan('`')).toBe('`` ` ``');
    expect(codeBlock('sh', 'a\n````\nb')).toBe('`````sh\na\n````\nb\n`````');
  });
});
