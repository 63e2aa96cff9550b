/** What to do about an error of the bundler. */

export function remedyOf(text: string): string | null {
  const missing = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
  if (missing !== undefined) return remedyForImport(missing);
  if (/No loader is configured for "\.node"/.test(text)) {
    return 'A bundle cannot contain native code. Run the program as a process instead.';
  }
  if (/No loader is configured/.test(text)) return 'Only code, JSON and text (.txt, .sql, .md) can be imported.';
  if (/No matching export/.test(text)) return 'Export it there, or import a name that is exported.';
  return null;
}

function remedyForImport(path: string): string {
  if (/^\.{0,2}\//.test(path)) return 'Check the path; it counts from the file that imports it.';
  if (path.startsWith('@signalbox/')) return 'Dags import @signalbox/sdk and, in their tests, @signalbox/sdk/testing.';
  const name = path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
  return `Install it where the dags are: npm install ${name}`;
}
