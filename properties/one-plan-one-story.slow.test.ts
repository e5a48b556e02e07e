/**
 * One plan is told in the same words by all that tell it: `explainPlan`, `run`, `replay`, `show`,
 * `shrink` and `--json`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { Explanation } from '../src/check/verdict.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { storyOf } from '../src/report/failure.ts';
import { explainPlan } from '../src/search/evidence/explain-plan.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const output = mkdtempSync(join(tmpdir(), 'fencepost-story-'));

afterAll(() => rmSync(output, { recursive: true }));

/** What a command prints, on one line, so that it does not matter where lines are broken. */
function printed(...args: string[]): string {
  const env = { ...process.env, NO_COLOR: '1' };
  const cli = join(root, 'dist/cli.js');
  const { stdout, stderr } = spawnSync('node', [cli, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  return onOneLine(stdout + stderr);
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

async function toldBy(file: string, claim: string): Promise<Explanation> {
  const read = readPlan({ file, text: readFileSync(file, 'utf8') });
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const told = await explainPlan(read.plan, claim);
  if (told === null) throw new Error(`${file} does not break ${claim}`);
  return told.explanation;
}

const cases = [
  ['zombie-writer', 'unfenced', 'grant-order'],
  ['optimistic', 'unversioned', 'no-lost-update'],
  ['late-reply', 'reply', 'grant-order'],
] as const;

test.each(cases)(
  'a counterexample of %s, by all that tell it',
  { timeout: 180_000 },
  async (...given) => {
    const [scenario, system, claim] = given;
    const run = ['run', `fixtures/${scenario}.yaml`, '--seeds', '20', '--output', output];
    const listed = ['-v', '--workers', '0'];
    const ran = printed(...run, ...listed);
    const file = join(output, `${scenario}-${system}-${claim}.yaml`);
    const explanation = await toldBy(file, claim);
    const story = onOneLine(storyOf(explanation).join(' '));
    expect(explanation.cure).not.toBe('');
    expect(ran).toContain(story);
    expect(printed('replay', file)).toContain(story);
    expect(printed('show', file)).toContain(story);
    expect(printed('shrink', file)).toContain(story);
    const inJson = onOneLine(JSON.stringify(explanation));
    expect(printed(...run, ...listed, '--json')).toContain(inJson);
  },
);
