import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../text/visible.ts';
import { githubAnnotations } from './github.ts';
import { anyName, hostileExamples } from './hostile.fixture.ts';
import { sampleResult } from './run-result.fixture.ts';

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
    const [first = ''] = githubAnnotations([sampleResult], here);
    expect(first).toMatch(
      /^::error file=fixtures\/zombie-writer.yaml,line=3,title=zombie-writer%2C unfenced%3A fence/,
    );
    const { message, properties } = parsed(first);
    expect(properties['title']).toBe('zombie-writer, unfenced: fence-monotone holds');
    expect(message.split('\n')).toMatchObject([
      'fence-monotone should hold and broke on 12 of 1,000 seeds, first on 17',
      'Stale write accepted by `unfenced`',
      expect.stringMatching(/^Let A be /),
      expect.stringMatching(/^Then bob/),
      expect.stringMatching(/^However alice/),
      expect.stringMatching(/^A store that/),
      'replay: npx fencepost replay reports/zombie-writer-unfenced-fence-monotone.yaml',
    ]);
  });

  it('has one for each failure and none for what passed or was not judged', () => {
    const titles = githubAnnotations([sampleResult], here).map(
      (line) => parsed(line).properties['title'],
    );
    expect(titles).toEqual([
      'zombie-writer, unfenced: fence-monotone holds',
      'zombie-writer, wanted: grant-order breaks',
      'zombie-writer, failing: runs on every seed',
      'zombie-writer: kept plan b.yaml is reproduced',
      'zombie-writer, failing: gives the same trace twice',
    ]);
  });

  it('has nine at most, and then says how many more there are', () => {
    const lines = githubAnnotations([sampleResult, sampleResult, sampleResult], here);
    expect(lines).toHaveLength(10);
    expect(parsed(lines[9] ?? '').properties).toEqual({ title: '6 more failures' });
    const nine = { ...sampleResult, difference: null };
    expect(githubAnnotations([nine, sampleResult], here)).toHaveLength(9);
  });

  it('names no file that lies outside the repository', () => {
    const [first = ''] = githubAnnotations([sampleResult], { placeOf: () => null });
    expect(Object.keys(parsed(first).properties)).toEqual(['title']);
  });

  it('is one line that GitHub reads back as it was meant, whatever the names', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const summary = { ...sampleResult.summary, name, file: name };
        const difference = { system: name, seed: 1, what: name };
        const lines = githubAnnotations([{ ...sampleResult, summary, difference }], here);
        for (const line of lines) expect(line).not.toMatch(/[\r\n]/);
        const { properties, message } = parsed(lines.at(-1) ?? '');
        const shown = visible(name);
        expect(properties).toEqual({
          file: shown,
          title: `${shown}, ${shown}: gives the same trace twice`,
        });
        const told = name
          .split(/\r\n|\r|\n/)
          .map(visible)
          .join('\n');
        expect(message).toBe(`two runs of seed 1 differ: ${told}`);
      }),
      { seed: 1, numRuns: 200, examples: hostileExamples },
    );
  });
});
