/**
 * Writes the schemas of the built modules into the package, on one line each, and lets the bundle
 * read these files (`src/cli/schemas.ts`). The code that generates them would add 20 kB to the
 * tarball: the half of zod for JSON Schema, and the shapes of all lines of `--json`.
 */
import { schemaDigests, schemas } from './built/modules/cli/schemas.js';

const READING = `import { readFileSync } from 'node:fs';
const read = (file) => JSON.parse(readFileSync(new URL('../' + file, import.meta.url), 'utf8'));
const files = ${JSON.stringify(Object.keys(schemas))};
export const schemas = Object.fromEntries(files.map((file) => [file, () => read(file)]));
export const schemaDigests = () => (${JSON.stringify(schemaDigests())});
`;

export const schemasAsFiles = {
  name: 'schemas-as-files',
  load: (id) => (/[\\/]src[\\/]cli[\\/]schemas\.ts$/.test(id) ? READING : null),
  generateBundle() {
    for (const [fileName, make] of Object.entries(schemas)) {
      this.emitFile({ type: 'asset', fileName, source: `${JSON.stringify(make())}\n` });
    }
  },
};
