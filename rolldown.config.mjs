/**
 * Makes the script that the HTML report carries: the core and the drawing, in one function without
 * a name. What nothing of the page calls, such as the SQL engine, is left out.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';

export default defineConfig({
  input: fileURLToPath(new URL('src/page/boot.ts', import.meta.url)),
  platform: 'browser',
  output: { file: 'dist/page/script.js', format: 'iife', minify: true },
});
