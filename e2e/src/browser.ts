/** A real Chromium, as a person has it, and pages of other origins for it to open. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';

const KNOWN = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Null when there is none; in CI that is a failure, not a reason to skip. */
export function findChromium(): string | null {
  const found = process.env.SIGNALBOX_CHROMIUM ?? KNOWN.find((path) => existsSync(path)) ?? null;
  if (found === null && process.env.CI) throw new Error('Chromium is missing: scripts/test-tools.mjs installs it.');
  return found;
}

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** `evil.example` resolves to this machine, as in a rebinding attack. */
const REBOUND = '--host-resolver-rules=MAP evil.example 127.0.0.1';

export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: [...QUIET, REBOUND] });
}

export interface Page {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves one page from an origin that is not the server's. */
export async function serveForeignPage(html: string): Promise<Page> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
