/** Adds the licenses of bundled packages to the bundle, as they require. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folderOf = (name) => fileURLToPath(new URL(`../node_modules/${name}/`, import.meta.url));

function licenceOf(name) {
  const folder = folderOf(name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = readFileSync(folder + (file ?? 'README.md'), 'utf8');
  // Some READMEs end with the license, under a heading.
  const licence = file === undefined ? text.slice(text.search(/^LICEN[CS]E.*\n---/m)) : text;
  if (licence.length < 200) throw new Error(`${name} has no licence that could be shipped`);
  const { version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  return `# ${name} ${version}\n\n${licence.trim()}\n`;
}

/** Returns a rolldown plugin that writes them into one file. */
export function licences(names) {
  return {
    name: 'licences',
    generateBundle() {
      const source = names.map(licenceOf).join('\n');
      this.emitFile({ type: 'asset', fileName: 'LICENCES.md', source });
    },
  };
}
