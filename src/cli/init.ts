/**
 * `fencepost init`: writes the files that one begins with into a folder, changes none that exist
 * unless it is told to, and says what to type next.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { shellWords } from '../report/finding.ts';
import { paintFor } from '../text/colour.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { readText, writeText } from './files.ts';
import { type FolderFacts, planBeginning, type Step } from './init/beginning.ts';
import { STARTER_SCENARIOS, type StarterPart } from './init/starter.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface InitOptions {
  readonly ci: 'github' | null;
  readonly hasVitest: boolean;
  readonly isForced: boolean;
  readonly isDryRun: boolean;
}

/** Begins in `folder`, which is made where there is none. */
export function initCommand(folder: string, options: InitOptions): Exit {
  const terminal = openTerminal({ isQuiet: false, isJson: false });
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new UserError([`${folder}:1:1: this is not a folder`]);
  }
  const facts = factsOf(folder);
  const parts = new Set<StarterPart>(['locks']);
  if (options.hasVitest) parts.add('vitest');
  if (options.ci === 'github') parts.add('github');
  const steps = planBeginning(facts, { parts, isForced: options.isForced });
  for (const step of steps) {
    if (step.kind !== 'left' && !options.isDryRun) writeText(join(folder, step.target), step.text);
    printStep(step, options.isDryRun, terminal);
  }
  for (const advice of adviceFor(folder, parts)) terminal.print(`! ${advice}`);
  if (options.isDryRun) return exits.met;
  terminal.print('');
  const enter = resolve(folder) === resolve('.') ? [] : ['cd', folder, '&&'];
  const run = ['npx', 'fencepost', 'run', ...STARTER_SCENARIOS.split(' ')];
  terminal.print(`next: ${shellWords([...enter, ...run]).join(' ')}`);
  return exits.met;
}

function factsOf(folder: string): FolderFacts {
  const manifest = join(folder, 'package.json');
  const read = existsSync(manifest) ? readText(manifest) : null;
  const schema = findAbove(folder, 'node_modules/fencepost/dist/scenario.schema.json');
  return {
    has: (target) => existsSync(join(folder, target)),
    manifest: read === null ? null : read.kind === 'text' ? read.text : '',
    schema: schema === null ? null : pathFrom(resolve(folder, 'locks'), schema),
  };
}

/** `path` in the folder or in the nearest one above that has it; null where none does. */
function findAbove(folder: string, path: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = join(at, path);
    if (existsSync(found)) return found;
    if (dirname(at) === at) return null;
  }
}

function pathFrom(folder: string, file: string): string {
  return relative(folder, file).split(sep).join('/');
}

const PAST: Readonly<Record<Step['kind'], string>> = {
  written: 'wrote',
  overwritten: 'overwrote',
  extended: 'extended',
  left: 'left',
};

const WOULD: Readonly<Record<Step['kind'], string>> = {
  written: 'would write',
  overwritten: 'would overwrite',
  extended: 'would extend',
  left: 'would leave',
};

function printStep(step: Step, isDryRun: boolean, terminal: Terminal): void {
  const paint = paintFor(terminal.colour);
  const verb = (isDryRun ? WOULD : PAST)[step.kind];
  if (step.kind === 'left') terminal.print(`- ${verb} ${step.target}: it ${step.why}`);
  else terminal.print(`✓ ${verb} ${step.target}  ${paint.faint(step.about)}`);
}

const OTHER_LOCK_FILES = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'];

/** What the files need that the folder does not have, a sentence each. */
function adviceFor(folder: string, parts: ReadonlySet<StarterPart>): readonly string[] {
  const missing = [...(parts.has('vitest') ? ['fencepost', 'vitest'] : ['fencepost'])].filter(
    (name) => findAbove(folder, `node_modules/${name}/package.json`) === null,
  );
  const install = `npm install --save-dev ${missing.join(' ')}`;
  const advice = missing.length === 0 ? [] : [`not installed here yet: ${install}`];
  return parts.has('github') ? [...advice, ...workflowAdvice(folder)] : advice;
}

function workflowAdvice(folder: string): readonly string[] {
  const advice: string[] = [];
  const git = findAbove(folder, '.git');
  if (git !== null && dirname(git) !== resolve(folder)) {
    const root = pathFrom(resolve(folder), dirname(git));
    advice.push(`GitHub reads workflows in ${root} only: move it, with a working-directory`);
  }
  const other = OTHER_LOCK_FILES.find((name) => existsSync(join(folder, name)));
  if (other !== undefined) {
    advice.push(`the workflow installs with npm; ${other} wants another install step in it`);
  } else if (!existsSync(join(folder, 'package-lock.json'))) {
    advice.push('the workflow installs with `npm ci`, which wants a package-lock.json in git');
  }
  return advice;
}
