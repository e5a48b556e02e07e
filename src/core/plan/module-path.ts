/** Which paths of modules a scenario or a plan may name: only of files below its own folder. */

/** Why `path` names no such file, a clause; null when it does. */
export function whyNoModulePath(path: string): string | null {
  const why = whyElsewhere(path);
  if (why === null) return null;
  return `${JSON.stringify(path)} ${why}; expected a file below this folder, such as ./my-lock.mjs`;
}

function whyElsewhere(path: string): string | null {
  if (/^[\\/]|^[a-z]:/i.test(path)) return 'is an absolute path';
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) return 'is a URL';
  if (path.includes('\\')) return 'has a backslash';
  if (/\p{Cc}/u.test(path)) return 'has a control character';
  if (path.split('/').includes('..')) return 'leads out of the folder';
  if (!path.startsWith('./')) return 'is the name of a package';
  return path === './' || path.endsWith('/') ? 'is a folder' : null;
}
