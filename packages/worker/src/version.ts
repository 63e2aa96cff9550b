import { readFileSync } from 'node:fs';

const about = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };

/** The version of this build. */
export const VERSION = about.version;
