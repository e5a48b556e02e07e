import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeBlock, codeSpan, markdownSentence, markdownText } from '../text/markup.ts';
import { visible } from '../text/visible.ts';
import { githubAnnotations, MOST_STEP_BYTES, renderStepSummary } from './github.ts';
import { anyName, hostileExamples } from './hostile.fixture.ts';
import { findingDiagram } from './mermaid.ts';
import { sampleResult, sampleScenario } from './run-result.fixture.ts';
import { renamed, zombieFinding } from './sample.fixture.ts';

const here = { placeOf: (file: string): string => file };

interface Command {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/** Reads a workflow command as the runner of GitHub Actions does. */
function parsed(line: string): Command {
  const end = line.indexOf('::', 2);
  const head = line.slice(2, end);
  const space = head.indexOf(' ');
  const properties = head
    .slice(space + 1)
    .split(',')
    .map((property) => {
      const [name = '', ...value] = property.split('=');
      return [name, unescaped(value.join('='))] as const;
    });
  return {
    name: head.slice(0, space),
    properties: Object.fromEntries(properties),
    message: unescaped(line.slice(end + 2)),
  };
}

function unescaped(text: string): string {
  return text
    .replaceAll('%0D', '\r')
    .replaceAll('%0A', '\n')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%25', '%');
}

describe('githubAnnotations', () => {
  it('points at the line of the system in the file of the scenario', () => {
    const [first = ''] = githubAnnotations([sampleScenario], here);
    expect(first).toMatch(
      /^::error file=fixtures\/zombie-writer.yaml,line=3,title=zombie-writer%2C unfenced%3A fence/,
    );
    const { message, properties } = parsed(first);
    expect(properties['title']).toBe('zombie-writer, unfenced: fence-monotone holds');
    expect(message.split('\n')).toMatchObject([
      'fence-monotone should hold but broke on 12 of 1,000 seeds, first on 17',
      'Stale write accepted by `unfenced`',
      expect.stringMatching(/^Let A be /),
      expect.stringMatching(/^Then bob/),
      expect.stringMatching(/^However, alice/),
      expect.stringMatching(/^A store that/),
      'again: npx --no-install fencepost run fixtures/zombie-writer.yaml --seed 17',
      'replay: npx --no-install fencepost replay reports/zombie-writer-unfenced-fence-monotone.yaml',
    ]);
  });

  it('returns one per failure, and none for passed or unjudged cases', () => {
    const titles = githubAnnotations([sampleScenario], here).map(
      (line) => parsed(line).properties['title'],
    );
    expect(titles).toEqual([
      'zombie-writer, unfenced: fence-monotone holds',
      'zombie-writer, wanted: grant-order breaks',
      'zombie-writer, failing: runs on every seed',
      'zombie-writer: kept plan b.yaml is reproduced',
      'zombie-writer, failing: is deterministic',
    ]);
  });

  it('returns at most nine, then the number of further failures', () => {
    const lines = githubAnnotations([sampleScenario, sampleScenario, sampleScenario], here);
    expect(lines).toHaveLength(10);
    expect(parsed(lines[9] ?? '').properties).toEqual({ title: '6 more failures' });
    const result = { ...sampleScenario.result, difference: null };
    const nine = { ...sampleScenario, result };
    expect(githubAnnotations([nine, sampleScenario], here)).toHaveLength(9);
  });

  it('names no file outside the repository', () => {
    const [first = ''] = githubAnnotations([sampleScenario], { placeOf: () => null });
    expect(Object.keys(parsed(first).properties)).toEqual(['title']);
  });

  it('returns single lines that GitHub decodes as intended, for any names', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const difference = { system: name, seed: 1, what: name };
        const result = { ...sampleScenario.result, name, file: name, difference };
        const lines = githubAnnotations([{ ...sampleScenario, result }], here);
        for (const line of lines) expect(line).not.toMatch(/[\r\n]/);
        const { properties, message } = parsed(lines.at(-1) ?? '');
        const shown = visible(name);
        expect(properties).toEqual({
          file: shown,
          title: `${shown}, ${shown}: is deterministic`,
        });
        const titleLines = name
          .split(/\r\n|\r|\n/)
          .map(visible)
          .join('\n');
        expect(message).toBe(`two runs of seed 1 differ: ${titleLines}`);
      }),
      { seed: 1, numRuns: 200, examples: hostileExamples },
    );
  });
});

const overview = sampleResult.summary;
const limit = { mostBytes: MOST_STEP_BYTES };

describe('renderStepSummary', () => {
  it('has a table of systems and claims', () => {
    const lines = renderStepSummary(overview, [sampleScenario], limit).split('\n');
    expect(lines[0]).toBe('## fencepost: 0 of 3 expectations met, 2 not met, 1 not judged');
    expect(lines[2]).toBe('### zombie\\-writer `fixtures/zombie-writer.yaml`');
    const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
    expect(rows.slice(0, 2)).toEqual([
      '| ✗ | unfenced | fence\\-monotone | holds | 12 of 1,000 | 17 | exercised on 900 |',
      '| ✗ | unfenced | grant\\-order | holds | 0 of 1,000 | – | exercised on 990 |',
    ]);
    expect(rows).toHaveLength(7);
  });

  it('reports each failure in words, as a diagram and with its commands', () => {
    const text = renderStepSummary(overview, [sampleScenario], limit);
    expect(text).toContain('#### ✗ Stale write accepted by `unfenced`\n');
    expect(text).toContain("Let A be alice's grant 1 of `db` \\(from 1 ms");
    expect(text).toContain(`\`\`\`mermaid\n${findingDiagram(zombieFinding)}\n\`\`\``);
    expect(text).toContain(
      '```sh\nnpx --no-install fencepost run fixtures/zombie-writer.yaml --seed 17\nnpx --no-install fencepost replay reports/zombie-writer-unfenced-fence-monotone.yaml\n```',
    );
    expect(text).toContain('✗ **wanted\\: grant\\-order breaks**: ');
    expect(text).toContain('? **unfenced\\: linearizable holds**');
    expect(text).toContain('```text\nseed 3: TypeError: x is not a function\nand 10 more\n```');
  });

  it('folds an expected counterexample', () => {
    const text = renderStepSummary(overview, [sampleScenario], limit);
    const at = text.indexOf('<details>');
    expect(text.slice(at)).toMatch(
      /^<details><summary>as expected: fence-monotone of wanted breaks<\/summary>\n\nStale write/,
    );
    expect(text.slice(at).match(/```mermaid/g)).toHaveLength(1);
    expect(text.slice(0, at).match(/```mermaid/g)).toHaveLength(1);
  });

  it('stays below its limit in bytes, and reports what it omitted', () => {
    const findings = Array.from({ length: 40 }, (_, at) => ({
      ...renamed(zombieFinding, 'alice', `ä${at}`),
    }));
    const results = findings.map((finding) => ({ ...sampleScenario, findings: [finding] }));
    const all = renderStepSummary(overview, results, limit);
    for (const mostBytes of [400, 5000, 50_000]) {
      const text = renderStepSummary(overview, results, { mostBytes });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostBytes);
      expect(text).toMatch(/\n[\d,]+ sections omitted: GitHub limits the size per step\. .*\n$/);
      expect(all.startsWith(text.slice(0, text.lastIndexOf('\n\n')))).toBe(true);
    }
    expect(renderStepSummary(overview, results, { mostBytes: 10 })).toBe('');
    expect(all).not.toContain('omitted');
  });

  it('keeps its table, blocks and folds for any names', () => {
    const shape = (name: string): unknown => {
      const [first, ...others] = sampleScenario.result.systems;
      if (first === undefined) throw new Error('the sample has systems');
      const systems = [{ ...first, name }, ...others];
      const changed = { name: `x${name}`, file: `x${name}`, systems };
      const finding = { ...renamed(zombieFinding, 'alice', name), system: name };
      const result = { ...sampleScenario.result, ...changed };
      const one = { ...sampleScenario, result, findings: [finding] };
      const lines = renderStepSummary(overview, [one], limit).split('\n');
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
  it('shows punctuation literally', () => {
    expect(markdownText(' *a* <b> [c](d) | `e` &lt; \\ # ')).toBe(
      '\\*a\\* \\<b\\> \\[c\\]\\(d\\) \\| \\`e\\` \\&lt; \\\\ \\#',
    );
  });

  it('shows names between backticks as code, and a lone backtick literally', () => {
    expect(markdownSentence('grant 1 of `d*b`, from `x` on')).toBe('grant 1 of `d*b`, from `x` on');
    expect(markdownSentence('a `b')).toBe('a \\`b');
  });

  it('encloses code in more backticks than it contains', () => {
    expect(codeSpan('a``b')).toBe('```a``b```');
    expect(codeSpan('`')).toBe('`` ` ``');
    expect(codeBlock('sh', 'a\n````\nb')).toBe('`````sh\na\n````\nb\n`````');
  });
});
