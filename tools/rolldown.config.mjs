/**
 * Makes the script that the HTML report carries: the core and the drawing, in one function without
 * a name. What nothing of the page calls, such as the SQL engine, is left out.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  input: at('../src/report/page/boot.ts'),
  platform: 'browser',
  output: { file: at('../dist/report/page/script.js'), format: 'iife', minify: true },
});
