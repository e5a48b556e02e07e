// Measures whether fencepost's own tests find mistakes: makes one mistake after the other in a copy
// of the project, and runs the tests that must find it: `npm run mutate`. harness-mutants.json
// lists the mistakes.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mutants = JSON.parse(readFileSync('tools/mutate/harness-mutants.json', 'utf8'));
const chosen = mutants.filter(({ name }) =>
  process.argv.slice(2).every((word) => name.includes(word)),
);
const folder = mkdtempSync(join(tmpdir(), 'fencepost-mutate-'));
const survivors = [];
try {
  for (const part of [
    'src',
    'properties',
    'tools',
    'fixtures',
    'docs',
    'reports',
    'README.md',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ]) {
    cpSync(part, join(folder, part), { recursive: true });
  }
  for (const part of ['node_modules', 'dist'])
    symlinkSync(join(process.cwd(), part), join(folder, part));
  const tests = [
    ...new Set(chosen.flatMap((mutant) => mutant.tests.map((one) => JSON.stringify(one)))),
  ];
  for (const test of tests) requireGreen(JSON.parse(test));
  for (const mutant of chosen) {
    for (const test of mutant.tests) judge(mutant, test);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${chosen.length - survivors.length} of ${chosen.length} mistakes found`);
process.exit(survivors.length === 0 ? 0 : 1);

/** Counts the passed and failed tests of a file whose titles begin with `title`. */
function run([file, title]) {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const only = title === '' ? [] : ['--testNamePattern', title];
  const reporter = ['--reporter=json', `--outputFile=${report}`];
  spawnSync('node', [vitest, 'run', file, ...only, ...reporter], { cwd: folder });
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8'));
  return { passed: numPassedTests, failed: numFailedTests };
}

function requireGreen(test) {
  const { passed, failed } = run(test);
  if (passed > 0 && failed === 0) return;
  throw new Error(
    `${test.join(': ')}: ${passed} pass and ${failed} fail before any mistake is made`,
  );
}

function judge({ name, file, text, replacement }, test) {
  const path = join(folder, file);
  const original = readFileSync(path, 'utf8');
  if (original.split(text).length !== 2) throw new Error(`${file} has not exactly one ${text}`);
  writeFileSync(
    path,
    original.replace(text, () => replacement),
  );
  const startedMs = performance.now();
  const { failed } = run(test);
  writeFileSync(path, original);
  const isFound = failed > 0;
  if (!isFound && !survivors.includes(name)) survivors.push(name);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(
    `${isFound ? '✓' : '✗ survives'} ${name}  ${test.join(': ')}  ${failed} failed, ${seconds} s`,
  );
}
