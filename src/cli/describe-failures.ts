/** Turns the failures of a campaign into findings, with the names of their files. */
import { resolve } from 'node:path';
import { describeShrunk, type FindingPlace } from '../report/describe-finding.ts';
import { replayCommand } from '../report/finding.ts';
import { siblingLine } from '../report/sibling-text.ts';
import type { Finding } from '../search/campaign/result.ts';
import type { ShrunkFailure, Subject } from '../search/campaign/setting.ts';
import { runSiblings } from '../search/corpus/replay.ts';
import { shellWords } from '../text/prose.ts';
import { folderToKeepIn } from './corpus-place.ts';
import { pageFileOf, planFileOf } from './output-files.ts';
import { plansFolderOf, scenarioTyped } from './shipped.ts';

export interface FindingFolders {
  /** The folder for plans and pages. */
  readonly output: string;
  /** The folder of kept plans, or null for `plans` beside their scenario. */
  readonly corpus: string | null;
  readonly hasPage: boolean;
}

/** Returns a function that describes a failure whose files go to `folders`. */
export function describeIn(
  folders: FindingFolders,
): (failure: ShrunkFailure) => Promise<Finding | null> {
  return async (failure) => {
    const { subject, claim, seed, original, result } = failure;
    const { scenario, file, catalogue } = subject;
    const finding = await describeShrunk(
      {
        scenario: scenario.name,
        scenarioFile: file,
        seed,
        claim,
        original,
        result,
        catalogue,
        ...(scenario.exhaust === undefined ? {} : { exhaust: scenario.exhaust }),
      },
      placeOf(failure, folders),
    );
    return finding === null ? null : await withSiblings(finding, subject);
  };
}

/** Adds the outcomes of the same plan on the twins where its claim must hold. */
async function withSiblings(finding: Finding, { scenario, catalogue }: Subject): Promise<Finding> {
  const siblings = await runSiblings(scenario, finding, catalogue);
  if (siblings.length === 0) return finding;
  const lines = siblings.map((sibling) => siblingLine(sibling, finding.trace));
  const [cured] = siblings.flatMap(({ system, fate }) => {
    if (fate.kind !== 'ran' || fate.replay.outcome !== 'fixed') return [];
    return [{ system, plan: fate.plan, trace: fate.replay.trace, evidence: [] }];
  });
  return { ...finding, siblings: lines, ...(cured === undefined ? {} : { cured }) };
}

function placeOf(
  { subject, system, claim, number, result: { plan } }: ShrunkFailure,
  { output, corpus, hasPage }: FindingFolders,
): FindingPlace {
  const { scenario, file: scenarioFile } = subject;
  const systems = scenario.systems.map(({ name }) => name);
  const systemPlan = planFileOf({ system, claim }, { scenario: scenario.name, systems, output });
  const planFile = number === 1 ? systemPlan : systemPlan.replace(/\.yaml$/, `-${number}.yaml`);
  const beside = plansFolderOf(scenarioFile);
  const isFound = corpus === null && resolve(folderToKeepIn(scenario.name)) === resolve(beside);
  const breaks = scenario.systems.find(({ name }) => name === system)?.expect.breaks ?? [];
  return {
    planFile,
    pageFile: hasPage ? pageFileOf(output, scenario.name) : '',
    keptIn: isFound ? '' : `${corpus ?? beside}/`,
    command: shellWords(replayCommand({ plan, planFile, scenarioFile })).join(' '),
    scenarioTyped: scenarioTyped(scenarioFile),
    ...(breaks.includes(claim) ? { isExpected: true } : {}),
  };
}
