/**
 * The environment of child processes. It contains nothing of the worker's own environment, so never its token or a secret
 * that the task does not name.
 */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ'] as const;
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

export function cleanEnvironment(own: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const clean: Record<string, string> = { PATH: USUAL_PATH };
  for (const name of PASSED_ON) {
    const value = own[name];
    if (value !== undefined) clean[name] = value;
  }
  return clean;
}
