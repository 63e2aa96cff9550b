/** Headers of every answer that keep browsers from misusing it. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export const STRICT_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': NOTHING,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Of a page: its own style and script, by their hashes, and questions to the server that it came from. */
export function pagePolicy({ style, script }: { style: string; script: string | null }): string {
  const scripts = script === null ? '' : `; script-src '${script}'; connect-src 'self'`;
  return `${NOTHING}; style-src '${style}'${scripts}`;
}

/** Of the web UI: its own files, and requests to the server that it came from. No inline script or style, nothing from elsewhere. */
export const SITE_POLICY = `${NOTHING}; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'`;

/** Of its scripts: one that runs as a worker obeys the policy that its own file came with. */
export const SCRIPT_POLICY = `${NOTHING}; connect-src 'self'`;
