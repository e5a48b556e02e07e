/**
 * The reports by the names that `--reporter` accepts, each with its destination, in the order of
 * `--help`. `report.ts` contains the renderers; this is a separate file so that help does not load
 * them.
 */
export const REPORTERS = {
  text: 'stdout',
  html: '<scenario>.html',
  junit: 'junit.xml',
  github: 'annotations, $GITHUB_STEP_SUMMARY',
  json: 'report.json',
  mermaid: '<counterexample>.mmd',
} as const;
