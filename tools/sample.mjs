// Regenerates the sample in reports/sample, and the README's picture and failure: `npm run sample`.
// With a folder as argument it only writes the sample there. The result is the same byte for byte:
// times and folders, which differ between machines, are left out.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';

const cli = resolve('dist/cli.js');

/** Runs the main job in a folder with these arguments; returns its output. */
function print(cwd, ...args) {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout, status } = spawnSync('node', [cli, 'run', ...args], {
    encoding: 'utf8',
    cwd,
    env,
  });
  if (status !== 0) throw new Error(`the run ended with ${status}`);
  return stdout;
}

const [given] = process.argv.slice(2);
const folder = given ?? 'reports/sample';
const SCENARIOS = ['six-steps', 'zombie-writer', 'token-regression'];
const made = mkdtempSync(join(tmpdir(), 'fencepost-made-'));
print(made, ...SCENARIOS, '--reporter', 'html,junit,json', '--seeds', '300', '--output', 'reports');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const file of readdirSync(join(made, 'reports'))) {
  const text = readFileSync(join(made, 'reports', file), 'utf8').replaceAll(resolve('.') + sep, '');
  writeFileSync(join(folder, file), timeless(file, text));
}
rmSync(made, { recursive: true });
if (given !== undefined) process.exit(0);

/** Removes measured times from the text of a sample file. */
function timeless(file, text) {
  if (file.endsWith('.xml')) return text.replace(/ time="[\d.]+"/g, ' time="0"');
  if (file.endsWith('.json'))
    return text.replace(/"(seeds|events)PerSecond": \d+/g, '"$1PerSecond": 0');
  return text.replace(/; [\d,]+ (?:seed|plan)s\/s, [\d,]+ events\/s/g, '');
}

// The README's picture is the first one of the page, standalone.
const [picture] = /<svg [\s\S]*?<\/svg>/.exec(readFileSync(`${folder}/zombie-writer.html`, 'utf8'));
writeFileSync('docs/zombie-writer.svg', `${picture}\n`);

// In another folder, as on a user's machine: longer paths would leave less room.
const elsewhere = mkdtempSync(join(tmpdir(), 'fencepost-sample-'));
const text = print(elsewhere, 'zombie-writer');
rmSync(elsewhere, { recursive: true });
const shown = text.slice(text.indexOf('✗'), text.indexOf('\n\n', text.indexOf('keep:')));
const marks = /(<!-- failure:begin -->\n)[\s\S]*(<!-- failure:end -->)/;
const readme = readFileSync('README.md', 'utf8');
writeFileSync(
  'README.md',
  readme.replace(marks, (_, begin, end) => `${begin}\`\`\`text\n${shown}\n\`\`\`\n${end}`),
);
