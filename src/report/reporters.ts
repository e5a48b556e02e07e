/**
 * The reports by the names that `--reporter` takes, each with where it goes, in the order of
 * `--help`. What makes them is in `report.ts`; it is a file of its own so that help loads none.
 */
export const REPORTERS = {
  text: 'stdout',
  html: '<scenario>.html',
  junit: 'junit.xml',
  github: 'annotations, $GITHUB_STEP_SUMMARY',
  json: 'report.json',
  mermaid: '<counterexample>.mmd',
} as const;
