import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import type { ReportedScenario } from './cases.ts';
import { renderFailure } from './failure.ts';
import { anyName, hostileNames } from './hostile.fixture.ts';
import { junitSchema } from './junit.fixture.ts';
import { renderJunit } from './junit.ts';
import { sampleScenario } from './run-result.fixture.ts';
import { renamed, zombieFinding } from './sample.fixture.ts';

const options = { version: '1.2.3' };

/** Parses a document. Returns its errors and its canonical form. */
async function read(xml: string): Promise<{ errors: string[]; canonical: string }> {
  const contents = new TextEncoder().encode(xml);
  const { errors, normalized } = await validateXML({
    xml: { fileName: 'junit.xml', contents },
    schema: junitSchema,
    normalization: 'c14n',
  });
  return { errors: errors.map(({ message }) => message), canonical: normalized };
}

/** Returns the texts of the elements with a name. Canonical XML escapes only three characters. */
function textsOf(canonical: string, name: string): string[] {
  const pattern = new RegExp(`<${name}[^>]*>([^<]*)</${name}>`, 'g');
  return [...canonical.matchAll(pattern)].map(([, text = '']) =>
    text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
}

function renamedResult(name: string): ReportedScenario {
  const [first, ...others] = sampleScenario.result.systems;
  if (first === undefined) throw new Error('the sample has systems');
  const finding = { ...renamed(zombieFinding, 'alice', name), system: name };
  return {
    ...sampleScenario,
    result: {
      ...sampleScenario.result,
      name,
      file: name,
      systems: [{ ...first, name }, ...others],
      difference: { system: name, seed: 1, what: name },
    },
    findings: [finding],
  };
}

describe('renderJunit', () => {
  it('fits the schema, with the right counts', async () => {
    const xml = renderJunit({ results: [sampleScenario, sampleScenario], ...options });
    const { errors, canonical } = await read(xml);
    expect(errors).toEqual([]);
    expect(canonical).toContain(
      '<testsuites errors="4" failures="6" name="fencepost" skipped="6" tests="22" time="5.000">',
    );
    expect(canonical).toContain('<property name="seeds" value="0..999"></property>');
    expect(canonical).toContain('<property name="fencepost.version" value="1.2.3"></property>');
    for (const [name, times] of [
      ['failure', 6],
      ['error', 4],
      ['skipped', 6],
      ['testcase', 22],
    ]) {
      expect(canonical.match(new RegExp(`<${name} `, 'g'))).toHaveLength(Number(times));
    }
  });

  it('has the text of the terminal in the body of a failure', async () => {
    const { canonical } = await read(renderJunit({ results: [sampleScenario], ...options }));
    const story = renderFailure(zombieFinding, { colour: false, width: 100 });
    expect(textsOf(canonical, 'failure')[0]).toBe(story);
    const outputs = textsOf(canonical, 'system-out');
    expect(outputs[0]).toBe('exercised on 990');
    expect(outputs[1]).toContain('fence-monotone of wanted');
    expect(textsOf(canonical, 'error')[0]).toContain('seed 3: TypeError: x is not a function');
  });

  it('is well-formed and fits the schema for any names', async () => {
    const document = renderJunit({ results: hostileNames.map(renamedResult), ...options });
    expect((await read(document)).errors).toEqual([]);
    await fc.assert(
      fc.asyncProperty(fc.array(anyName, { minLength: 20, maxLength: 20 }), async (names) => {
        const { errors } = await read(
          renderJunit({ results: names.map(renamedResult), ...options }),
        );
        expect(errors).toEqual([]);
      }),
      { seed: 1, numRuns: 5 },
    );
  });

  it('replaces characters that XML cannot represent', async () => {
    const { canonical } = await read(
      renderJunit({ results: [renamedResult('a\u0000b\ufffec<d>')], ...options }),
    );
    expect(canonical).toContain('name="a‹U+0000›b\ufffdc&lt;d>"');
  });
});
