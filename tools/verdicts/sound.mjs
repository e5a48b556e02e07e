// Prints by name how often systems fail that must hold: those of the shipped scenarios and those in
// the user code in this folder; and whether each planted defect is found. Run `npm run sound` after
// a build; part of `npm run nightly`. A system without failures on N seeds fails on fewer than 3/N
// of them, with 95 % confidence (Hanley and Lippman-Hand, If Nothing Goes Wrong, Is Everything All
// Right?, 1983).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const builtInSeeds = Number(process.env.FENCEPOST_BUILT_IN_SEEDS ?? 1_000_000);
const ownSeeds = Number(process.env.FENCEPOST_OWN_SEEDS ?? 20_000);
const folder = mkdtempSync(join(tmpdir(), 'fencepost-sound-'));
const failures = [];

/** Runs a scenario in its folder; returns the exit code and the systems of its summary. */
function run(file, seeds, cwd = import.meta.dirname) {
  const output = join(folder, 'reports');
  const command = [
    join(root, 'dist', 'cli.js'),
    'run',
    file,
    '--seeds',
    String(seeds),
    '--json',
    '--output',
    output,
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const lines = stdout.split('\n').filter((line) => line.startsWith('{"type":"summary"'));
  if (lines.length === 0) throw new Error(`${file}: exit code ${status}\n${stderr}`);
  return { status, systems: JSON.parse(lines.at(-1)).scenarios.flatMap(({ systems }) => systems) };
}

function row(name, { seeds, expect, claims, failed = 0 }) {
  const broken = (expect.holds ?? []).filter((claim) => (claims[claim]?.broken ?? 0) > 0);
  const count = Math.max(failed, ...broken.map((claim) => claims[claim].broken), 0);
  const bound = count === 0 ? `< ${(3 / seeds).toExponential(1)}` : broken.join(', ');
  console.log(`  ${name.padEnd(48)} ${String(count).padStart(4)} of ${seeds}  ${bound}`);
  if (count > 0) failures.push(name);
}

try {
  const scenarios = readdirSync(join(root, 'fixtures'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, scenario: parse(readFileSync(join(root, 'fixtures', name), 'utf8')) }))
    .filter(({ scenario }) => scenario.systems !== undefined && scenario.use === undefined)
    .map(({ name, scenario }) => {
      const systems = Object.entries(scenario.systems).filter(
        ([, { expect }]) => expect?.holds?.length > 0,
      );
      return {
        name,
        scenario: { ...scenario, systems: Object.fromEntries(systems) },
        count: systems.length,
      };
    })
    .filter(({ count }) => count > 0);
  const total = scenarios.reduce((sum, { count }) => sum + count, 0);
  console.log(`${builtInSeeds} seeds of ${total} built-in systems that must hold: failures`);
  for (const { name, scenario } of scenarios) {
    writeFileSync(join(folder, name), stringify(scenario));
    const { systems } = run(name, Math.ceil(builtInSeeds / total), folder);
    for (const system of systems) row(`${scenario.name} ${system.name}`, system);
  }

  console.log(`${ownSeeds} seeds of 8 systems in users' own code: failures`);
  for (const name of ['sound.yaml', 'in-memory.yaml']) {
    const { systems } = run(name, Math.ceil(ownSeeds / 8));
    for (const system of systems) row(system.name, system);
  }

  console.log('planted defects');
  for (const [name, wanted] of [
    ['planted.yaml', 0],
    ['hangs.yaml', 0],
    ['fixed-ttl.yaml', 5],
  ]) {
    const { status } = run(name, 200);
    console.log(`  ${name.padEnd(48)} exit code ${status}, expected ${wanted}`);
    if (status !== wanted) failures.push(name);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (failures.length > 0) {
  console.error(`failed: ${failures.join(', ')}`);
  process.exitCode = 1;
}
