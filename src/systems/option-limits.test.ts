import { expect, test } from 'vitest';
import { builtIn } from '../catalogue.ts';
import { examineSeed } from '../harness.ts';
import { loadScenario } from '../load.ts';

const wide = [...builtIn.locks].flatMap(([lock, { options, buildAsync }]) =>
  buildAsync !== undefined
    ? []
    : options.flatMap(({ name, values, range }) =>
        values === 'integer' ? [[lock, name, range?.[1] ?? Number.MAX_SAFE_INTEGER] as const] : [],
      ),
);

test.each(wide)(
  'the largest %s of its option %s runs, or is refused at its position',
  (lock, name, most) => {
    const text = `name: wide
systems: { a: { lock: ${lock}, store: unfenced, options: { ${name}: ${most} } } }
`;
    const read = loadScenario(text, 'wide.yaml');
    if (read.kind === 'problems') {
      for (const { path } of read.problems) expect(path).toContain('options');
    } else {
      expect(() => examineSeed(read.scenario, 'a', 0, [])).not.toThrow();
    }
  },
);
