/**
 * Law: one plan has the same story everywhere: in `explainPlan`, `run`, `replay`, `show`, `shrink`,
 * `--json` and the tests of `simTest`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseDocument, YAMLSeq } from 'yaml';
import { Project } from '../src/adapters/vitest/project.fixture.ts';
import type { Explanation } from '../src/check/verdict.ts';
import { root, runHere } from '../src/cli/command-line.fixture.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { storyOf } from '../src/report/failure.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';

const output = mkdtempSync(join(tmpdir(), 'fencepost-story-'));

afterAll(() => rmSync(output, { recursive: true }));

/** Returns a command's output on one line, so that line breaks do not matter. */
async function printed(...args: string[]): Promise<string> {
  const { out, err } = await runHere(args);
  return onOneLine(out + err);
}

/** The path to which a scenario's sweep writes a counterexample. */
function writtenTo([scenario, system, claim]: Case): string {
  return join(output, `${scenario}-${system}-${claim}.yaml`);
}

function sweep([scenario]: Case, ...more: string[]): Promise<string> {
  const listed = ['--output', output, '-v', '--workers', '0'];
  return printed('run', `fixtures/${scenario}.yaml`, '--seeds', '20', ...listed, ...more);
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

async function explanationOf(file: string, claim: string): Promise<Explanation> {
  const read = readPlan({ file, text: readFileSync(file, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const explained = await explainPlan(read.plan, claim);
  if (explained === null) throw new Error(`${file} does not break ${claim}`);
  return explained.explanation;
}

type Case = readonly [scenario: string, system: string, claim: string];

const cases: readonly Case[] = [
  ['zombie-writer', 'unfenced', 'grant-order'],
  ['optimistic', 'unversioned', 'no-lost-update'],
  ['late-reply', 'reply', 'grant-order'],
];

test.each(cases)(
  'all commands explain a counterexample of %s in the same words',
  { timeout: 180_000 },
  async (...one) => {
    const ran = await sweep(one);
    const file = writtenTo(one);
    const explanation = await explanationOf(file, one[2]);
    const story = onOneLine(storyOf(explanation).join(' '));
    expect(explanation.cure).not.toBe('');
    expect(ran).toContain(story);
    expect(await printed('replay', file)).toContain(story);
    expect(await printed('show', file)).toContain(story);
    expect(await printed('shrink', file)).toContain(story);
    expect(await sweep(one, '--json')).toContain(onOneLine(JSON.stringify(explanation)));
  },
);

test('kept plans of a `simTest` are explained in the same words', {
  timeout: 180_000,
}, async () => {
  const project = new Project({});
  project.link('node-sqlite3-wasm'); // for a store of `optimistic`
  for (const one of cases) {
    const [scenario, system] = one;
    if (!existsSync(writtenTo(one))) await sweep(one);
    project.write(`${scenario}.yaml`, promisingIt(one));
    const options = JSON.stringify({ scenario: `./${scenario}.yaml`, system });
    const text = `import { simTest } from 'fencepost/vitest';\nsimTest('${scenario}', ${options});\n`;
    project.write(`${scenario}.test.ts`, text);
    const kept = `__fencepost__/${scenario}.test.ts/kept.yaml`;
    project.write(kept, readFileSync(writtenTo(one), 'utf8'));
  }
  const { tests } = await project.run([]).finally(() => project.remove());
  for (const one of cases) {
    const [scenario, , claim] = one;
    const story = storyOf(await explanationOf(writtenTo(one), claim)).join(' ');
    expect(onOneLine(tests.get(scenario)?.message ?? '')).toContain(onOneLine(story));
  }
});

/** A scenario in which the system promises the claim that it breaks, so that its test fails. */
function promisingIt([scenario, system, claim]: Case): string {
  const file = parseDocument(readFileSync(join(root, `fixtures/${scenario}.yaml`), 'utf8'));
  const expected = ['systems', system, 'expect'];
  const breaks = file.getIn([...expected, 'breaks']);
  if (!(breaks instanceof YAMLSeq)) throw new Error(`${scenario} breaks nothing`);
  const others: readonly unknown[] = breaks.toJSON();
  file.setIn(
    [...expected, 'breaks'],
    others.filter((other) => other !== claim),
  );
  file.setIn([...expected, 'holds'], [claim]);
  return file.toString();
}
